package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/agents/proposer"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/propose"
)

// Files of a study with a model, beside the journal.
const (
	proposalsFile  = "proposals.jsonl" // what the model answered, for a study that goes on
	transcriptFile = "agents.jsonl"    // every call
)

// proposers are what proposes beside the search: rules, and a model where the study names
// one.
type proposers struct {
	caller *llm.Caller
	key    string
	log    *propose.Log
	calls  *transcript
}

// openProposers opens what a study's model needs in its folder. It dials nothing.
func openProposers(dir string, f *live.File) (*proposers, error) {
	p := &proposers{}
	if f.Agents.Model == "" {
		return p, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if p.key, err = f.Agents.Key(os.Getenv); err != nil {
		return nil, err
	}
	p.calls = &transcript{path: filepath.Join(dir, transcriptFile)}
	if p.caller, err = f.Agents.Caller(os.Getenv, archive.NewRunClock(), p.calls.add); err != nil {
		return nil, err
	}
	p.caller.MaxTokens = 1500
	p.log, err = propose.OpenLog(filepath.Join(dir, proposalsFile))
	return p, err
}

// strategies are the proposers of a study that was prepared.
func (p *proposers) strategies(ctx context.Context, s *live.Setup) []tuner.Strategy {
	goal := s.Study.Goal
	findings := propose.FromRuns(goal)
	members := []tuner.Strategy{propose.NewRules(s.Space, goal, findings)}
	if p.caller != nil {
		members = append(members, propose.NewModel(propose.ModelConfig{
			Space: s.Space, Goal: goal, Limits: s.Study.Constraints, Findings: findings, Knobs: s.Adapter.Knobs, Context: ctx, Log: p.log,
			Proposer: &proposer.Proposer{Caller: p.caller, Secrets: []string{p.key}},
		}))
	}
	return []tuner.Strategy{propose.NewPanel(goal, members...)}
}

// Close closes the files and says what could not be written.
func (p *proposers) Close() error {
	var err error
	if p.log != nil {
		err = p.log.Close()
	}
	if p.calls != nil {
		err = errors.Join(err, p.calls.failed())
	}
	return err
}

// transcript appends calls to a file.
type transcript struct {
	path string
	mu   sync.Mutex
	err  error
}

func (t *transcript) add(r llm.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, err := json.Marshal(r)
	if err != nil {
		t.err = errors.Join(t.err, err)
		return
	}
	f, err := os.OpenFile(t.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(append(b, '\n'))
		err = errors.Join(err, f.Close())
	}
	t.err = errors.Join(t.err, err)
}

func (t *transcript) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		return nil
	}
	return fmt.Errorf("the transcript of the model's calls is not whole: %w", t.err)
}
