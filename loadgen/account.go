package loadgen

import (
	"context"
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// announce emits the start of the phase, and the warnings that the plan alone deserves.
func (p *phase) announce() {
	fields := map[string]any{"load": p.load()}
	if p.Rate > 0 {
		fields["asked_rate"], fields["rate"] = p.Rate, p.Rate
	}
	if p.Concurrency > 0 {
		fields["asked_concurrency"], fields["concurrency"] = p.Concurrency, p.Concurrency
	}
	p.emit(p.start, archive.EventPhaseStart, archive.SeverityInfo, fields, "phase %s started: %s", p.Name, p.load())
	if total := p.Requests + p.Warmup.Requests; p.Requests > 0 && total < p.Concurrency {
		p.emit(p.start, EventConcurrency, archive.SeverityWarning,
			map[string]any{"asked_concurrency": p.Concurrency, "reached_concurrency": total},
			"%d requests cannot reach concurrency %d; at most %d will be open at once", total, p.Concurrency, total)
	}
	if p.budget.from.Known() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.measuring(p.budget.from)
	}
}

// measuring says that the measured window began, and sets the timer for its end. p.mu is
// held.
func (p *phase) measuring(at archive.Instant) {
	p.emit(at, archive.EventMeasureStart, archive.SeverityInfo, nil, "phase %s is measured from here", p.Name)
	if end := p.budget.end; end.Known() {
		p.timers = append(p.timers, time.AfterFunc(end.Sub(p.cfg.Clock.Now()), func() {
			p.endSends(end)
		}))
	}
}

// plan counts a turn that is due at the instant at, and says of what kind it is. False
// means that the phase has no more turns.
func (p *phase) plan(kind archive.Kind, at archive.Instant) (archive.Kind, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over && at >= p.overAt {
		return "", false
	}
	warm, began, ok := p.budget.claim(at)
	if began {
		p.measuring(at)
	}
	if !ok {
		return "", false
	}
	p.cfg.Live.Planned.Add(1)
	if !warm {
		p.progress.planned(at.Sub(p.budget.from))
	}
	switch {
	case kind == archive.KindCheckpoint:
		return kind, true
	case warm:
		return archive.KindWarmup, true
	case kind == "":
		return archive.KindLoad, true
	}
	return kind, true
}

// wait waits until a turn is due, and reports whether it came due before the sends ended.
// One that did, while this program was late, is to be planned, and will be recorded as
// unsent.
func (p *phase) wait(at archive.Instant) bool {
	if p.cfg.Pacer.Until(p.sends, at) == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return at < p.overAt
	}
	return at <= p.cfg.Clock.Now()
}

// enter waits for a slot and counts the request as open. The error is why it may not be
// sent any more.
func (p *phase) enter(rec *archive.Request) error {
	if p.slots != nil {
		p.cfg.Live.Waiting.Add(1)
		select {
		case p.slots <- struct{}{}:
		case <-p.sends.Done():
		}
		p.cfg.Live.Waiting.Add(-1)
	}
	if p.sends.Err() != nil {
		// A slot that was taken in the same instant is not given back: no request of
		// this phase will need it.
		return context.Cause(p.sends)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight++
	p.reached = max(p.reached, p.inFlight)
	p.sent++
	p.cfg.Live.Sent.Add(1)
	rec.InFlight = archive.Some(int(p.cfg.Live.InFlight.Add(1)))
	p.settledOne()
	return nil
}

// leave counts the request as over and frees its slot.
func (p *phase) leave(rec *archive.Request) {
	p.cfg.Live.InFlight.Add(-1)
	p.mu.Lock()
	p.inFlight--
	p.tally[rec.Status]++
	if rec.Status == archive.StatusOK && p.budget.from.Known() {
		p.progress.served(rec.T.Done.Sub(p.budget.from))
	}
	p.mu.Unlock()
	if p.slots != nil {
		<-p.slots
	}
	live := p.cfg.Live
	live.OutputTokens.Add(int64(rec.Usage.Completion.Or(0)))
	switch rec.Status {
	case archive.StatusOK:
		live.OK.Add(1)
	case archive.StatusFailed:
		live.Failed.Add(1)
	case archive.StatusCancelled:
		live.Cancelled.Add(1)
	}
}

// count counts a request that was never sent.
func (p *phase) count(rec *archive.Request) {
	p.cfg.Live.Cancelled.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally[rec.Status]++
	p.settledOne()
}

// waited completes the wait of a record that came back from the sender. The sender, if it
// says anything, counts from the intended instant, and so has the wait for the slot in its
// figure. What is left without the slot is waiting that nobody asked for.
func (p *phase) waited(rec *archive.Request, slot time.Duration) {
	inSender := time.Duration(rec.Conn.Wait.Or(0)) - slot
	if p.slots != nil || rec.Conn.Wait.Known() {
		rec.Conn.Wait = archive.Some(max(int64(slot), rec.Conn.Wait.Or(0)))
	}
	p.lags.add(rec.Conn.Lag)
	if !rec.T.Send.Known() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client.waited += max(0, inSender)
	p.client.served += max(0, rec.T.Done.Sub(rec.T.Send))
	if !p.client.first.Known() || rec.T.Send < p.client.first {
		p.client.first = rec.T.Send
	}
	p.client.last = max(p.client.last, rec.T.Done)
}

// client sums what tells whether the client held the load back.
type client struct {
	waited, served time.Duration   // inside the client for a connection, and with the server
	first, last    archive.Instant // send and end
}

// limited reports that a closed loop of the asked concurrency had fewer requests with the
// server on average, and that requests waited in the client at the same time: the mean
// number with the server, by Little's law.
func (c client) limited(asked int) (effective float64, yes bool) {
	span := c.last.Sub(c.first)
	if asked == 0 || span <= 0 {
		return 0, false
	}
	effective = c.served.Seconds() / span.Seconds()
	return effective, effective < 0.9*float64(asked) && c.waited > (c.waited+c.served)/20
}

// settledOne counts a planned turn that was sent or never will be, and ends the sends
// after the last one. p.mu is held.
func (p *phase) settledOne() {
	p.settled++
	if p.budget.spent() && p.settled == p.budget.planned() {
		p.endSendsLocked(p.cfg.Clock.Now(), errAllSent, max(p.Drain, 0), p.Drain != 0)
	}
}

// endSends ends the sends because the measured window or the phase is over.
func (p *phase) endSends(at archive.Instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	drain := p.Drain
	if drain == 0 {
		drain = DefaultDrain
	}
	p.endSendsLocked(at, errWindowOver, max(drain, 0), true)
}

// endSendsLocked says that sends are over and gives the open requests their time to
// finish. p.mu is held.
func (p *phase) endSendsLocked(at archive.Instant, cause error, drain time.Duration, bounded bool) {
	if p.over {
		return
	}
	p.over, p.overAt = true, at
	p.emit(at, archive.EventPhaseEnd, archive.SeverityInfo, nil, "phase %s: no more requests are sent", p.Name)
	p.stopSends(cause)
	if bounded {
		p.timers = append(p.timers, time.AfterFunc(drain, func() { p.cutOff(errDrained) }))
	}
}

// stopTimers stops the timers that have not fired.
func (p *phase) stopTimers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.timers {
		t.Stop()
	}
}

// drop records the arrival n as unsent because the backlog is full. False means that the
// phase has no more turns.
func (p *phase) drop(s *stream, n uint64, at archive.Instant) bool {
	kind, ok := p.plan("", at)
	if !ok {
		return false
	}
	p.mu.Lock()
	first := !p.dropped
	p.dropped = true
	p.mu.Unlock()
	if first {
		p.emit(at, EventBacklog, archive.SeverityWarning, map[string]any{"limit": p.MaxBacklog},
			"%d sessions are unfinished; further arrivals are recorded as unsent", p.MaxBacklog)
	}
	rec := &archive.Request{
		ID: p.cfg.NewID(), Session: p.sessionID(s, n), Phase: p.Name, Kind: kind, Tenant: s.Name, Class: s.Class,
		T: archive.Times{Intended: at}, Usage: archive.Usage{Source: archive.UsageNone},
	}
	p.unsent(rec, fmt.Sprintf("the backlog limit of %d unfinished sessions was reached", p.MaxBacklog))
	p.cfg.Record(rec)
	return true
}

// summarise emits what became of the phase.
func (p *phase) summarise() {
	now := p.cfg.Clock.Now()
	planned := p.budget.planned()
	fields := map[string]any{
		"planned": planned, "sent": p.sent, "ok": p.tally[archive.StatusOK],
		"failed": p.tally[archive.StatusFailed], "cancelled": p.tally[archive.StatusCancelled],
	}
	if p.Concurrency > 0 {
		fields["asked_concurrency"], fields["reached_concurrency"] = p.Concurrency, p.reached
		if p.reached < p.Concurrency {
			p.emit(now, EventConcurrency, archive.SeverityWarning,
				map[string]any{"asked_concurrency": p.Concurrency, "reached_concurrency": p.reached},
				"concurrency %d was asked for and %d was reached", p.Concurrency, p.reached)
		}
	}
	p.reportLag(now)
	if effective, yes := p.client.limited(min(p.Concurrency, p.reached)); yes {
		p.emit(now, EventClientLimited, archive.SeverityWarning,
			map[string]any{"asked_concurrency": p.Concurrency, "effective_concurrency": effective},
			"the client was the limit: concurrency %d was asked for, and only %.3g requests were with the server on average, while others waited in the client for a connection",
			p.Concurrency, effective)
	}
	if offered, served, yes := p.progress.overloaded(); yes && p.Phase.open() {
		p.emit(now, EventOverloaded, archive.SeverityWarning, map[string]any{"offered": offered, "served": served},
			"overloaded: offered %.3g requests/s, served %.3g requests/s", offered, served)
	}
	p.emit(now, EventPhaseDone, archive.SeverityInfo, fields, "phase %s is done: %d planned, %d sent, %d ok, %d failed, %d cancelled",
		p.Name, planned, p.sent, p.tally[archive.StatusOK], p.tally[archive.StatusFailed], p.tally[archive.StatusCancelled])
}
