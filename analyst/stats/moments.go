package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Mean returns the arithmetic mean of xs, or 0 for none.
func Mean(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	// The running mean keeps large sums from losing digits.
	m := 0.0
	for i, x := range xs {
		m += (x - m) / float64(i+1)
	}
	return m
}

// Std returns the sample standard deviation of xs (n − 1); ok is false below two values.
func Std(xs []float64) (sd float64, ok bool) {
	if len(xs) < 2 {
		return 0, false
	}
	m, s := 0.0, 0.0
	for i, x := range xs {
		d := x - m
		m += d / float64(i+1)
		s += d * (x - m)
	}
	return math.Sqrt(s / float64(len(xs)-1)), true
}

// MeanInterval returns the Student-t interval of the mean at the given level for nEff
// effectively independent observations. ok is false below two of them.
func MeanInterval(xs []float64, level, nEff float64) (low, high float64, ok bool) {
	sd, ok := Std(xs)
	if !ok || nEff < 2 {
		return 0, 0, false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nEff - 1}.Quantile(1 - (1-level)/2)
	h := t * sd / math.Sqrt(nEff)
	m := Mean(xs)
	return m - h, m + h, true
}

// Autocorrelation returns the lag-one autocorrelation of xs in the order given; 0 when
// it is undefined.
func Autocorrelation(xs []float64) float64 {
	if len(xs) < 3 {
		return 0
	}
	m := Mean(xs)
	var num, den float64
	for i, x := range xs {
		den += (x - m) * (x - m)
		if i > 0 {
			num += (x - m) * (xs[i-1] - m)
		}
	}
	if den == 0 {
		return 0
	}
	return num / den
}

// EffectiveSize returns n(1−ρ)/(1+ρ), the number of independent observations that n
// observations with lag-one autocorrelation ρ are worth. Negative ρ counts as none.
func EffectiveSize(n int, rho float64) float64 {
	if rho <= 0 {
		return float64(n)
	}
	if rho > 0.999 {
		rho = 0.999
	}
	return math.Max(1, float64(n)*(1-rho)/(1+rho))
}

// Wilson returns the Wilson score interval of a proportion of k successes in n trials.
// ok is false when n is 0.
func Wilson(k, n int, level float64) (low, high float64, ok bool) {
	if n <= 0 {
		return 0, 0, false
	}
	z := distuv.UnitNormal.Quantile(1 - (1-level)/2)
	p, nn := float64(k)/float64(n), float64(n)
	den := 1 + z*z/nn
	mid := (p + z*z/(2*nn)) / den
	h := z / den * math.Sqrt(p*(1-p)/nn+z*z/(4*nn*nn))
	return math.Max(0, mid-h), math.Min(1, mid+h), true
}
