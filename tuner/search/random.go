package search

import (
	"math/rand/v2"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Random proposes points uniformly. It is the control that every search has to beat.
type Random struct{ space *space.Space }

// NewRandom returns the strategy over a space.
func NewRandom(s *space.Space) *Random { return &Random{s} }

// Name is "random".
func (*Random) Name() string { return "random" }

// Ask implements tuner.Strategy.
func (r *Random) Ask(rng *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	v := look(r.space, tuner.Goal{}, history)
	return v.random(rng, n, r.Name())
}

// random draws up to n feasible points that were not tried.
func (v *view) random(rng *rand.Rand, n int, source string) []tuner.Proposal {
	var out []tuner.Proposal
	for _, p := range v.space.Sample(rng, n+len(v.tried)) {
		if len(out) < n && v.fresh(p) {
			out = append(out, v.proposal(p, source))
		}
	}
	return out
}
