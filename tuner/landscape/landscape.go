package landscape

import (
	"context"
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Landscape is a built Spec: its truth is known. It is safe for concurrent use.
type Landscape struct {
	Spec  *Spec
	space *space.Space
	truth map[string]Truth // by what the simulator would run
	def   Truth
	best  space.Point
	score float64 // of the best, over the default
}

// Build plays every configuration of the landscape. It takes seconds of CPU time; cache, if
// not "", is a folder that keeps the tables between calls. The error says that the default
// cannot be tuned or that ctx ended.
func (s *Spec) Build(ctx context.Context, workers int, cache string) (*Landscape, error) {
	l := &Landscape{Spec: s, space: s.Space()}
	def, err := s.play(ctx, space.Assignment{})
	if err != nil {
		return nil, err
	}
	if def.Outcome != tuner.OK {
		return nil, fmt.Errorf("landscape %s: the default ends with %s: %s", s.Name, def.Outcome, def.Reason)
	}
	l.def = def
	if l.truth, err = s.cached(ctx, l.space, workers, cache); err != nil {
		return nil, err
	}
	l.score = math.Inf(-1)
	for _, p := range l.space.All() {
		if g, ok := l.Gain(l.space.At(p)); ok && g > l.score {
			l.score, l.best = g, p
		}
	}
	if g, ok := l.Gain(space.Assignment{}); !ok || g != 0 {
		return nil, fmt.Errorf("landscape %s: the default does not meet its own limits", s.Name)
	}
	return l, nil
}

// Space returns the knobs.
func (l *Landscape) Space() *space.Space { return l.space }

// Truth is what an assignment does.
func (l *Landscape) Truth(a space.Assignment) Truth {
	t := l.truth[l.Spec.Same(a)]
	if t.Outcome != tuner.OK {
		return t
	}
	for i := range l.Spec.Traps {
		if trap := &l.Spec.Traps[i]; trap.springs(a) {
			t.Outcome, t.Reason = trap.Outcome, trap.Reason
			return t
		}
	}
	q := l.Spec.quirk(a)
	if l.Spec.Goal().Maximise {
		t.Value *= math.Exp(q)
	} else {
		t.Value *= math.Exp(-q)
	}
	t.TTFT *= math.Exp(-quirkLatency * q)
	t.TPOT *= math.Exp(-quirkLatency * q)
	return t
}

// Gain is ln of an assignment's true value over the default's, signed so that more is
// better. It is false where the assignment fails or exceeds a limit.
func (l *Landscape) Gain(a space.Assignment) (float64, bool) {
	t := l.Truth(a)
	if t.Outcome != tuner.OK {
		return 0, false
	}
	for _, s := range l.Spec.slack(&t, &l.def) {
		if s > 0 {
			return 0, false
		}
	}
	g := math.Log(t.Value / l.def.Value)
	if !l.Spec.Goal().Maximise {
		g = -g
	}
	return g, true
}

// Slack is ln(metric/limit) of each constraint, of a truth.
func (l *Landscape) Slack(t Truth) []float64 { return l.Spec.slack(&t, &l.def) }

// Optimum returns the best assignment and its gain.
func (l *Landscape) Optimum() (space.Assignment, float64) { return l.space.At(l.best), l.score }

// Default is the truth about the default.
func (l *Landscape) Default() Truth { return l.def }

// Census counts the configurations: all that arithmetic leaves, of these the different ones,
// those that fail, those over a limit, and those better than the default by MinGain.
func (l *Landscape) Census() (all, different, fail, over, better int) {
	least := math.Log1p(l.Spec.Goal().MinGain)
	for _, p := range l.space.All() {
		a := l.space.At(p)
		all++
		g, ok := l.Gain(a)
		switch {
		case l.Truth(a).Outcome != tuner.OK:
			fail++
		case !ok:
			over++
		case g > least:
			better++
		}
	}
	return all, len(l.truth), fail, over, better
}
