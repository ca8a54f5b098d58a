package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/inferencebench/inferencebench/tuner"
)

// board is the whole comparison.
type board struct {
	options options
	rows    []*row
}

// tally sums one strategy up over outcomes of one landscape, or over landscapes.
type tally struct {
	n                         float64 // landscapes or studies
	gain, share               float64 // means
	regret                    float64 // at half of the budget, in shares of the gap
	found                     float64
	worse, over, kept, studys int
	changes                   int
	trials, failed            float64
}

// on is a strategy's tally on a landscape.
func (r *row) on(name string) tally {
	var t tally
	n := float64(len(r.Outcomes[name]))
	for _, o := range r.Outcomes[name] {
		t.studys++
		t.gain += o.Gain / n
		t.found += o.Found / n
		t.trials += float64(o.Trials) / n
		t.failed += float64(o.Failed) / n
		if !r.spec.Still {
			t.share += o.Gain / r.Optimum / n
			t.regret += (r.Optimum - o.Half) / r.Optimum / n
		}
		if o.Worse {
			t.worse++
		}
		if o.Over {
			t.over++
		}
		if o.Decision == tuner.Keep {
			t.kept++
		} else {
			t.changes++
		}
	}
	t.n = 1
	return t
}

// over is a strategy's tally over all landscapes that are not still: means of means.
func (b *board) over(name string) tally {
	var t tally
	for _, r := range b.rows {
		if r.spec.Still {
			continue
		}
		o := r.on(name)
		t.n++
		t.gain, t.share, t.regret, t.found = t.gain+o.gain, t.share+o.share, t.regret+o.regret, t.found+o.found
		t.trials, t.failed = t.trials+o.trials, t.failed+o.failed
		t.worse, t.over, t.kept, t.studys, t.changes = t.worse+o.worse, t.over+o.over, t.kept+o.kept, t.studys+o.studys, t.changes+o.changes
	}
	if t.n > 0 {
		for _, v := range []*float64{&t.gain, &t.share, &t.regret, &t.found, &t.trials, &t.failed} {
			*v /= t.n
		}
	}
	return t
}

// spread is the standard error over the seeds of a strategy's mean gain over all landscapes.
func (b *board) spread(name string) float64 {
	variance, n := 0.0, 0.0
	for _, r := range b.rows {
		if r.spec.Still {
			continue
		}
		n++
		out := r.Outcomes[name]
		mean, k := r.on(name).gain, float64(len(out))
		for _, o := range out {
			if k > 1 {
				variance += (o.Gain - mean) * (o.Gain - mean) / (k - 1) / k
			}
		}
	}
	return math.Sqrt(variance) / max(n, 1)
}

func (b *board) line(r *row) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%-20s best %.2fx, prior %.2f:", r.spec.Name, math.Exp(r.Optimum), r.Agreement)
	for _, n := range b.options.strategies {
		t := r.on(n)
		fmt.Fprintf(&s, "  %s %.3fx (%.0f trials, %d kept)", n, math.Exp(t.gain), t.trials, t.kept)
	}
	return s.String()
}

// The demands on ours.
const (
	overRandom = 0.10 // of the gap
	keepShare  = 0.95 // of the studies of a still landscape
)

// verdict returns what ours fails of its demands, or nil.
func (b *board) verdict() error {
	var errs []error
	have := map[string]bool{}
	for _, n := range b.options.strategies {
		have[n] = true
	}
	if !have[ours] {
		return nil
	}
	t := b.over(ours)
	for _, n := range []string{"tpe", "forest"} {
		if have[n] && t.n > 0 && t.gain < b.over(n).gain {
			errs = append(errs, fmt.Errorf("%s reaches %.3fx, %s %.3fx", ours, math.Exp(t.gain), n, math.Exp(b.over(n).gain)))
		}
	}
	if have["random"] && t.n > 0 && t.share < b.over("random").share+overRandom {
		errs = append(errs, fmt.Errorf("%s closes %.3f of the gap, random %.3f", ours, t.share, b.over("random").share))
	}
	if t.worse > 0 {
		errs = append(errs, fmt.Errorf("%s certified %d configurations below the default", ours, t.worse))
	}
	for _, r := range b.rows {
		if !r.spec.Still {
			continue
		}
		o := r.on(ours)
		if float64(o.kept) < keepShare*float64(o.studys) {
			errs = append(errs, fmt.Errorf("%s: the default was kept in %d of %d", r.spec.Name, o.kept, o.studys))
		}
		if o.worse > 0 {
			errs = append(errs, fmt.Errorf("%s: %d configurations below the default were certified", r.spec.Name, o.worse))
		}
	}
	return errors.Join(errs...)
}
