package campaign

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/evals/sandbox"
	"github.com/inferencebench/inferencebench/tasks"
)

// checkpoints are the scored items of a run.
type checkpoints struct {
	sets  evals.Mix
	notes []archive.Annotation

	mu       sync.Mutex
	deferred []*archive.Request // to be scored after the load
}

// openCheckpoints opens the item sets that the campaign asks for; nil when it asks for
// none.
func openCheckpoints(ctx context.Context, c *Config) (*checkpoints, error) {
	if !c.Checkpoints.Enabled {
		return nil, nil
	}
	out := &checkpoints{}
	sel := evals.Selection{
		Kinds: c.Checkpoints.Kinds, Seed: c.Seed, GSM8K: c.Checkpoints.GSM8K, HumanEval: c.Checkpoints.HumanEval,
		LongTokens: c.Checkpoints.LongTokens,
	}
	if slices.Contains(sel.Kinds, evals.KindCode) || slices.Contains(sel.Kinds, "all") {
		run, off, err := out.codeRunner(ctx)
		if err != nil {
			return nil, err
		}
		sel.Runner, sel.Off = run, off
	}
	sets, err := evals.Open(sel)
	if err != nil {
		return nil, Problems{{Field: "checkpoints", Message: err.Error()}}
	}
	done, err := scoredItems(c.Checkpoints.Resume)
	if err != nil {
		return nil, Problems{{Field: "checkpoints.resume", Message: err.Error()}}
	}
	for _, s := range sets {
		s = s.Take(c.Seed, c.Checkpoints.Items)
		if rest := s.Without(done[s.Name]); len(rest.Items) > 0 {
			out.sets = append(out.sets, rest)
		}
	}
	if len(out.sets) == 0 {
		return nil, Problems{{Field: "checkpoints.resume", Message: "every item of that run is scored: there is nothing left to do"}}
	}
	return out, nil
}

// scoredItems are the items that a run has scored, by set; none for an empty dir.
func scoredItems(dir string) (map[string]map[string]bool, error) {
	done := map[string]map[string]bool{}
	if dir == "" {
		return done, nil
	}
	run, err := archive.Open(dir)
	if err != nil {
		return nil, err
	}
	for cp, err := range run.Checkpoints() {
		if err != nil || !cp.Score.Known() { // an unreadable or unscored item is asked again
			continue
		}
		if done[cp.Set] == nil {
			done[cp.Set] = map[string]bool{}
		}
		done[cp.Set][cp.Item] = true
	}
	return done, nil
}

// codeRunner opens the sandbox. Where it cannot be built, off is the reason, code is not
// run and its score is unknown.
func (c *checkpoints) codeRunner(ctx context.Context) (run evals.CodeRunner, off, err error) {
	r, err := sandbox.New(ctx, sandbox.Options{Workers: runtime.NumCPU()})
	if ue, ok := errors.AsType[*sandbox.UnavailableError](err); ok {
		c.notes = append(c.notes, archive.Annotation{Code: "no_sandbox", Message: "model-written code is not run here: " + ue.Error()})
		return nil, ue, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("sandbox: %w", err)
	}
	c.notes = append(c.notes, archive.Annotation{Code: "sandbox", Message: "model-written code runs in a sandbox: " + r.Support().String()})
	return r, nil, nil
}

// all sends every item once, set after set, and says how many there are.
func (c *checkpoints) all(seed uint64) (tasks.Source, int) {
	total := 0
	for _, s := range c.sets {
		total += len(s.Items)
	}
	return tasks.SourceFunc(func(i uint64) tasks.Session {
		i %= uint64(total)
		for _, s := range c.sets {
			if i < uint64(len(s.Items)) {
				return s.Source(seed).Session(i)
			}
			i -= uint64(len(s.Items))
		}
		panic("campaign: an item beyond the last")
	}), total
}

// score returns the checkpoint of a finished request, or keeps the request for finish
// when scoring takes longer than a moment.
func (c *checkpoints) score(rec *archive.Request) (archive.Checkpoint, bool) {
	if c.sets.Deferred(rec) {
		c.mu.Lock()
		c.deferred = append(c.deferred, rec)
		c.mu.Unlock()
		return archive.Checkpoint{}, false
	}
	cp := c.sets.Score(rec)
	cp.InFlight = rec.InFlight.Or(0)
	return cp, true
}

// finish scores what score kept, in parallel. It goes on when ctx ends: items that are
// left have no score and that reason.
func (c *checkpoints) finish(ctx context.Context, put func(archive.Checkpoint)) {
	queue := make(chan *archive.Request)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for rec := range queue {
				cp := c.sets.ScoreContext(ctx, rec)
				cp.InFlight = rec.InFlight.Or(0)
				put(cp)
			}
		})
	}
	for _, rec := range c.deferred {
		queue <- rec
	}
	close(queue)
	wg.Wait()
}
