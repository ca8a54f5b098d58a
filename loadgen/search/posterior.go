package search

import (
	"math"
	"slices"
)

// The grid of the posterior.
const (
	rateSteps  = 300 // of the final posterior
	roughSteps = 120 // of those that only look for its middle
	steepSteps = 16
	binWidth   = 0.004 // levels whose log rates fall into one bin are taken together
	minSteep   = 2.0
	maxSteep   = 400.0
)

// estimate is a distribution of λ* on a grid of log rates.
type estimate struct {
	logs       []float64
	cumulative []float64
}

// quantile returns the rate below which λ* lies with probability q.
func (e estimate) quantile(q float64) float64 {
	i, _ := slices.BinarySearch(e.cumulative, q)
	return math.Exp(e.logs[min(i, len(e.logs)-1)])
}

// view says which levels take part, and how much: those near the centre in full, longer
// ones more than shorter ones, which still remember that they began with an empty server,
// and those far away a little, to keep the posterior from the places that they rule out.
type view struct {
	centre, width float64 // in log rate
	longest       int     // requests of the longest level
}

// floor is the weight of a level far away.
const floor = 0.02

func (v view) weight(l *Level) float64 {
	if l.n == 0 {
		return 0
	}
	d := (math.Log(l.rate) - v.centre) / v.width
	near := 0.0
	if d > -1 && d < 1 {
		near = (1 - d*d) * (1 - d*d) * float64(l.n) / float64(v.longest)
	}
	return max(floor, near)
}

// near is how many requests take part for being near.
func (v view) near(levels []*Level) float64 {
	sum := 0.0
	for _, l := range levels {
		if w := v.weight(l); w > floor {
			sum += w * float64(l.n)
		}
	}
	return sum
}

// posterior returns the distribution of λ* between low and high. Limits are taken as
// independent, and λ* is the least of theirs.
func posterior(levels []*Level, limits []Limit, low, high float64, steps int, v view) estimate {
	e := estimate{logs: make([]float64, steps), cumulative: make([]float64, steps)}
	for i := range e.logs {
		e.logs[i] = math.Log(low) + (math.Log(high)-math.Log(low))*(float64(i)+0.5)/float64(steps)
	}
	above := make([]float64, steps) // probability that every limit's rate is above
	for i := range above {
		above[i] = 1
	}
	for i, limit := range limits {
		sum := 0.0
		for j, m := range density(levels, i, limit.Allowed, e.logs, v) {
			sum += m
			above[j] *= max(0, 1-sum)
		}
	}
	for j := range above {
		e.cumulative[j] = 1 - above[j]
	}
	return e
}

// marginal makes a distribution of masses on a grid.
func marginal(mass, logs []float64) estimate {
	e := estimate{logs: logs, cumulative: make([]float64, len(mass))}
	sum := 0.0
	for i, m := range mass {
		sum += m
		e.cumulative[i] = sum
	}
	return e
}
