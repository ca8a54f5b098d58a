package tuner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/quality"
	evalstats "github.com/inferencebench/inferencebench/evals/stats"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Journal keeps the trials of a study, in order. Append returns only when the trial is safe:
// what a study decides next rests on it.
type Journal interface {
	Trials() []Trial
	Append(Trial) error
}

// Options are what a study needs beside its question. The zero Options keep nothing, check
// nothing and tell nothing.
type Options struct {
	Checks []Check
	// Journal holds what was measured before, and takes what is measured now; nil keeps it in
	// memory.
	Journal Journal
	// Allow returns why an assignment must not be launched, or nil; nil allows everything.
	Allow func(space.Assignment) error
	// Progress is told before and after each measurement; nil is told nothing.
	Progress func(Progress)
}

// Progress is where a study stands.
type Progress struct {
	// Step is what is being measured. Trial is nil while it is, and what came of it afterwards.
	Step  Step
	Trial *Trial
	// History are the trials so far, that one included.
	History []Trial
}

type memory struct{ trials []Trial }

func (m *memory) Trials() []Trial      { return m.trials }
func (m *memory) Append(t Trial) error { m.trials = append(m.trials, t); return nil }

// Run carries a study out, from wherever its journal stands, and returns its result. A
// cancelled ctx is a result too, with the decision [Interrupted]; what was measured is in the
// journal, and another Run goes on from there. However it ends, the bench is asked to restore
// what was running before.
//
// The error tells of a study that is not valid, and of a bench or a journal that can no
// longer be used; the result is then what was known by then.
func Run(ctx context.Context, s Study, bench Bench, strategy Strategy, o Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if o.Journal == nil {
		o.Journal = &memory{}
	}
	p := newPlanner(&s, strategy, o)
	history := slices.Clone(o.Journal.Trials())
	if r, ok := bench.(Resumer); ok {
		r.Resume(history)
	}
	var stop error
	why := ""
	touched := false
	for stop == nil {
		if ctx.Err() != nil {
			stop = context.Cause(ctx)
			break
		}
		var step *Step
		if step, why = p.next(history); step == nil {
			break
		}
		if o.Progress != nil {
			o.Progress(Progress{Step: *step, History: history})
		}
		touched = true
		var t Trial
		if t, stop = measure(ctx, bench, step, history); stop != nil {
			break
		}
		p.inspect(&t, history)
		if stop = o.Journal.Append(t); stop != nil {
			break
		}
		history = append(history, t)
		if o.Progress != nil {
			o.Progress(Progress{Step: *step, Trial: &t, History: history})
		}
	}
	res := p.result(history, why)
	if stop != nil {
		res.Decision, res.Reason = Interrupted, stop.Error()
		if ctx.Err() != nil {
			res.Reason, stop = context.Cause(ctx).Error(), nil
		}
	}
	if touched {
		if err := bench.Restore(context.WithoutCancel(ctx)); err != nil {
			stop = errors.Join(stop, fmt.Errorf("restore what was running before: %w", err))
		}
	}
	return res, stop
}

// measure carries out one step.
func measure(ctx context.Context, bench Bench, step *Step, history []Trial) (Trial, error) {
	t := Trial{N: len(history) + 1, Role: step.Role, Load: step.Load, For: step.For, Pair: step.Pair, Proposal: step.Proposal}
	if step.Relaunch {
		if err := bench.Relaunch(ctx); err != nil {
			return t, err
		}
	}
	m, err := bench.Measure(ctx, step.Proposal.Config, step.Load)
	if err != nil {
		return t, err
	}
	t.Measurement = m
	for i := range t.Quality { // the texts are in the run directory
		t.Quality[i].Prompt, t.Quality[i].Reply = "", ""
	}
	return t, nil
}

// inspect holds a trial of the search against the default's: a speed that is not that of
// serving the model, or that costs quality, is not one.
func (p *planner) inspect(t *Trial, history []Trial) {
	if t.Outcome != OK || (t.Role != RoleDefault && t.Role != RoleSearch && t.Role != RoleIncumbent) {
		return
	}
	var base []Trial
	var items []archive.Checkpoint
	for i := range history {
		if history[i].Role == RoleDefault && history[i].Outcome == OK {
			base = append(base, history[i])
			items = append(items, history[i].Quality...)
		}
	}
	if v, bad := failed(judge(p.checks, base, []Trial{*t})); bad {
		p.refuse(t, Integrity, v.Check+": "+v.Message)
		return
	}
	for _, c := range quality.Compare(items, t.Quality, p.p.QualityMargin) {
		if c.Gate.Verdict == evalstats.GateFail {
			p.refuse(t, QualityFail, fmt.Sprintf("answers of kind %s got worse: %s", c.Kind, c.Gate))
			return
		}
	}
}

// refuse turns a trial that ended well into one that does not count.
func (p *planner) refuse(t *Trial, outcome Outcome, why string) {
	t.Outcome, t.Reason, t.Value = outcome, why, archive.Opt[float64]{}
}
