package loadgen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Causes for which the sends of a phase end, or its open requests are cut.
var (
	errWindowOver = errors.New("the measured window of the phase is over")
	errAllSent    = errors.New("every request of the phase has been sent")
	errDrained    = errors.New("the drain time of the phase is over")
	errPhaseDone  = errors.New("the phase is done")
)

// Run carries out the phases in order. It returns when every planned request has been
// given to cfg.Record and no goroutine of it is left: nil when all phases came to their
// end, the cause wrapped when ctx ended first, in which case requests that were open are
// recorded as cancelled, and an error that says what is wrong when the plan is not valid
// or a source gives nothing to send.
func Run(ctx context.Context, cfg Config, phases []Phase) error {
	if err := Validate(cfg, phases); err != nil {
		return err
	}
	if cfg.Live == nil {
		cfg.Live = new(Live)
	}
	if cfg.Pacer == nil {
		cfg.Pacer = timerPacer{cfg.Clock}
	}
	if cfg.NewID == nil {
		var n atomic.Uint64
		cfg.NewID = func() string { return fmt.Sprintf("r%08d", n.Add(1)) }
	}
	defer reportPacing(&cfg)
	for i := range phases {
		if ctx.Err() != nil {
			return fmt.Errorf("load before phase %q: %w", phases[i].Name, context.Cause(ctx))
		}
		p := newPhase(ctx, &cfg, phases[i], i)
		if err := p.run(); err != nil {
			return fmt.Errorf("phase %q: %w", p.Name, err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("load in phase %q: %w", p.Name, context.Cause(ctx))
		}
	}
	return nil
}

// phase is one phase under way.
type phase struct {
	Phase
	cfg   *Config
	index int
	start archive.Instant

	parent context.Context
	// sends ends when no more turns may be sent, open when the requests that are open are
	// cut. open outlives sends.
	sends, open       context.Context
	stopSends, cutOff context.CancelCauseFunc
	slots             chan struct{} // nil without a cap

	mu       sync.Mutex
	budget   budget
	settled  int  // planned turns that were sent or will never be
	over     bool // sends are over
	overAt   archive.Instant
	timers   []*time.Timer
	fault    error
	sent     int
	tally    map[archive.Status]int
	inFlight int
	reached  int // most requests open at once
	progress progress
	client   client
	lags     lags
	dropped  bool

	sessions   sync.WaitGroup
	unfinished atomic.Int64 // sessions of an open loop
}

func newPhase(ctx context.Context, cfg *Config, plan Phase, index int) *phase {
	p := &phase{Phase: plan, cfg: cfg, index: index, parent: ctx, tally: map[archive.Status]int{}}
	p.sends, p.stopSends = context.WithCancelCause(ctx)
	p.open, p.cutOff = context.WithCancelCause(ctx)
	p.divide()
	if p.MaxInFlight > 0 {
		p.slots = make(chan struct{}, p.MaxInFlight)
	}
	if p.MaxBacklog == 0 {
		p.MaxBacklog = DefaultMaxBacklog
	}
	return p
}

// run carries the phase out.
func (p *phase) run() error {
	defer p.cutOff(errPhaseDone)
	defer p.stopSends(errPhaseDone)
	p.start = p.cfg.Clock.Now()
	p.budget = newBudget(&p.Phase, p.start)
	p.progress = newProgress(&p.Phase)
	p.announce()
	var pacing sync.WaitGroup
	for _, s := range p.streams() {
		if s.Concurrency > 0 {
			p.users(s)
		} else {
			pacing.Go(func() { p.arrive(s) })
		}
	}
	pacing.Wait()
	p.sessions.Wait()
	p.endSends(p.cfg.Clock.Now())
	p.stopTimers()
	p.summarise()
	return p.fault
}

// maxEmpty is how many sessions without a turn one user accepts in a row.
const maxEmpty = 1000

// fail ends the phase with an error.
func (p *phase) fail(err error) {
	p.mu.Lock()
	if p.fault == nil {
		p.fault = err
	}
	p.mu.Unlock()
	p.stopSends(err)
}
