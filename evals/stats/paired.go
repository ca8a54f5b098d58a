package stats

import "math"

// Pairs counts the outcomes of items that were answered by both a baseline and a
// candidate. Only the discordant ones carry information about a difference.
type Pairs struct {
	N    int `json:"n"`    // pairs with a score on both sides
	Loss int `json:"loss"` // right at the baseline, wrong at the candidate
	Win  int `json:"win"`  // wrong at the baseline, right at the candidate
}

// Drop is the baseline's accuracy minus the candidate's; 0 without pairs.
func (p Pairs) Drop() float64 {
	if p.N == 0 {
		return 0
	}
	return float64(p.Loss-p.Win) / float64(p.N)
}

// McNemar returns the exact one-sided p-value of a drop: the chance of at least Loss
// losses among the discordant pairs when losses and wins are equally likely,
//
//	P[Bin(Loss+Win, 1/2) ≥ Loss]
//
// and the two-sided one. Without discordant pairs both are 1.
func (p Pairs) McNemar() (drop, twoSided float64) {
	n := p.Loss + p.Win
	if n == 0 {
		return 1, 1
	}
	drop = upperTail(n, p.Loss)
	twoSided = min(1, 2*min(drop, upperTail(n, p.Win)))
	return drop, twoSided
}

// upperTail is P[Bin(n, 1/2) ≥ k].
func upperTail(n, k int) float64 {
	sum := 0.0
	for i := k; i <= n; i++ {
		sum += math.Exp(logChoose(n, i) - float64(n)*math.Ln2)
	}
	return min(1, sum)
}

// logChoose is ln C(n, k).
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Tango returns Tango's score interval for the drop of paired proportions at the normal
// quantile z. It holds its level for few pairs and for no discordant ones, where the
// textbook interval collapses. Without pairs it is [-1, 1]. Source: T. Tango, Statistics
// in Medicine 17 (1998).
func (p Pairs) Tango(z float64) Interval {
	if p.N == 0 {
		return Interval{-1, 1}
	}
	// The statistic falls from +∞ to −∞ as the assumed drop rises.
	low := bisect(-1, 1, func(d float64) bool { return p.score(d) > z })
	high := bisect(-1, 1, func(d float64) bool { return p.score(d) > -z })
	return Interval{low, high}
}

// score is Tango's statistic for an assumed drop d: the observed excess of losses over
// its expectation, in standard errors under the most likely model with that drop.
func (p Pairs) score(d float64) float64 {
	n, b, c := float64(p.N), float64(p.Loss), float64(p.Win)
	A := 2 * n
	B := -b - c + (2*n-b+c)*d
	C := -c * d * (1 - d)
	q := (math.Sqrt(max(0, B*B-4*A*C)) - B) / (2 * A)
	variance := n * (2*q + d*(1-d))
	excess := b - c - n*d
	if excess == 0 {
		return 0
	}
	if variance <= 0 {
		return math.Copysign(math.Inf(1), excess)
	}
	return excess / math.Sqrt(variance)
}

// bisect returns the point of [low, high] where above turns from true to false.
func bisect(low, high float64, above func(float64) bool) float64 {
	for range 60 {
		mid := (low + high) / 2
		if above(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// Newcombe returns the hybrid score interval for the drop between two independent
// proportions, k1 of n1 at the baseline and k2 of n2 at the candidate. Use it only where
// the items differ; pairing needs far fewer. Source: R. G. Newcombe, Statistics in
// Medicine 17 (1998), method 10.
func Newcombe(k1, n1, k2, n2 int, z float64) Interval {
	if n1 < 1 || n2 < 1 {
		return Interval{-1, 1}
	}
	p1, p2 := float64(k1)/float64(n1), float64(k2)/float64(n2)
	w1, w2 := Wilson(k1, n1, z), Wilson(k2, n2, z)
	d := p1 - p2
	return Interval{
		d - math.Hypot(p1-w1.Low, w2.High-p2),
		d + math.Hypot(w1.High-p1, p2-w2.Low),
	}
}
