package search

import (
	"math"
	"math/rand/v2"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// GP searches with a Gaussian process and expected improvement times the chance to be
// feasible, after a Sobol start. It is the control that shows what the prior and the
// discipline of [Loop] add.
type GP struct {
	space *space.Space
	goal  tuner.Goal
	sobol *Sobol
	dist  [][][]float64
	mem   memory
}

// NewGP returns the strategy over a space. The seed chooses the scrambling of its start.
func NewGP(s *space.Space, goal tuner.Goal, seed uint64) *GP {
	return &GP{space: s, goal: goal, sobol: NewSobol(s, seed), dist: distances(s)}
}

// Name is "gp".
func (*GP) Name() string { return "gp" }

// The Sobol trials first, and the random candidates of a proposal.
const (
	gpStart   = 10
	gpSamples = 300
)

// Ask implements tuner.Strategy.
func (g *GP) Ask(rng *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	v := look(g.space, g.goal, history)
	var out []tuner.Proposal
	var m *surrogate
	if len(v.obs) >= gpStart {
		m = g.mem.model(v, g.dist, func(space.Point) Guess { return Guess{} })
	}
	if m == nil {
		for _, p := range g.sobol.fresh(v, n) {
			out = append(out, v.proposal(p, g.Name()))
		}
		return out
	}
	over, at := m.incumbent(v)
	if at < 0 {
		over = 0
	}
	for _, p := range top(v.candidates(rng, m, gpSamples, nil), n, func(p space.Point) float64 { return math.Log(m.at(p).acquisition(over)) }) {
		out = append(out, v.proposal(p, g.Name()))
	}
	return out
}
