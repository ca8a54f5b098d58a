package live

import (
	"math/rand/v2"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// First returns up to n assignments that the search asks for before anything was measured.
func (s *Setup) First(n int) []space.Assignment {
	var out []space.Assignment
	rng := rand.New(rand.NewPCG(s.Study.Seed, 0))
	for _, p := range s.Strategy.Ask(rng, []tuner.Trial{}, n) {
		if s.Allow(p.Config) == nil {
			out = append(out, p.Config)
		}
	}
	return out
}
