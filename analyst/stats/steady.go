package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// MSER5 returns how many of the first values of a series to leave out as warm-up: the
// truncation of batch means of five that minimises Σ(Yᵢ − Ȳ_d)²/(m − d)² over the first
// half. ok is false when the series is too short (20 values) or the minimum lies at the
// end of the first half: then it has not settled.
func MSER5(series []float64) (drop int, ok bool) {
	const batch = 5
	m := len(series) / batch
	if m < 4 {
		return 0, false
	}
	means := make([]float64, m)
	for i := range means {
		means[i] = Mean(series[i*batch : (i+1)*batch])
	}
	best, at := math.Inf(1), 0
	for d := 0; d <= m/2; d++ {
		rest := means[d:]
		mean, ss := Mean(rest), 0.0
		for _, y := range rest {
			ss += (y - mean) * (y - mean)
		}
		if v := ss / float64(len(rest)*len(rest)); v < best-1e-15 {
			best, at = v, d
		}
	}
	return at * batch, at < m/2
}

// TheilSen returns the median slope over all pairs of points, and by the Mann-Kendall
// test the one-sided probability of so strong a rise without a trend. Long series are
// thinned evenly to 600 points. ok is false below 8 points.
func TheilSen(xs, ys []float64) (slope, pRise float64, ok bool) {
	const most = 600
	n := len(xs)
	if n > most {
		tx, ty := make([]float64, 0, most), make([]float64, 0, most)
		for i := range most {
			j := i * n / most
			tx, ty = append(tx, xs[j]), append(ty, ys[j])
		}
		xs, ys, n = tx, ty, most
	}
	if n < 8 {
		return 0, 1, false
	}
	slopes := make([]float64, 0, n*(n-1)/2)
	s := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			if d := xs[j] - xs[i]; d != 0 {
				slopes = append(slopes, (ys[j]-ys[i])/d)
			}
			switch {
			case ys[j] > ys[i]:
				s++
			case ys[j] < ys[i]:
				s--
			}
		}
	}
	if len(slopes) == 0 {
		return 0, 1, false
	}
	slices.Sort(slopes)
	v := float64(n*(n-1)*(2*n+5)) / 18
	z := 0.0
	switch {
	case s > 0:
		z = float64(s-1) / math.Sqrt(v)
	case s < 0:
		z = float64(s+1) / math.Sqrt(v)
	}
	return Quantile(slopes, 0.5), 1 - distuv.UnitNormal.CDF(z), true
}

// ChangePoints returns where the mean of a series changes, by the PELT method with
// squared error, a penalty of 3·σ̂²·(1+ρ)/(1−ρ)·ln n for each change and a least segment
// length. σ̂ comes from the differences of neighbours, and ρ from their dependence, so
// that slow noise is not taken for a change. An index is the first of its new segment.
func ChangePoints(series []float64, least int) []int {
	n := len(series)
	if least < 2 || n < 2*least {
		return nil
	}
	diffs := make([]float64, n-1)
	for i := range diffs {
		diffs[i] = math.Abs(series[i+1] - series[i])
	}
	slices.Sort(diffs)
	sigma := Quantile(diffs, 0.5) / 0.9539 // median |N(0, 2σ²)| = 0.9539·σ
	if sigma == 0 {
		sigma = Mean(diffs)
	}
	if sigma == 0 {
		return nil
	}
	residual := make([]float64, 0, n)
	for i := 0; i < n; i += least {
		part := series[i:min(n, i+least)]
		m := Mean(part)
		for _, x := range part {
			residual = append(residual, x-m)
		}
	}
	rho := math.Min(0.9, math.Max(0, Autocorrelation(residual)))
	penalty := 3 * sigma * sigma * (1 + rho) / (1 - rho) * math.Log(float64(n))
	sum, sq := make([]float64, n+1), make([]float64, n+1)
	for i, x := range series {
		sum[i+1], sq[i+1] = sum[i]+x, sq[i]+x*x
	}
	cost := func(i, j int) float64 { // of series[i:j]
		s := sum[j] - sum[i]
		return math.Max(0, sq[j]-sq[i]-s*s/float64(j-i))
	}
	best, from := make([]float64, n+1), make([]int, n+1)
	for j := range best {
		best[j] = math.Inf(1)
	}
	best[0] = -penalty
	candidates := []int{0}
	for j := least; j <= n; j++ {
		for _, i := range candidates {
			if j-i < least {
				continue
			}
			if c := best[i] + cost(i, j) + penalty; c < best[j] {
				best[j], from[j] = c, i
			}
		}
		kept := candidates[:0]
		for _, i := range candidates {
			if j-i < least || best[i]+cost(i, j) <= best[j] {
				kept = append(kept, i)
			}
		}
		candidates = kept
		if k := j - least + 1; k >= least && !math.IsInf(best[k], 1) {
			candidates = append(candidates, k)
		}
	}
	var out []int
	for j := n; from[j] > 0; j = from[j] {
		out = append(out, from[j])
	}
	slices.Reverse(out)
	return out
}

// Survival is one step of a Kaplan-Meier estimate: from T on, the share S has not ended.
type Survival struct{ T, S float64 }

// KaplanMeier estimates the distribution of durations of which some are censored: they
// lasted at least so long. Both slices may be in any order.
func KaplanMeier(ended, censored []float64) []Survival {
	e, c := Sorted(ended), Sorted(censored)
	atRisk := float64(len(e) + len(c))
	s := 1.0
	var out []Survival
	for i, j := 0, 0; i < len(e); {
		t := e[i]
		for j < len(c) && c[j] < t {
			j++
			atRisk--
		}
		d := 0
		for i < len(e) && e[i] == t {
			i++
			d++
		}
		s *= 1 - float64(d)/atRisk
		atRisk -= float64(d)
		out = append(out, Survival{t, s})
	}
	return out
}

// SurvivalQuantile returns the p-quantile of a Kaplan-Meier estimate. ok is false when
// it lies beyond what was observed: all that is known is that it is above the last step.
func SurvivalQuantile(steps []Survival, p float64) (t float64, ok bool) {
	for _, s := range steps {
		if s.S <= 1-p+1e-12 {
			return s.T, true
		}
	}
	if len(steps) > 0 {
		t = steps[len(steps)-1].T
	}
	return t, false
}
