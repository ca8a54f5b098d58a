package propose

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// SourceGiven is the source of proposals of Given.
const SourceGiven = "given"

// Given proposes what somebody outside the study wants to have measured, in order, and
// nothing else. It uses no randomness and is safe for concurrent use.
type Given struct{ proposals []tuner.Proposal }

// NewGiven makes the strategy. The error joins every reason why a proposal may not be
// measured: a knob or a value that the space lacks, a combination that cannot work, a
// predicted interval upside down.
func NewGiven(s *space.Space, ps []tuner.Proposal) (*Given, error) {
	g := &Given{}
	var errs []error
	for i, p := range ps {
		at, err := s.Point(p.Config)
		switch {
		case err != nil:
		case len(p.Config) == 0:
			err = errors.New("it is the default, which is measured anyway")
		case p.Predicted != nil && !(p.Predicted.Low <= p.Predicted.High):
			err = fmt.Errorf("the predicted gain from %g to %g is no interval", p.Predicted.Low, p.Predicted.High)
		case !s.Feasible(at):
			if err = s.Check(p.Config); err == nil {
				err = errors.New("it cannot work together")
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("proposal %d: %w", i+1, err))
			continue
		}
		p.Source, p.Rung = SourceGiven, tuner.DefaultRung
		g.proposals = append(g.proposals, p)
	}
	if len(errs) == 0 && len(g.proposals) == 0 {
		errs = append(errs, errors.New("there is no proposal"))
	}
	return g, errors.Join(errs...)
}

// Name is "given".
func (*Given) Name() string { return SourceGiven }

// Ask implements tuner.Strategy.
func (g *Given) Ask(_ *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	seen := map[string]bool{}
	for i := range history {
		if history[i].Role == tuner.RoleSearch {
			seen[history[i].Config.Key()] = true
		}
	}
	var out []tuner.Proposal
	for _, p := range g.proposals {
		if key := p.Config.Key(); !seen[key] && len(out) < n {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}
