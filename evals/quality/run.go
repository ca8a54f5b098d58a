package quality

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/evals/drift"
	"github.com/inferencebench/inferencebench/evals/nonsense"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/tasks"
)

// Options say what to ask of a server.
type Options struct {
	Sender loadgen.Sender
	Clock  archive.Clock
	Sets   []*evals.Set
	// Items is how many items of each set are sent; 0 sends all.
	Items int
	// Concurrency is how many are open at once; below 1 is 1.
	Concurrency int
	Seed        uint64
	// Repeats is how often each determinism prompt is asked alone and under load; 0 leaves
	// determinism out.
	Repeats int
	// Record and Checkpoint get everything as it happens; they may be nil, and must be
	// safe for concurrent use.
	Record     func(*archive.Request)
	Checkpoint func(archive.Checkpoint)
}

// Report is what a run showed.
type Report struct {
	Families    []Family
	Determinism []drift.Level
	Nonsense    nonsense.Summary
	// Requests were sent; Failed of them did not end well.
	Requests, Failed int
	Checkpoints      []archive.Checkpoint
}

// ErrAllFailed means that not one request ended well: there is nothing to report.
var ErrAllFailed = errors.New("every request failed")

// Run sends the items of every set, one set after another, and scores the replies. What
// has been gathered when ctx ends, or when a request cannot be sent, comes back with the
// error.
func Run(ctx context.Context, o Options) (*Report, error) {
	o.Concurrency = max(1, o.Concurrency)
	r := &run{o: o, tally: nonsense.NewTally()}
	var err error
	for i, s := range o.Sets {
		if err = r.set(ctx, i, s); err != nil {
			break
		}
	}
	if err == nil && o.Repeats > 0 {
		err = r.determinism(ctx)
	}
	r.report.Families = Families(r.report.Checkpoints)
	r.report.Nonsense = r.tally.Summary()
	if err == nil && r.report.Requests > 0 && r.report.Failed == r.report.Requests {
		err = ErrAllFailed
	}
	return &r.report, err
}

type run struct {
	o      Options
	mu     sync.Mutex
	tally  *nonsense.Tally
	report Report
}

// set sends one set and scores it: at once, or afterwards where scoring runs code.
func (r *run) set(ctx context.Context, i int, s *evals.Set) error {
	part := s.Take(r.o.Seed, r.o.Items)
	if len(part.Items) == 0 {
		return nil
	}
	var later []*archive.Request
	err := r.send(ctx, fmt.Sprintf("%d-%s", i+1, s.Kind), part.Source(r.o.Seed), len(part.Items)*max(1, part.Samples), r.o.Concurrency, func(rec *archive.Request) {
		if part.Deferred {
			r.mu.Lock()
			later = append(later, rec)
			r.mu.Unlock()
			return
		}
		r.keep(part.ScoreContext(ctx, rec))
	})
	var wg sync.WaitGroup
	for _, rec := range later {
		wg.Go(func() { r.keep(part.ScoreContext(ctx, rec)) })
	}
	wg.Wait()
	return err
}

func (r *run) keep(c archive.Checkpoint) {
	c.InFlight = r.o.Concurrency
	if r.o.Checkpoint != nil {
		r.o.Checkpoint(c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Checkpoints = append(r.report.Checkpoints, c)
}

// send drives n sessions of a source in a closed loop.
func (r *run) send(ctx context.Context, phase string, src tasks.Source, n, users int, each func(*archive.Request)) error {
	cfg := loadgen.Config{Sender: r.o.Sender, Clock: r.o.Clock, Seed: r.o.Seed, Record: func(rec *archive.Request) {
		r.seen(rec)
		each(rec)
	}}
	return loadgen.Run(ctx, cfg, []loadgen.Phase{{Name: phase, Source: src, Concurrency: min(users, n), Requests: n}})
}

func (r *run) seen(rec *archive.Request) {
	if r.o.Record != nil {
		r.o.Record(rec)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Requests++
	if rec.Status != archive.StatusOK {
		r.report.Failed++
		return
	}
	r.tally.Add(nonsense.Reply{Text: rec.Text, Reasoning: rec.Reasoning, Finish: rec.Finish}, rec.BodySHA256)
}

// determinismItems and its long-form prompts are what determinism is tried with.
const determinismItems = 6

// KindDeterminism is the task of determinism requests.
const KindDeterminism = "determinism"

var longForms = []string{
	"Describe, in about two hundred words, how a lighthouse keeper spends a day in winter.",
	"Explain in about two hundred words why bread rises, for a reader of twelve years.",
}

// determinism asks the same prompts alone and all at once, and compares every text with
// the first one that was given alone.
func (r *run) determinism(ctx context.Context) error {
	prompts := append([]string{}, longForms...)
	for _, it := range evals.Own(r.o.Seed).Take(r.o.Seed, determinismItems).Items {
		prompts = append(prompts, it.Prompt)
	}
	idle, err := r.repeat(ctx, "determinism-idle", prompts, r.o.Repeats, 1)
	if err != nil {
		return err
	}
	load, err := r.repeat(ctx, "determinism-load", prompts, r.o.Repeats, max(r.o.Concurrency, len(prompts)))
	if err != nil {
		return err
	}
	var alone, loaded []drift.Series
	for i, p := range prompts {
		if len(idle[i]) == 0 {
			continue
		}
		ref := idle[i][0]
		alone = append(alone, drift.Series{Prompt: p, Reference: ref, Replies: idle[i][1:]})
		loaded = append(loaded, drift.Series{Prompt: p, Reference: ref, Replies: load[i]})
	}
	r.report.Determinism = []drift.Level{drift.Measure("idle", alone, extract), drift.Measure("under_load", loaded, extract)}
	return nil
}

// extract reads the answer of a maths reply; other replies have none.
func extract(text string) string {
	visible, _ := answer.Visible(text)
	if n, method := answer.Extract(visible); method == answer.Strict || method == answer.Boxed || method == answer.Marker {
		return answer.Format(n)
	}
	return ""
}

const determinismTokens = 300

// repeat asks each prompt k times and returns the replies by prompt. Failed requests are
// left out.
func (r *run) repeat(ctx context.Context, phase string, prompts []string, k, users int) ([][]drift.Reply, error) {
	out := make([][]drift.Reply, len(prompts))
	index := map[string]int{}
	for i := range prompts {
		index[fmt.Sprint(KindDeterminism, "/", i)] = i
	}
	n := uint64(len(prompts))
	src := tasks.SourceFunc(func(i uint64) tasks.Session {
		return &once{turn: tasks.Turn{Kind: archive.KindCheckpoint, Task: KindDeterminism, Item: fmt.Sprint(KindDeterminism, "/", i%n),
			User: prompts[i%n], MaxTokens: determinismTokens, Temperature: archive.Some(0.0)}}
	})
	err := r.send(ctx, phase, src, len(prompts)*k, users, func(rec *archive.Request) {
		i, ok := index[rec.Item]
		if !ok || rec.Status != archive.StatusOK {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		out[i] = append(out[i], drift.Reply{Text: rec.Text, Cached: rec.Usage.Cached})
	})
	return out, err
}

type once struct {
	turn tasks.Turn
	done bool
}

// Next returns the one turn, once.
func (o *once) Next(string) (tasks.Turn, bool) {
	if o.done {
		return tasks.Turn{}, false
	}
	o.done = true
	return o.turn, true
}
