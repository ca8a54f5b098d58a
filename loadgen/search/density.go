package search

import (
	"maps"
	"math"
	"slices"
)

// curve is a logistic curve of the share of misses over the log rate, that passes the
// allowed share at the log rate at.
type curve struct{ base, at, steep float64 }

// logit is the log odds of a miss at a log rate.
func (c curve) logit(log float64) float64 { return c.base + c.steep*(log-c.at) }

// point is the weighted counts of the levels around one log rate.
type point struct{ weight, log, hits, misses float64 }

// density is the posterior mass of one limit's rate on the grid of log rates, summed over
// the steepness of the curve.
//
// Levels that miss a few share one design effect, for each alone has too few misses to
// tell it. Congestion that lasts longer than a level shows only between levels: where
// they scatter around the curve more than their blocks foretell, the scatter is the design
// effect.
func density(levels []*Level, limit int, allowed float64, logs []float64, v view) []float64 {
	var shared clumping
	for _, l := range levels {
		if v.weight(l) > floor && !l.overloaded(limit, allowed) {
			l.clumps(limit, &shared)
		}
	}
	base := math.Log(allowed / (1 - allowed))
	effect := shared.effect()
	mass, best := fit(gather(levels, limit, allowed, v, effect), base, logs)
	if between := scatter(levels, limit, allowed, v, best); between > effect {
		mass, _ = fit(gather(levels, limit, allowed, v, between), base, logs)
	}
	return mass
}

// worth is how many independent requests a level counts for at the least. An overloaded
// level, where the backlog and the misses only grow, looks like one long clump, and yet
// says for sure how steep the curve is.
const worth = 12

// gather sums up the levels. An overloaded level, whose misses grow with its length, has
// a design effect of its own.
func gather(levels []*Level, limit int, allowed float64, v view, effect float64) []point {
	bins := map[int]*point{}
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
		w = max(w, worth/float64(l.n))
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
		p := *bins[bin]
		p.log /= p.weight
		points = append(points, p)
	}
	return points
}

// fit returns the posterior mass on the grid, and the likeliest curve.
func fit(points []point, base float64, logs []float64) ([]float64, curve) {
	best, likeliest := curve{}, math.Inf(-1)
	likelihood := make([]float64, len(logs)*steepSteps)
	for i, at := range logs {
		for j := range steepSteps {
			c := curve{base, at, minSteep * math.Pow(maxSteep/minSteep, float64(j)/(steepSteps-1))}
			ll := 0.0
			for _, p := range points {
				z := c.logit(p.log)
				// log of the logistic function and of its complement.
				soft := math.Log1p(math.Exp(-math.Abs(z)))
				ll += p.misses*(min(z, 0)-soft) + p.hits*(min(-z, 0)-soft)
			}
			likelihood[i*steepSteps+j] = ll
			if ll > likeliest {
				best, likeliest = c, ll
			}
		}
	}
	mass, total := make([]float64, len(logs)), 0.0
	for i := range mass {
		for j := range steepSteps {
			mass[i] += math.Exp(likelihood[i*steepSteps+j] - likeliest)
		}
		total += mass[i]
	}
	for i := range mass {
		mass[i] /= total
	}
	return mass, best
}

// scatter is Pearson's dispersion of the near levels around a curve: the mean square of
// their misses' deviations in units of the binomial variance. It is 1 with fewer than six
// levels.
func scatter(levels []*Level, limit int, allowed float64, v view, c curve) float64 {
	sum, n := 0.0, 0.0
	for _, l := range levels {
		if v.weight(l) <= floor || l.overloaded(limit, allowed) {
			continue
		}
		p := 1 / (1 + math.Exp(-c.logit(math.Log(l.rate))))
		expect := float64(l.n) * p
		d := float64(l.misses(limit)) - expect
		sum += d * d / (expect * (1 - p))
		n++
	}
	if n < 6 {
		return 1
	}
	return sum / (n - 2)
}
