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
	gains []gain // by number of the point
	best  space.Point
	score float64 // of the best, over the default
}

// gain is what Gain returns, and whether the configuration runs at all.
type gain struct {
	value       float64
	holds, runs bool
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
	l.gains = make([]gain, l.space.Size())
	for _, p := range l.space.All() {
		g := l.judge(l.space.At(p))
		l.gains[l.space.Index(p)] = g
		if g.holds && g.value > l.score {
			l.score, l.best = g.value, p
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
	p, err := l.space.Point(a)
	if err != nil {
		return 0, false
	}
	g := l.gains[l.space.Index(p)]
	return g.value, g.holds
}

func (l *Landscape) judge(a space.Assignment) gain {
	t := l.Truth(a)
	if t.Outcome != tuner.OK {
		return gain{}
	}
	for _, s := range l.Slack(t) {
		if s > 0 {
			return gain{runs: true}
		}
	}
	g := math.Log(t.Value / l.def.Value)
	if !l.Spec.Goal().Maximise {
		g = -g
	}
	return gain{g, true, true}
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
		all++
		switch g := l.gains[l.space.Index(p)]; {
		case !g.runs:
			fail++
		case !g.holds:
			over++
		case g.value > least:
			better++
		}
	}
	return all, len(l.truth), fail, over, better
}
