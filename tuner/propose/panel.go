package propose

import (
	"math/rand/v2"

	"github.com/inferencebench/inferencebench/tuner"
)

// Panel gives each of its members the part of the turns that it has earned: see
// [Track.Share]. A member that is not asked keeps its proposals for another turn. It is a
// strategy whose proposals carry their members' sources, and as safe for concurrent use as
// its members are.
type Panel struct {
	goal    tuner.Goal
	members []tuner.Strategy
}

// NewPanel joins proposers whose names are the sources of their proposals.
func NewPanel(goal tuner.Goal, members ...tuner.Strategy) *Panel { return &Panel{goal, members} }

// Name is "panel".
func (*Panel) Name() string { return "panel" }

// Ask implements tuner.Strategy.
func (p *Panel) Ask(rng *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	ls := lessons(p.goal, history)
	var out []tuner.Proposal
	for _, m := range p.members {
		if rng.Float64() >= share(ls, m.Name()) {
			continue
		}
		out = append(out, m.Ask(rng, history, n)...)
	}
	return out[:min(n, len(out))]
}
