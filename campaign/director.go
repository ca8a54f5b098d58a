package campaign

import (
	"context"
	"fmt"

	"github.com/inferencebench/inferencebench/agents/director"
	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// EventTurnWriter is the kind of the event that says how many turns a model wrote.
const EventTurnWriter = "turn_writer"

// turnWriter lets a model write the later turns of a share of the sessions.
type turnWriter struct {
	ctx    context.Context
	share  float64
	seed   uint64
	caller *llm.Caller
	made   []*director.Turns
}

// newTurnWriter returns nil when no turn is to be written by a model.
func newTurnWriter(ctx context.Context, c *Config, getenv func(string) string, clock archive.Clock, record func(llm.Record)) (*turnWriter, error) {
	a := c.Agents
	if a.Turns == 0 {
		return nil, nil
	}
	caller, err := a.Caller(getenv, clock, record)
	if err != nil {
		return nil, err
	}
	return &turnWriter{ctx: ctx, share: a.Turns, seed: c.Seed, caller: caller}, nil
}

// turns wraps a source so that the model writes later turns of its sessions.
func (t *turnWriter) turns(s tasks.Source) (tasks.Source, error) {
	w, err := director.NewTurns(s, director.TurnConfig{Caller: t.caller, Share: t.share, Seed: t.seed, Context: t.ctx})
	if err != nil {
		return nil, Problems{{Field: "agents", Message: err.Error()}}
	}
	t.made = append(t.made, w)
	return w, nil
}

// event says how many turns the model wrote, and what became of the others.
func (t *turnWriter) event(now archive.Instant) archive.Event {
	var sum director.TurnStats
	for _, w := range t.made {
		s := w.Stats()
		sum.Eligible += s.Eligible
		sum.Written += s.Written
		sum.Late += s.Late
		sum.NoTime += s.NoTime
		sum.NoReply += s.NoReply
		sum.Invalid += s.Invalid
		sum.Failed += s.Failed
		sum.SendPath += s.SendPath
	}
	return archive.Event{
		T: now, Kind: EventTurnWriter, Severity: archive.SeverityInfo, Source: "director",
		Message: fmt.Sprintf("a model wrote %d of %d turns; the generator wrote the others (%d late, %d without a pause, %d without a reply, %d invalid, %d failed)",
			sum.Written, sum.Eligible, sum.Late, sum.NoTime, sum.NoReply, sum.Invalid, sum.Failed),
		Fields: map[string]any{"turns": sum},
	}
}
