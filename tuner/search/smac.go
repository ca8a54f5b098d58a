package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Forest searches with a random forest as SMAC does: a Sobol start, expected improvement
// maximised by local search around the best trials and over random points, and a random
// point in between. After F. Hutter, H. Hoos and K. Leyton-Brown, LION 2011.
//
// As SMAC knows no constraints, a trial over its limits counts as a loss of what it exceeds
// them by, and a failure as the worst that was seen.
type Forest struct {
	space *space.Space
	goal  tuner.Goal
	sobol *Sobol
}

// NewForest returns the strategy over a space. The seed chooses the scrambling of its start.
func NewForest(s *space.Space, goal tuner.Goal, seed uint64) *Forest {
	return &Forest{s, goal, NewSobol(s, seed)}
}

// Name is "forest".
func (*Forest) Name() string { return "forest" }

// The settings of the search: Sobol trials first, the chance of a random point, random
// candidates, and steps of a local search.
const (
	smacStart   = 10
	smacRandom  = 0.0845
	smacSamples = 1000
	smacStarts  = 5
	smacSteps   = 20
)

// Ask implements tuner.Strategy.
func (f *Forest) Ask(rng *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	v := look(f.space, f.goal, history)
	if len(v.obs) < smacStart {
		var out []tuner.Proposal
		for _, p := range f.sobol.fresh(v, n) {
			out = append(out, v.proposal(p, f.Name()))
		}
		return out
	}
	at, y := v.penalised()
	model := growForest(rng, f.space, at, y)
	best := slices.Max(y)
	ei := func(p space.Point) float64 {
		mean, variance := model.predict(p)
		return improvement(mean-best, math.Sqrt(variance))
	}
	var out []tuner.Proposal
	for range n {
		p := v.pickForest(rng, at, y, ei)
		if p == nil {
			return append(out, v.random(rng, n-len(out), f.Name())...)
		}
		v.tried[f.space.Index(p)] = 0
		out = append(out, v.proposal(p, f.Name()))
	}
	return out
}

// pickForest is a random point now and then, else the fresh point of the largest expected
// improvement among random ones and those that local searches pass.
func (v *view) pickForest(rng *rand.Rand, at []space.Point, y []float64, ei func(space.Point) float64) space.Point {
	if rng.Float64() < smacRandom {
		if r := v.random(rng, 1, ""); len(r) > 0 {
			p, _ := v.space.Point(r[0].Config)
			return p
		}
	}
	var pick space.Point
	most := math.Inf(-1)
	offer := func(p space.Point, e float64) {
		if e > most && v.fresh(p) {
			pick, most = p, e
		}
	}
	rows := make([]int, len(y))
	for i := range rows {
		rows[i] = i
	}
	for _, r := range top(rows, smacStarts, func(r int) float64 { return y[r] }) {
		p, e := at[r], ei(at[r])
		for range smacSteps {
			moved := false
			for _, q := range v.space.Neighbours(p) {
				eq := ei(q)
				offer(q, eq)
				if eq > e {
					p, e, moved = q, eq, true
				}
			}
			if !moved {
				break
			}
		}
	}
	for _, p := range v.space.Sample(rng, smacSamples) {
		offer(p, ei(p))
	}
	return pick
}

// penalised turns constraints and failures into losses.
func (v *view) penalised() (at []space.Point, y []float64) {
	worst := 0.0
	for i := range v.obs {
		if o := &v.obs[i]; o.ok {
			worst = min(worst, o.gain-o.violation())
		}
	}
	for i := range v.obs {
		o := &v.obs[i]
		at = append(at, o.at)
		switch {
		case o.feasible():
			y = append(y, o.gain)
		case o.ok:
			y = append(y, min(o.gain, 0)-o.violation())
		default:
			y = append(y, worst)
		}
	}
	return at, y
}

// improvement is the expected improvement E[max(X, 0)] of a normal X with that mean and
// standard deviation.
func improvement(mean, sd float64) float64 {
	if sd <= 0 {
		return max(mean, 0)
	}
	z := mean / sd
	return mean*normal(z) + sd*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
}

// normal is the standard normal distribution function.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
