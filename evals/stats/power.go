package stats

import (
	"fmt"
	"math"
)

// One-sided 5 % and power 80 %, the figures that all plans here use.
const (
	zAlpha = 1.6448536269514722
	zBeta  = 0.8416212335729143
)

// PairedItems is how many paired items see a drop with a one-sided exact test at 5 % and
// a power of 80 %. churn is the share of items that go from wrong to right by chance
// alone, as an A/A run measures it; base accuracy does not enter:
//
//	n = (z_α·√ψ + z_β·√(ψ−δ²))² / δ²,  ψ = δ + 2·churn
func PairedItems(churn, drop float64) int {
	psi := drop + 2*churn
	root := zAlpha*math.Sqrt(psi) + zBeta*math.Sqrt(max(0, psi-drop*drop))
	return int(math.Ceil(root * root / (drop * drop)))
}

// Detectable is the smallest drop that n paired items show with a power of 80 %.
func Detectable(churn float64, n int) float64 {
	if n < 1 {
		return 1
	}
	return bisect(1e-4, 1, func(d float64) bool { return PairedItems(churn, d) > n })
}

// NonInferiorityItems is how many items show, with a power of 80 %, that a candidate
// without any drop is not worse by the margin:
//
//	n = (z_α+z_β)²·2·churn / M²
//
// It is optimistic below about 50 items.
func NonInferiorityItems(churn, margin float64) int {
	z := zAlpha + zBeta
	return int(math.Ceil(z * z * 2 * churn / (margin * margin)))
}

// PowerStatement says before a run what its items can and cannot show.
func PowerStatement(churn float64, n int) string {
	return fmt.Sprintf("with %d items a drop under %.1f points cannot be seen (churn %.1f %%, one-sided 5 %%, power 80 %%)", n, 100*Detectable(churn, n), 100*churn)
}

// DefaultChurn is what plans assume before an A/A run has measured the churn.
const DefaultChurn = 0.02

// AA is what running the same server twice tells.
type AA struct {
	Pairs Pairs
	// Churn is the share of wins (and, without a difference, of losses), and Interval its
	// 95 % Wilson interval.
	Churn    float64
	Interval Interval
	// Ok is false when the two runs differ more than chance allows: then the set-up is at
	// fault, and no comparison made with it counts.
	Ok bool
}

// Calibrate reads the churn from an A/A run.
func Calibrate(p Pairs) AA {
	a := AA{Pairs: p}
	discordant := p.Loss + p.Win
	if p.N > 0 {
		a.Churn = float64(discordant) / 2 / float64(p.N)
	}
	both := Wilson(discordant, p.N, Z95)
	a.Interval = Interval{both.Low / 2, both.High / 2}
	swapped := Pairs{N: p.N, Loss: p.Win, Win: p.Loss}
	a.Ok = MeanValue(p.AlarmValue(), swapped.AlarmValue()) < Threshold
	return a
}

// PassAtK is the unbiased estimate of the chance that at least one of k samples is right
// when c of n are: 1 − C(n−c, k)/C(n, k). It needs 1 ≤ k ≤ n and 0 ≤ c ≤ n; anything else
// gives NaN. Source: Chen et al., arXiv 2107.03374.
func PassAtK(n, c, k int) float64 {
	if k < 1 || k > n || c < 0 || c > n {
		return math.NaN()
	}
	if n-c < k {
		return 1
	}
	miss := 1.0
	for i := n - c + 1; i <= n; i++ {
		miss *= 1 - float64(k)/float64(i)
	}
	return 1 - miss
}

// Byar returns Byar's 95 % interval for a rate of d events in t units of exposure. With
// no exposure it is [0, +Inf].
func Byar(d int, t float64) Interval {
	if t <= 0 {
		return Interval{0, math.Inf(1)}
	}
	at := func(n, sign float64) float64 {
		x := 1 - 1/(9*n) + sign*Z95/(3*math.Sqrt(n))
		return n * x * x * x / t
	}
	i := Interval{High: at(float64(d+1), 1)}
	if d > 0 {
		i.Low = max(0, at(float64(d), -1))
	}
	return i
}
