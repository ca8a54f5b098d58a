package learn

import (
	"math"
	"slices"
	"time"
)

var tableP = []float64{.01, .05, .10, .20, .30, .40, .50, .60, .70, .80, .90, .95, .99, .999}

// tableOf is the quantile table of a sample.
func tableOf(x []float64) Table {
	t := Table{N: len(x)}
	if len(x) == 0 {
		return t
	}
	slices.Sort(x)
	var sum float64
	for _, v := range x {
		sum += v
	}
	t.Mean = sum / float64(len(x))
	for _, p := range tableP {
		t.P = append(t.P, p)
		t.X = append(t.X, quantile(x, p))
	}
	return t
}

// quantile interpolates in a sorted sample.
func quantile(x []float64, p float64) float64 {
	at := p * float64(len(x)-1)
	i := int(at)
	if i+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[i] + (at-float64(i))*(x[i+1]-x[i])
}

// lognormalOf fits the median and the spread of the logarithm by quantiles, which the few
// users who went away for an hour do not move.
func lognormalOf(x []float64) (median, sigma float64) {
	if len(x) < 20 {
		return 0, 0
	}
	slices.Sort(x)
	median = quantile(x, 0.5)
	return median, (math.Log(quantile(x, 0.8413)) - math.Log(quantile(x, 0.1587))) / 2
}

// gapCV is the coefficient of variation of the gaps between sorted instants, as the median
// over stretches of 200 gaps, so that the time of day does not count as burstiness.
func gapCV(at []time.Time) float64 {
	const stretch = 200
	var cvs []float64
	for i := 0; i+1 < len(at); i += stretch {
		end := min(i+stretch, len(at)-1)
		if n := end - i; n >= stretch || i == 0 {
			var sum, sq float64
			for k := i; k < end; k++ {
				sum += at[k+1].Sub(at[k]).Seconds()
			}
			mean := sum / float64(n)
			for k := i; k < end; k++ {
				d := at[k+1].Sub(at[k]).Seconds() - mean
				sq += d * d
			}
			if mean > 0 {
				cvs = append(cvs, math.Sqrt(sq/float64(n))/mean)
			}
		}
	}
	if len(cvs) == 0 {
		return 0
	}
	slices.Sort(cvs)
	return quantile(cvs, 0.5)
}

// spearman is the correlation of ranks; 0 for fewer than three pairs.
func spearman(x, y []float64) float64 {
	if len(x) < 3 {
		return 0
	}
	a, b := ranks(x), ranks(y)
	mean := float64(len(x)+1) / 2
	var sxy, sxx, syy float64
	for i := range a {
		sxy += (a[i] - mean) * (b[i] - mean)
		sxx += (a[i] - mean) * (a[i] - mean)
		syy += (b[i] - mean) * (b[i] - mean)
	}
	if sxx == 0 || syy == 0 {
		return 0
	}
	return sxy / math.Sqrt(sxx*syy)
}

// ranks are the ranks of a sample, ties sharing the mean of theirs.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case x[i] < x[j]:
			return -1
		case x[i] > x[j]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}
