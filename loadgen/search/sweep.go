package search

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// Measured is one step of a sweep of concurrency.
type Measured struct {
	Concurrency float64
	Throughput  float64 // requests or tokens per second
	Latency     float64 // mean time in the system, in seconds; 0 is unknown
}

// USL is a fit of the universal scalability law,
//
//	X(N) = λN / (1 + σ(N−1) + κN(N−1))
//
// with λ the throughput of one user, σ the share of work that is serial or contended, and
// κ the cost of coherence, which makes throughput fall again beyond a peak. For an engine
// whose step takes a + bN the law is exact, with κ = 0, λ = 1/(a+b) and σ = b/(a+b).
type USL struct {
	Lambda, Sigma, Kappa float64
	// Peak is the concurrency of the largest throughput; +Inf when κ is 0, so that
	// throughput only flattens.
	Peak float64
	// Error is the root mean square of the residuals of log throughput.
	Error float64
}

// Throughput is X(N).
func (u USL) Throughput(n float64) float64 {
	return u.Lambda * n / (1 + u.Sigma*(n-1) + u.Kappa*n*(n-1))
}

// FitUSL fits the law by least squares on the logarithm of the throughput, with no
// parameter below zero. It needs four steps of different concurrency.
func FitUSL(steps []Measured) (USL, error) {
	seen := map[float64]bool{}
	for _, s := range steps {
		if !(s.Concurrency >= 1) || !(s.Throughput > 0) || math.IsInf(s.Throughput+s.Concurrency, 0) {
			return USL{}, fmt.Errorf("step of concurrency %v with throughput %v cannot be fitted", s.Concurrency, s.Throughput)
		}
		seen[s.Concurrency] = true
	}
	if len(seen) < 4 {
		return USL{}, errors.New("the scalability law needs four steps of different concurrency")
	}
	// The parameters are squares, so that none falls below zero; the scale of the
	// throughput is the best one for the other two, in closed form.
	fit := func(x []float64) USL {
		u := USL{Lambda: 1, Sigma: x[0] * x[0], Kappa: x[1] * x[1]}
		shift := 0.0
		for _, s := range steps {
			shift += math.Log(s.Throughput / u.Throughput(s.Concurrency))
		}
		u.Lambda = math.Exp(shift / float64(len(steps)))
		sum := 0.0
		for _, s := range steps {
			d := math.Log(s.Throughput / u.Throughput(s.Concurrency))
			sum += d * d
		}
		u.Error = math.Sqrt(sum / float64(len(steps)))
		return u
	}
	best := USL{Error: math.Inf(1)}
	for _, start := range [][]float64{{0.1, 0.01}, {0.5, 0.001}, {0.9, 0.1}, {0.05, 1e-4}} {
		r, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 { return fit(x).Error }}, start,
			&optimize.Settings{MajorIterations: 2000}, &optimize.NelderMead{})
		if r == nil || err != nil && r.X == nil {
			continue
		}
		if u := fit(r.X); u.Error < best.Error {
			best = u
		}
	}
	if math.IsInf(best.Error, 1) {
		return USL{}, errors.New("the scalability law does not fit these steps")
	}
	best.Peak = math.Inf(1)
	if best.Kappa > 1e-9 && best.Sigma < 1 {
		best.Peak = math.Sqrt((1 - best.Sigma) / best.Kappa)
	}
	return best, nil
}

// Knees are two answers to where more concurrency stops paying.
type Knees struct {
	// Kneedle is the concurrency at which the curve of throughput over concurrency, both
	// scaled to [0, 1], is farthest above the diagonal (Satopää and others, 2011, without
	// smoothing but that of an isotonic fit).
	Kneedle float64
	// Power is the concurrency at which throughput divided by latency is largest
	// (Kleinrock, 1979); 0 without latencies.
	Power float64
	// Sharp is true when the two are within 20 % of each other.
	Sharp bool
}

// Knee finds the knees of a sweep of at least three steps.
func Knee(steps []Measured) (Knees, error) {
	s := slices.Clone(steps)
	slices.SortFunc(s, func(a, b Measured) int { return cmpFloat(a.Concurrency, b.Concurrency) })
	if len(s) < 3 || s[0].Concurrency == s[len(s)-1].Concurrency {
		return Knees{}, errors.New("a knee needs three steps of different concurrency")
	}
	y := isotonic(s)
	first, last := s[0].Concurrency, s[len(s)-1].Concurrency
	low, high := y[0], y[len(y)-1]
	if high <= low {
		return Knees{}, errors.New("throughput does not grow with concurrency, so there is no knee")
	}
	var k Knees
	best, power := math.Inf(-1), 0.0
	for i, m := range s {
		d := (y[i]-low)/(high-low) - (m.Concurrency-first)/(last-first)
		if d > best {
			best, k.Kneedle = d, m.Concurrency
		}
		if m.Latency > 0 && m.Throughput/m.Latency > power {
			power, k.Power = m.Throughput/m.Latency, m.Concurrency
		}
	}
	k.Sharp = k.Power > 0 && math.Abs(k.Kneedle-k.Power) <= 0.2*max(k.Kneedle, k.Power)
	return k, nil
}

// isotonic is the closest non-decreasing sequence to the throughputs, by pooling
// neighbours that fall.
func isotonic(s []Measured) []float64 {
	type pool struct{ sum, n float64 }
	var pools []pool
	for _, m := range s {
		pools = append(pools, pool{m.Throughput, 1})
		for len(pools) > 1 {
			a, b := pools[len(pools)-2], pools[len(pools)-1]
			if a.sum/a.n <= b.sum/b.n {
				break
			}
			pools = append(pools[:len(pools)-2], pool{a.sum + b.sum, a.n + b.n})
		}
	}
	var out []float64
	for _, p := range pools {
		for range int(p.n) {
			out = append(out, p.sum/p.n)
		}
	}
	return out
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
