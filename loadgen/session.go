package loadgen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// reconnectPause is how long a user of a closed loop waits after a request that could not
// even reach the server, so that a dead server is not hammered and the record of it
// stays short.
const reconnectPause = 100 * time.Millisecond

// session carries out session n of the phase, whose first turn is due at the instant at.
// It returns when the user is free again, how many turns were planned, and whether the
// phase has no more turns to give.
func (p *phase) session(s *stream, n uint64, at archive.Instant) (free archive.Instant, turns int, stop bool) {
	number, id := p.sessionNumber(s, n), p.sessionID(s, n)
	source := s.Source.Session(number)
	chat := conversation{policy: p.cfg.History, tenant: &s.Tenant}
	reply := ""
	for {
		t, more := source.Next(reply)
		if !more {
			return at, turns, false
		}
		if turns > 0 && t.Think > 0 {
			at = at.Add(t.Think)
			if !p.wait(at) {
				return at, turns, true
			}
		}
		chat.ask(&t)
		if p.overflows(&chat, &t, id, turns) {
			return at, turns, false
		}
		var patience time.Duration
		if p.Patience != nil {
			patience = p.Patience(number, turns)
		}
		rec, ok := p.turn(id, turns, &t, &chat, at, patience)
		if !ok {
			return at, turns, true
		}
		turns++
		at = rec.T.Done
		status, failed := rec.Status, ""
		if rec.Error != nil {
			failed = rec.Error.Kind
		}
		if status == archive.StatusOK {
			reply = chat.answered(rec)
		}
		p.cfg.Record(rec)
		if status != archive.StatusOK {
			if unreachable(failed) {
				at = at.Add(reconnectPause)
			}
			return at, turns, status == archive.StatusCancelled && failed != archive.FailAbandoned
		}
	}
}

// unreachable reports a failure in which no request reached the server.
func unreachable(kind string) bool {
	switch kind {
	case archive.FailConnect, archive.FailTLS, archive.FailTimeoutConnect, archive.FailClientPorts, archive.FailClientFiles:
		return true
	}
	return false
}

// overflows reports whether the turn would pass the server's context limit, with an event
// that says so.
func (p *phase) overflows(chat *conversation, t *tasks.Turn, id string, turn int) bool {
	if p.cfg.ContextLimit == 0 {
		return false
	}
	size, known := chat.size(t)
	if !known || size+max(t.MaxTokens, 1) <= p.cfg.ContextLimit {
		return false
	}
	p.emit(p.cfg.Clock.Now(), EventSessionEnd, archive.SeverityInfo, map[string]any{
		"session": id, "turn": turn, "reason": ReasonContextLimit,
		"prompt_tokens": size, "max_tokens": t.MaxTokens, "limit": p.cfg.ContextLimit,
	}, "session %s ended before turn %d: about %d prompt tokens and %d to generate pass the context limit of %d",
		id, turn, size, max(t.MaxTokens, 1), p.cfg.ContextLimit)
	return true
}

// turn plans and carries out one turn. Without a record the phase has no more turns. The
// record has not been handed on yet.
func (p *phase) turn(id string, turn int, t *tasks.Turn, chat *conversation, at archive.Instant, patience time.Duration) (*archive.Request, bool) {
	kind, ok := p.plan(t.Kind, at)
	if !ok {
		return nil, false
	}
	rec := &archive.Request{
		ID: p.cfg.NewID(), Session: id, Turn: turn, Phase: p.Name, Task: t.Task, Kind: kind, Item: t.Item,
		Tenant: chat.tenant.Name, Class: chat.tenant.Class,
		T:     archive.Times{Intended: at},
		Usage: archive.Usage{Source: archive.UsageNone},
		Asked: archive.Asked{PromptTokens: t.PromptTokens, SharedPrefix: t.SharedPrefix},

		Annotations: slices.Clone(t.Notes),
	}
	if t.MaxTokens > 0 {
		rec.Asked.MaxTokens = archive.Some(t.MaxTokens)
	}
	asked := p.cfg.Clock.Now()
	if err := p.enter(rec); err != nil {
		p.unsent(rec, fmt.Sprintf("not sent: %v", err))
		return rec, true
	}
	wait := p.cfg.Clock.Now().Sub(asked)
	call := &wire.Call{
		ID: rec.ID, Messages: chat.messages, MaxTokens: t.MaxTokens, Temperature: t.Temperature,
		IgnoreEOS: t.IgnoreEOS, Stop: t.Stop,
	}
	if p.cfg.SessionHeader != "" {
		call.Header = map[string]string{p.cfg.SessionHeader: id}
	}
	ctx, leave := p.patient(at, patience)
	p.send(ctx, call, rec)
	p.settle(ctx, rec, wait)
	earlyEnd(rec, t.IgnoreEOS, t.MaxTokens)
	leave()
	p.leave(rec)
	return rec, true
}

// settle completes a record that came back from the sender.
func (p *phase) settle(ctx context.Context, rec *archive.Request, wait time.Duration) {
	if !rec.T.Done.Known() {
		rec.T.Done = p.cfg.Clock.Now()
	}
	p.waited(rec, wait)
	switch rec.Status {
	case archive.StatusOK:
		rec.Error = nil
		return
	case archive.StatusFailed, archive.StatusCancelled:
	default:
		rec.Status = archive.StatusFailed
	}
	if rec.Error == nil {
		rec.Error = &archive.Failure{Kind: archive.FailInternal, Message: "the sender gave no reason"}
	}
	if rec.Status == archive.StatusCancelled {
		cause := context.Cause(ctx)
		switch {
		case errors.Is(cause, errImpatient):
			rec.Error.Kind, rec.Error.Message = archive.FailAbandoned, cause.Error()
		case cause != nil:
			rec.Error.Kind, rec.Error.Message = archive.FailEnded, fmt.Sprintf("open when the load ended: %v", cause)
		default:
			rec.Error.Kind = archive.FailEnded
		}
	}
}

// unsent completes the record of a request that was planned and never sent.
func (p *phase) unsent(rec *archive.Request, why string) {
	rec.Status = archive.StatusCancelled
	rec.Error = &archive.Failure{Kind: archive.FailUnsent, Message: why}
	rec.T.Done = p.cfg.Clock.Now()
	p.count(rec)
}
