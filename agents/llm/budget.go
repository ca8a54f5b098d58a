package llm

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrBudget is in the chain of the error for a call that was not made because the budget
// is used up.
var ErrBudget = errors.New("the budget for model calls is used up")

// Limits bound what the agents of a run may spend. A zero field is no limit.
type Limits struct {
	Calls  int
	Tokens int           // prompt and answer together
	USD    float64       // by Price
	Time   time.Duration // that calls took, added up
}

// Price is what a model costs, in US dollars a million tokens.
type Price struct{ In, Out float64 }

// Cost is the price of one answer.
func (p Price) Cost(in, out int) float64 { return (p.In*float64(in) + p.Out*float64(out)) / 1e6 }

// Spent is what was used so far.
type Spent struct {
	Calls  int           `json:"calls"`
	In     int           `json:"tokens_in"`
	Out    int           `json:"tokens_out"`
	USD    float64       `json:"usd"`
	Time   time.Duration `json:"time_ns"`
	Denied int           `json:"denied"` // calls not made for want of budget
}

// Budget counts what is spent against limits. A nil Budget has none. It is safe for
// concurrent use; calls that are open at the same time may pass a limit together by the
// size of those calls, but never the limit on calls.
type Budget struct {
	mu     sync.Mutex
	limits Limits
	spent  Spent
}

// NewBudget makes a budget of which nothing is spent.
func NewBudget(l Limits) *Budget { return &Budget{limits: l} }

// Spent returns what was used so far.
func (b *Budget) Spent() Spent {
	if b == nil {
		return Spent{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// reserve counts a call that is about to be made, or says why it may not be.
func (b *Budget) reserve() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l, s := b.limits, &b.spent
	var over string
	switch {
	case l.Calls > 0 && s.Calls >= l.Calls:
		over = fmt.Sprintf("%d calls", l.Calls)
	case l.Tokens > 0 && s.In+s.Out >= l.Tokens:
		over = fmt.Sprintf("%d tokens", l.Tokens)
	case l.USD > 0 && s.USD >= l.USD:
		over = fmt.Sprintf("%g USD", l.USD)
	case l.Time > 0 && s.Time >= l.Time:
		over = fmt.Sprintf("%s of calls", l.Time)
	default:
		s.Calls++
		return nil
	}
	s.Denied++
	return fmt.Errorf("%w: %s", ErrBudget, over)
}

func (b *Budget) settle(in, out int, usd float64, took time.Duration) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent.In += in
	b.spent.Out += out
	b.spent.USD += usd
	b.spent.Time += took
}
