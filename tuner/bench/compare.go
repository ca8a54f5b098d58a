package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/landscape"
	"github.com/inferencebench/inferencebench/tuner/search"
)

// ours is the strategy that the others are compared with; advised is the same with rules and
// a model that propose too, plain the same without a prior.
const (
	ours    = "loop"
	advised = "loop-advised"
	plain   = "loop-no-prior"
)

// all lists the strategies, ours first.
func all() []string { return []string{ours, advised, plain, "gp", "tpe", "forest", "random", "sobol"} }

// outcome is what came of one study.
type outcome struct {
	Decision tuner.Decision
	// Gain is the true gain of what was certified, as a logarithm; 0 where the default was
	// kept or where what was certified is worth nothing.
	Gain float64
	// Worse says that what was certified is truly below the default, Over that it truly
	// exceeds a limit.
	Worse, Over bool
	// Found is the largest true gain of anything tried, Half of anything tried in the first
	// half of the budget.
	Found, Half float64
	Trials      int // of the search
	Failed      int // of these, that did not end well
}

// row is a landscape and what came of every study on it.
type row struct {
	spec      *landscape.Spec
	Optimum   float64
	Agreement float64              // rank correlation of prior and truth
	Census    [5]int               // as Census returns them
	Outcomes  map[string][]outcome // by strategy, in the order of the seeds
}

// compare runs every strategy with every seed on a landscape.
func compare(ctx context.Context, o options, spec *landscape.Spec) (*row, error) {
	l, err := spec.Build(ctx, o.workers, o.cache)
	if err != nil {
		return nil, err
	}
	prior, err := l.Prior(ctx, o.workers)
	if err != nil {
		return nil, fmt.Errorf("landscape %s: %w", spec.Name, err)
	}
	opinion := search.Consult(l.Space(), prior)
	r := &row{spec: spec, Agreement: agreement(l, prior), Outcomes: map[string][]outcome{}}
	_, r.Optimum = l.Optimum()
	r.Census[0], r.Census[1], r.Census[2], r.Census[3], r.Census[4] = l.Census()
	for _, name := range o.strategies {
		out := make([]outcome, o.seeds)
		errs := make([]error, o.seeds)
		var wg sync.WaitGroup
		for w := range o.workers {
			wg.Go(func() {
				for i := w; i < o.seeds; i += o.workers {
					seed := uint64(o.first + i)
					var s tuner.Strategy
					if s, errs[i] = strategy(ctx, name, l, opinion, seed); errs[i] == nil {
						out[i], errs[i] = study(ctx, l, s, seed, o.budget)
					}
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return nil, fmt.Errorf("landscape %s, %s: %w", spec.Name, name, err)
		}
		r.Outcomes[name] = out
	}
	return r, nil
}

func strategy(ctx context.Context, name string, l *landscape.Landscape, opinion *search.Opinion, seed uint64) (tuner.Strategy, error) {
	s, goal := l.Space(), l.Spec.Goal()
	switch name {
	case ours:
		return search.NewLoop(s, search.Options{Goal: goal, Seed: seed, Prior: opinion}), nil
	case advised:
		panel, err := advisers(ctx, l)
		return search.NewLoop(s, search.Options{Goal: goal, Seed: seed, Prior: opinion, Others: []tuner.Strategy{panel}}), err
	case plain:
		return search.NewLoop(s, search.Options{Goal: goal, Seed: seed}), nil
	case "gp":
		return search.NewGP(s, goal, seed), nil
	case "tpe":
		return search.NewTPE(s, goal), nil
	case "forest":
		return search.NewForest(s, goal, seed), nil
	case "sobol":
		return search.NewSobol(s, seed), nil
	}
	return search.NewRandom(s), nil
}

// study runs one strategy through the protocol and holds what it certified against the truth.
func study(ctx context.Context, l *landscape.Landscape, s tuner.Strategy, seed uint64, budget time.Duration) (outcome, error) {
	q := tuner.Study{Name: l.Spec.Name, Seed: seed, Goal: l.Spec.Goal(), Budget: tuner.Budget{Time: budget}}
	if _, ok := s.(*search.Loop); ok {
		q.Protocol.DefaultRungs = []int{1, 0}
	}
	res, err := tuner.Run(ctx, q, l.Bench(seed), s, tuner.Options{})
	if err != nil {
		return outcome{}, err
	}
	if res.Decision == tuner.Interrupted {
		return outcome{}, fmt.Errorf("interrupted: %s", res.Reason)
	}
	out := outcome{Decision: res.Decision}
	if res.Decision == tuner.Change {
		g, holds := l.Gain(res.Config)
		t := l.Truth(res.Config)
		out.Over = !holds && t.Outcome == tuner.OK
		out.Worse = t.Outcome != tuner.OK || (holds && g < 0)
		if holds {
			out.Gain = g
		}
	}
	var spent time.Duration
	for i := range res.Trials {
		t := &res.Trials[i]
		spent += t.Took
		if t.Role != tuner.RoleSearch {
			continue
		}
		out.Trials++
		if t.Outcome != tuner.OK {
			out.Failed++
		}
		if g, holds := l.Gain(t.Config); holds {
			out.Found = max(out.Found, g)
			if spent <= budget/2 {
				out.Half = max(out.Half, g)
			}
		}
	}
	return out, nil
}
