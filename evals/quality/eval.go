package quality

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/evals/sandbox"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// Config is an evaluation of one server: what `inferencebench eval` does.
type Config struct {
	// URL is the server, with or without /v1; Model the model, "" when it serves one.
	URL, Model string
	// Key is a bearer key. It reaches no file and no error text.
	Key    string
	Header http.Header
	// Kinds, GSM8K, HumanEval and LongTokens choose the items; see evals.Selection.
	Kinds            []string
	GSM8K, HumanEval string
	LongTokens       []int
	// Items of each set are sent; 0 sends all. MaxTokens, when above 0, replaces the output
	// limit of every item, as reasoning models need.
	Items, MaxTokens int
	Concurrency      int
	Repeats          int
	Seed             uint64
	// RunCode allows running model-written code in the sandbox.
	RunCode bool
	// Note gets one-line facts about the set-up, such as what the sandbox uses; nil drops
	// them.
	Note func(string)
	// Record and Checkpoint are those of Options.
	Record     func(*archive.Request)
	Checkpoint func(archive.Checkpoint)
}

// probeTimeout bounds the look at the server before the first item.
const probeTimeout = 30 * time.Second

// Eval looks at the server, opens the sets and runs them.
func Eval(ctx context.Context, c Config) (*Report, error) {
	note := c.Note
	if note == nil {
		note = func(string) {}
	}
	base, err := engines.NormalizeBase(c.URL)
	if err != nil {
		return nil, err
	}
	header := c.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if c.Key != "" {
		header.Set("Authorization", "Bearer "+c.Key)
	}
	probeCtx, cancel := context.WithTimeout(ctx, probeTimeout)
	id, err := engines.Probe(probeCtx, &http.Client{}, base, header)
	cancel()
	if err != nil {
		return nil, err
	}
	model, err := id.Choose(c.Model)
	if err != nil {
		return nil, err
	}
	note(fmt.Sprintf("server %s: %s %s, model %s", engines.Redact(base), id.Engine, id.Version, model.ID))

	var runner evals.CodeRunner
	var off error
	if all := slices.Contains(c.Kinds, "all"); all || slices.Contains(c.Kinds, evals.KindCode) {
		runner, off = newRunner(ctx, c.RunCode, note)
	}
	sets, err := evals.Open(evals.Selection{Kinds: c.Kinds, Seed: c.Seed, GSM8K: c.GSM8K, HumanEval: c.HumanEval, Runner: runner, Off: off, LongTokens: c.LongTokens})
	if err != nil {
		return nil, err
	}
	if c.MaxTokens > 0 {
		for _, s := range sets {
			for i := range s.Items {
				s.Items[i].MaxTokens = c.MaxTokens
			}
		}
	}
	clock := archive.NewRunClock()
	client, err := wire.New(wire.Config{BaseURL: base, Model: model.ID, Key: c.Key, Header: c.Header, Clock: clock})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return Run(ctx, Options{Sender: client, Clock: clock, Sets: sets, Items: c.Items, Concurrency: c.Concurrency, Seed: c.Seed,
		Repeats: c.Repeats, Record: c.Record, Checkpoint: c.Checkpoint})
}

// newRunner builds the sandbox, or says why code is not run.
func newRunner(ctx context.Context, allowed bool, note func(string)) (evals.CodeRunner, error) {
	if !allowed {
		return nil, fmt.Errorf("running code was not asked for")
	}
	r, err := sandbox.New(ctx, sandbox.Options{})
	if err != nil {
		note(err.Error())
		return nil, err
	}
	note(r.Support().String())
	return r, nil
}

// WriteItems writes one line of text an item for reading through: what was asked, what
// came back and how it was scored.
func WriteItems(path string, all []archive.Checkpoint) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for _, c := range all {
		score := "unscored"
		if s, ok := c.Score.Get(); ok {
			score = fmt.Sprintf("score %g", s)
		}
		if _, err := fmt.Fprintf(f, "=== %s %s: %s by %q, extracted %q, expected %q %s\n%s\n--- reply\n%s\n\n", c.Kind, c.Item, score, c.Method, c.Extracted.Or(""), c.Expected, c.Reason, c.Prompt, c.Reply); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}
