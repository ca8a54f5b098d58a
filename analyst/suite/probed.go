package suite

import (
	"context"

	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim/faults"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// Probed is a case before and after its experiments.
type Probed struct {
	Before, After Case
	// Confidence is that of the verdict before and after.
	ConfidenceBefore, ConfidenceAfter string
	Outcomes                          []probe.Outcome
}

// maxProbes is how many experiments a diagnosis gets.
const maxProbes = 3

// PlayProbed plays a job, analyses it, makes the experiments that tell most, and lets them
// speak. An experiment sets one thing of the world otherwise, whatever the fault is.
func PlayProbed(ctx context.Context, j Job) Probed {
	p := Probed{Before: Case{Job: j}}
	fail := func(err error) Probed {
		p.Before.Err, p.After = err, Case{Job: j, Err: err}
		return p
	}
	var err error
	if j.Options.Engine, err = j.Combo.Engine(); err != nil {
		return fail(err)
	}
	if j.Options.Duration == 0 {
		j.Options.Duration = j.Combo.Duration
	}
	run, err := faults.Play(ctx, j.Condition, j.Options)
	if err != nil {
		return fail(err)
	}
	a, err := analyst.FromRecords(Input(run), analyst.Options{SLO: []string{Objective(run.Truth)}})
	if err != nil {
		return fail(err)
	}
	p.Before = Case{Job: j, Truth: run.Truth}
	p.Before.judge(a)
	p.ConfidenceBefore = a.Verdict.Confidence
	base := see(probe.Arm{Name: "as it was"}, run)
	if a.Verdict.State == archive.VerdictBottleneck || a.Verdict.State == archive.VerdictInconclusive {
		choices := probe.Choose(a.Findings)
		for _, c := range choices[:min(maxProbes, len(choices))] {
			seen := []probe.Seen{base}
			for _, arm := range c.Arms(base) {
				r, err := faults.Intervene(ctx, j.Condition, j.Options, change(arm))
				if err != nil {
					break // such a server does not start: the experiment cannot be made
				}
				seen = append(seen, see(arm, r))
			}
			p.Outcomes = append(p.Outcomes, c.Judge(seen))
		}
		probe.Apply(a, p.Outcomes)
	}
	p.After = Case{Job: j, Truth: run.Truth}
	p.After.judge(a)
	if a.Verdict.State == archive.VerdictInconclusive {
		p.After.Cause = ""
	}
	p.ConfidenceAfter = a.Verdict.Confidence
	return p
}

// RunProbed plays the jobs with their experiments, that many at a time, and returns them in
// order. done is told of each that ended, from one goroutine at a time.
func RunProbed(ctx context.Context, jobs []Job, parallel int, done func()) []Probed {
	return inParallel(jobs, parallel, func(j Job) Probed { return PlayProbed(ctx, j) }, func(int, *Probed) { done() })
}

// see reads a played condition as an experiment's arm.
func see(arm probe.Arm, r *faults.Run) probe.Seen {
	from, to := offline.Instant(0), r.Manifest.Ended
	for _, e := range r.Events {
		switch e.Kind {
		case archive.EventMeasureStart:
			from = e.T
		case archive.EventPhaseEnd:
			to = e.T
		}
	}
	return probe.See(arm, r.Requests, r.Samples, from, to)
}

// change makes an arm a change of the simulated world.
func change(a probe.Arm) faults.Change {
	c := faults.Change{Load: a.Load, Concurrency: a.Concurrency, Input: a.Input, Longest: a.Longest, Generators: a.Generators}
	if a.Repeat {
		c.Prefixes = 1
	}
	switch a.Server {
	case probe.DoubleCap:
		c.Cap = 2
	case probe.LeanHost:
		c.LeanHost = true
	case probe.HalfTP:
		c.HalfTP = true
	case probe.FullClock:
		c.FullClock = true
	case probe.NoDrafts:
		c.NoDrafts = true
	case probe.Alone:
		c.Alone = true
	}
	return c
}
