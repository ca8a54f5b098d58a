package tuner

import (
	"maps"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// SourceSimplify is the source of trials that leave out knobs of the best candidate.
const SourceSimplify = "simplify"

// simplify measures the best candidate without each of its knobs, then without all of those
// that were not missed, as far as the budget allows: a change is to hold what it needs and
// nothing else. It returns nil when there is nothing left to measure.
func (p *planner) simplify(h []Trial) *Step {
	base, ok := p.base(h)
	if !ok || !p.s.left(h, estimate(h, p.p.Rung, 1, 1).plus(p.s.proof(h))) {
		return nil
	}
	step := func(a space.Assignment) *Step {
		q := Proposal{Config: a, Source: SourceSimplify, Rung: p.p.Rung, Hypothesis: "a knob that is not missed need not be set"}
		if _, seen := p.score(h, a); seen || len(a) == 0 || p.launchable(h, &q) != nil {
			return nil
		}
		return &Step{Role: RoleSearch, Proposal: q, Load: Load{Rung: p.p.Rung}}
	}
	for _, k := range knobsOf(base.Config) {
		if s := step(without(base.Config, k)); s != nil {
			return s
		}
	}
	if joint := without(base.Config, p.idle(h, base.Config)...); len(joint) < len(base.Config)-1 {
		return step(joint)
	}
	return nil
}

// simplest is the best candidate without the knobs that it does not need, as far as that was
// measured.
func (p *planner) simplest(h []Trial) (Proposal, bool) {
	base, ok := p.base(h)
	if !ok {
		return Proposal{}, false
	}
	idle := p.idle(h, base.Config)
	full, _ := p.score(h, base.Config)
	for _, a := range append([]space.Assignment{without(base.Config, idle...)}, singles(base.Config, idle)...) {
		if v, ok := p.score(h, a); ok && len(a) < len(base.Config) && v >= full-p.slackOf() {
			q := base
			q.Config, q.Source = a, SourceSimplify
			return q, true
		}
	}
	return base, true
}

// base is the best candidate of the search proper.
func (p *planner) base(h []Trial) (Proposal, bool) {
	h = searched(h)
	if i := slices.IndexFunc(h, func(t Trial) bool { return t.Source == SourceSimplify }); i >= 0 {
		h = h[:i]
	}
	all := p.rank(h)
	if !p.p.Simplify || len(all) == 0 || len(all[0].Config) < 2 {
		return Proposal{}, false
	}
	if _, ok := p.score(h, all[0].Config); !ok {
		return Proposal{}, false
	}
	return all[0], true
}

// idle are the knobs that were not missed when they were left out.
func (p *planner) idle(h []Trial, a space.Assignment) []string {
	full, _ := p.score(h, a)
	var out []string
	for _, k := range knobsOf(a) {
		if v, ok := p.score(h, without(a, k)); ok && v >= full-p.slackOf() {
			out = append(out, k)
		}
	}
	return out
}

// slackOf is what a knob must add to be worth setting: half the margin.
func (p *planner) slackOf() float64 { return math.Log1p(p.s.Goal.MinGain) / 2 }

// score is the mean score of a configuration over its whole feasible trials of the search,
// drift corrected.
func (p *planner) score(h []Trial, a space.Assignment) (float64, bool) {
	h = searched(h)
	offsets, _ := Drift(p.s.Goal, h)
	sum, n, key := 0.0, 0.0, a.Key()
	for i := range h {
		t := &h[i]
		if v, ok := p.s.Goal.Score(&t.Measurement).Get(); ok && t.Load.Rung >= p.p.Rung && t.Config.Key() == key && Feasible(t) {
			sum, n = sum+v-offsets[i], n+1
		}
	}
	return sum / max(n, 1), n > 0
}

func knobsOf(a space.Assignment) []string { return slices.Sorted(maps.Keys(a)) }

func without(a space.Assignment, knobs ...string) space.Assignment {
	out := maps.Clone(a)
	for _, k := range knobs {
		delete(out, k)
	}
	return out
}

func singles(a space.Assignment, knobs []string) []space.Assignment {
	var out []space.Assignment
	for _, k := range knobs {
		out = append(out, without(a, k))
	}
	return out
}
