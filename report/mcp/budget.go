package mcp

import (
	"fmt"
	"sync"
	"time"
)

// Limits are what the operator allows one session.
type Limits struct {
	Time     time.Duration // that tools work, added up
	Requests int           // that runs and studies send
	// Ceilings of one run.
	Concurrency int
	Rate        float64 // sessions a second
	Duration    time.Duration
}

// DefaultLimits are modest: half an hour and 20,000 requests, 64 users or 20 sessions a
// second for five minutes at a time.
func DefaultLimits() Limits {
	return Limits{Time: 30 * time.Minute, Requests: 20_000, Concurrency: 64, Rate: 20, Duration: 5 * time.Minute}
}

// Left is what is left of a session's budget.
type Left struct {
	Seconds  float64 `json:"seconds"`
	Requests int     `json:"requests"`
}

// budget counts what a session spends, and lets one tool work at a time.
type budget struct {
	limits Limits
	now    func() time.Time

	mu    sync.Mutex
	busy  string // the tool at work
	since time.Time
	spent time.Duration
	sent  int
}

// begin takes the turn, or says why not. end must be called with what was sent.
func (b *budget) begin(tool string) *Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.left()
	switch {
	case b.busy != "":
		return fault(Busy, b.busy+" is at work", "wait until it has ended: two loads at a time would spoil each other")
	case left.Seconds <= 0:
		return fault(BudgetSpent, fmt.Sprintf("the session's %v are used up", b.limits.Time), "the operator can start the server with a larger --budget")
	case left.Requests <= 0:
		return fault(BudgetSpent, fmt.Sprintf("the session's %d requests are used up", b.limits.Requests), "the operator can start the server with more --requests")
	}
	b.busy, b.since = tool, b.now()
	return nil
}

func (b *budget) end(requests int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent += b.now().Sub(b.since)
	b.sent += max(requests, 0)
	b.busy = ""
}

// after is what will be left once the tool at work has ended with so many requests.
func (b *budget) after(requests int) Left {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.left()
	return Left{max(l.Seconds-b.now().Sub(b.since).Seconds(), 0), max(l.Requests-requests, 0)}
}

// left is called with the lock held.
func (b *budget) left() Left {
	return Left{max((b.limits.Time - b.spent).Seconds(), 0), max(b.limits.Requests-b.sent, 0)}
}

// Left is what is left.
func (b *budget) Left() Left {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left()
}
