package search

import (
	"maps"
	"math"
	"slices"
)

// The grid of the posterior.
const (
	rateSteps  = 300
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
func posterior(levels []*Level, limits []Limit, low, high float64, v view) estimate {
	e := estimate{logs: make([]float64, rateSteps), cumulative: make([]float64, rateSteps)}
	for i := range e.logs {
		e.logs[i] = math.Log(low) + (math.Log(high)-math.Log(low))*(float64(i)+0.5)/rateSteps
	}
	above := make([]float64, rateSteps) // probability that every limit's rate is above
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

// density is the posterior mass of one limit's rate on the grid: a logistic curve of the
// share of misses over the log rate that is the allowed share at λ*, summed over its
// steepness.
func density(levels []*Level, limit int, allowed float64, logs []float64, v view) []float64 {
	type point struct{ weight, log, hits, misses float64 }
	bins := map[int]*point{}
	// Levels that miss a few share one design effect, for each alone has too few misses to
	// tell it. An overloaded level, whose misses grow with its length, has its own.
	var shared clumping
	for _, l := range levels {
		if v.weight(l) > floor && !l.overloaded(limit, allowed) {
			l.clumps(limit, &shared)
		}
	}
	effect := shared.effect()
	for _, l := range levels {
		w := v.weight(l)
		if w == 0 {
			continue
		}
		if l.overloaded(limit, allowed) {
			var own clumping
			l.clumps(limit, &own)
			w /= own.effect()
		} else {
			w /= effect
		}
		at := math.Log(l.rate)
		bin := int(math.Floor(at / binWidth))
		p := bins[bin]
		if p == nil {
			p = new(point)
			bins[bin] = p
		}
		k, n := float64(l.misses(limit)), float64(l.n)
		p.weight += w * n
		p.log += w * n * at
		p.hits += w * (n - k)
		p.misses += w * k
	}
	var points []point
	for _, bin := range slices.Sorted(maps.Keys(bins)) {
		p := bins[bin]
		points = append(points, point{p.weight, p.log / p.weight, p.hits, p.misses})
	}
	out := make([]float64, len(logs))
	base := math.Log(allowed / (1 - allowed))
	best := math.Inf(-1)
	likelihood := make([]float64, len(logs)*steepSteps)
	for i, at := range logs {
		for j := range steepSteps {
			steep := minSteep * math.Pow(maxSteep/minSteep, float64(j)/(steepSteps-1))
			ll := 0.0
			for _, p := range points {
				z := base + steep*(p.log-at)
				// log of the logistic function and of its complement.
				soft := math.Log1p(math.Exp(-math.Abs(z)))
				ll += p.misses*(min(z, 0)-soft) + p.hits*(min(-z, 0)-soft)
			}
			likelihood[i*steepSteps+j] = ll
			best = max(best, ll)
		}
	}
	total := 0.0
	for i := range out {
		for j := range steepSteps {
			out[i] += math.Exp(likelihood[i*steepSteps+j] - best)
		}
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}
