package propose

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/agents/proposer"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// SourceModel is the source of proposals of Model.
const SourceModel = "model"

// ModelConfig is what a Model needs. All fields but Context, Limits, Findings, Knobs, Log and
// Patience are required.
type ModelConfig struct {
	Space    *space.Space
	Goal     tuner.Goal
	Limits   []string // the study's constraints, as typed
	Proposer *proposer.Proposer
	Findings Findings
	// Knobs tell the model what each setting does.
	Knobs []engines.Knob
	// Context ends calls; nil never does. Patience is for one turn; 0 is a minute.
	Context  context.Context
	Patience time.Duration
	// Log keeps the answers, so that a study that was killed and goes on gets the ones that it
	// had; nil keeps them in memory.
	Log *Log
}

// Model asks a language model. It has no part in what is measured beyond its proposals, and
// a turn in which it fails has none. It is safe for concurrent use.
type Model struct {
	c  ModelConfig
	mu sync.Mutex
	// failed turns in a row; after three the model is left alone.
	failed int
}

const giveUp = 3

// NewModel makes the proposer.
func NewModel(c ModelConfig) *Model {
	if c.Context == nil {
		c.Context = context.Background()
	}
	if c.Patience == 0 {
		c.Patience = time.Minute
	}
	if c.Log == nil {
		c.Log = &Log{}
	}
	return &Model{c: c}
}

// Name is "model".
func (*Model) Name() string { return SourceModel }

// Ask implements tuner.Strategy. Equal histories get the answer that the first got.
func (m *Model) Ask(_ *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	m.mu.Lock()
	defer m.mu.Unlock()
	if out, ok := m.c.Log.at(len(history)); ok {
		return m.fresh(out, history, n)
	}
	if _, ok := incumbent(m.c.Goal, history); !ok || m.failed >= giveUp {
		return nil
	}
	ctx, cancel := llm.Deadline(m.c.Context, m.c.Patience)
	defer cancel()
	seen := tried(history)
	got, err := m.c.Proposer.Suggest(ctx, m.input(history), func(s map[string]string) error { return m.allow(s, seen) })
	var out []tuner.Proposal
	if err != nil { // the transcript has why
		m.failed++
	} else {
		m.failed = 0
	}
	for _, s := range got {
		out = append(out, tuner.Proposal{
			Config: assignment(s.Settings), Source: SourceModel, Rung: 1,
			Hypothesis: s.Hypothesis, Predicted: &tuner.Interval{Low: s.Low, High: s.High}, Falsifier: s.Falsifier,
		})
	}
	if m.c.Context.Err() == nil {
		m.c.Log.keep(len(history), out)
	}
	return m.fresh(out, history, n)
}

// fresh leaves out what may not be measured: what was tried, and what a log from elsewhere
// holds beside the space.
func (m *Model) fresh(ps []tuner.Proposal, history []tuner.Trial, n int) []tuner.Proposal {
	seen := tried(history)
	var out []tuner.Proposal
	for _, p := range ps {
		if len(out) < n && m.allow(p.Config, seen) == nil {
			out = append(out, p)
		}
	}
	return out
}

func assignment(s map[string]string) space.Assignment {
	a := space.Assignment{}
	for k, v := range s {
		if v != "" {
			a[k] = v
		}
	}
	return a
}

// allow says what is wrong with settings: unknown knobs, values that are not listed, what
// arithmetic rules out, and what was tried.
func (m *Model) allow(s map[string]string, seen map[string]bool) error {
	a := assignment(s)
	p, err := m.c.Space.Point(a)
	switch {
	case err != nil:
		return err
	case seen[a.Key()]:
		return fmt.Errorf("it was tried: %s", a.Key())
	case !m.c.Space.Feasible(p):
		if err := m.c.Space.Check(a); err != nil {
			return err
		}
		return fmt.Errorf("it cannot work together")
	}
	return nil
}

// input is the digest.
func (m *Model) input(history []tuner.Trial) proposer.Input {
	in := proposer.Input{Goal: m.c.Goal.Metric + ", lower is better", Limits: m.c.Limits, History: digest(m.c.Goal, history)}
	if m.c.Goal.Maximise {
		in.Goal = m.c.Goal.Metric + ", higher is better"
	}
	for _, d := range m.c.Space.Dims {
		s := proposer.Setting{Name: d.Name, Now: d.Unset}
		for _, v := range d.Values {
			if v != "" {
				s.Values = append(s.Values, v)
			}
		}
		if i := slices.IndexFunc(m.c.Knobs, func(k engines.Knob) bool { return k.Name == d.Name }); i >= 0 {
			s.Effect = m.c.Knobs[i].Effect
		}
		in.Settings = append(in.Settings, s)
	}
	if m.c.Findings != nil {
		var b strings.Builder
		for i, f := range m.c.Findings(history) {
			if i == maxFindings {
				break
			}
			fmt.Fprintf(&b, "- %s, %s, score %.2f, %s: %s\n", f.Role, f.Cause, f.Score, f.Tested, f.Summary)
		}
		in.Findings = b.String()
	}
	return in
}

// Bounds of a digest.
const (
	maxFindings = 6
	maxBest     = 8
	maxLatest   = 12
	maxReason   = 120 // bytes of the server's words on a failure
)

// digest is the trials in short lines: the default, the best, and the latest.
func digest(goal tuner.Goal, history []tuner.Trial) string {
	zero, known := math.NaN(), false
	for i := range history {
		if t := &history[i]; t.Role == tuner.RoleDefault {
			if v, ok := goal.Score(&t.Measurement).Get(); ok {
				zero, known = v, true
			}
		}
	}
	if !known {
		return ""
	}
	var search []*tuner.Trial
	for i := range history {
		if history[i].Role == tuner.RoleSearch {
			search = append(search, &history[i])
		}
	}
	best := slices.Clone(search)
	score := func(t *tuner.Trial) float64 { return goal.Score(&t.Measurement).Or(math.Inf(-1)) }
	slices.SortStableFunc(best, func(a, b *tuner.Trial) int {
		switch x, y := score(a), score(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	show := map[int]bool{}
	for _, t := range best[:min(maxBest, len(best))] {
		show[t.N] = true
	}
	for _, t := range search[max(0, len(search)-maxLatest):] {
		show[t.N] = true
	}
	var b strings.Builder
	b.WriteString("default: gain 0 by definition\n")
	for _, t := range search {
		if !show[t.N] {
			continue
		}
		fmt.Fprintf(&b, "%d. %s (%s, rung %d): ", t.N, t.Config.Key(), t.Source, t.Load.Rung)
		switch v, ok := goal.Score(&t.Measurement).Get(); {
		case !ok:
			reason := t.Reason
			if len(reason) > maxReason {
				reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
			}
			fmt.Fprintf(&b, "%s: %s", t.Outcome, reason)
		case !holds(t):
			fmt.Fprintf(&b, "gain %+.3f, but over a limit", math.Exp(v-zero)-1)
		default:
			fmt.Fprintf(&b, "gain %+.3f", math.Exp(v-zero)-1)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
