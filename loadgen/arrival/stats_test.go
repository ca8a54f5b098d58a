package arrival_test

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// gaps returns the seconds between arrivals, the first counted from zero.
func gaps(times []time.Duration) []float64 {
	out := make([]float64, len(times))
	var prev time.Duration
	for i, at := range times {
		out[i] = (at - prev).Seconds()
		prev = at
	}
	return out
}

// variation returns the coefficient of variation.
func variation(x []float64) float64 { return stat.StdDev(x, nil) / stat.Mean(x, nil) }

// correlation returns Pearson's coefficient.
func correlation(x, y []float64) float64 { return stat.Correlation(x, y, nil) }

// dispersion returns the variance of the counts per window over their mean: 1 for a
// Poisson process, 0 for a clock.
func dispersion(times []time.Duration, window time.Duration) float64 {
	counts := make([]float64, int(times[len(times)-1]/window))
	for _, at := range times {
		if i := int(at / window); i < len(counts) {
			counts[i]++
		}
	}
	return stat.Variance(counts, nil) / stat.Mean(counts, nil)
}

// ksExponential returns the Kolmogorov-Smirnov distance from the exponential distribution.
func ksExponential(x []float64, mean float64) float64 {
	return ks(x, func(v float64) float64 { return 1 - math.Exp(-v/mean) })
}

// ks returns the largest distance between the empirical distribution of x and cdf.
func ks(x []float64, cdf func(float64) float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d
}
