package integrity

import (
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/stats"
)

// lchoose is ln of n over k.
func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// binomialAtMost is P(X ≤ k) for X ~ Bin(n, p), 0 < p < 1.
func binomialAtMost(k, n int, p float64) float64 {
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += math.Exp(lchoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return math.Min(sum, 1)
}

// fisherMore is the one-sided p of Fisher's exact test that the second sample has no higher
// share than the first: k1 of n1 against k2 of n2.
func fisherMore(k1, n1, k2, n2 int) float64 {
	k, n := k1+k2, n1+n2
	sum := 0.0
	for x := max(k2, k-n1); x <= min(k, n2); x++ {
		sum += math.Exp(lchoose(n2, x) + lchoose(n1, k-x) - lchoose(n, k))
	}
	return math.Min(sum, 1)
}

// signTest is the one-sided p that up or more of up+down fair coins fall that way.
func signTest(up, down int) float64 {
	return binomialAtMost(down, up+down, 0.5)
}

// rankSum is the exact one-sided p of the Mann-Whitney test that a is no lower than b.
// Ties count against it. Its cost is |a|·|b|·(|a|+|b|).
func rankSum(a, b []float64) float64 {
	u := 0 // pairs in which a is not lower
	for _, x := range a {
		for _, y := range b {
			if x >= y {
				u++
			}
		}
	}
	// ways[i][j][v] of arranging i of a and j of b with v such pairs, two rows of i at a time.
	m, n := len(a), len(b)
	prev := make([][]float64, n+1)
	for j := range prev {
		prev[j] = []float64{1}
	}
	for i := 1; i <= m; i++ {
		cur := make([][]float64, n+1)
		cur[0] = []float64{1}
		for j := 1; j <= n; j++ {
			w := make([]float64, i*j+1)
			for v, x := range prev[j] { // the largest is of a: it beats all j
				w[v+j] += x
			}
			for v, x := range cur[j-1] { // the largest is of b
				w[v] += x
			}
			cur[j] = w
		}
		prev = cur
	}
	sum, all := 0.0, 0.0
	for v, x := range prev[n] {
		all += x
		if v <= u {
			sum += x
		}
	}
	return sum / all
}

func middle(v []float64) float64 { return stats.Quantile(stats.Sorted(slices.Clone(v)), 0.5) }
