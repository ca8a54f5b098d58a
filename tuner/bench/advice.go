package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/agents/proposer"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/landscape"
	"github.com/inferencebench/inferencebench/tuner/propose"
)

// advice are the replies of a stand-in for a language model, by kind of traffic: what is
// commonly advised, written down before the landscapes were tuned. Some of it is wrong for
// the case, and some names settings that a landscape does not have.
//
//go:embed advice.json
var advice []byte

// cassette replays the replies of one kind of traffic in turn, the last one again and again.
type cassette struct {
	mu      sync.Mutex
	replies []json.RawMessage
	at      int
}

// Name implements llm.Model.
func (*cassette) Name() string { return "cassette" }

// Generate implements llm.Model.
func (c *cassette) Generate(context.Context, llm.Request) (llm.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.replies[min(c.at, len(c.replies)-1)]
	c.at++
	return llm.Response{Answer: r, Text: string(r)}, nil
}

// advisers are the rules, told what limits the default, and the model, through the same
// checks as in a study.
func advisers(ctx context.Context, l *landscape.Landscape) (tuner.Strategy, error) {
	var replies map[string][]json.RawMessage
	if err := json.Unmarshal(advice, &replies); err != nil {
		return nil, fmt.Errorf("advice.json: %w", err)
	}
	script, ok := replies[l.Spec.Scenario]
	if !ok {
		return nil, fmt.Errorf("advice.json: no replies for %q", l.Spec.Scenario)
	}
	var knobs []engines.Knob
	if vllm, ok := engines.Lookup("vllm"); ok {
		knobs = vllm.Knobs
	}
	findings := func([]tuner.Trial) []archive.Finding {
		if l.Spec.Cause == "" {
			return nil
		}
		return []archive.Finding{{Cause: l.Spec.Cause, Role: "primary", Score: 0.7, Title: l.Spec.About}}
	}
	goal := l.Spec.Goal()
	model := propose.NewModel(propose.ModelConfig{
		Space: l.Space(), Goal: goal, Findings: findings, Knobs: knobs, Context: ctx,
		Proposer: &proposer.Proposer{Caller: &llm.Caller{Model: &cassette{replies: script}, Clock: archive.NewRunClock()}},
	})
	return propose.NewPanel(goal, propose.NewRules(l.Space(), goal, findings), model), nil
}
