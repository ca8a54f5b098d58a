// Package pace waits for due times more exactly than timers can.
//
// The runtime's timers are good to about a millisecond in an idle process: the network
// poller rounds its wait up to whole milliseconds. A [Pacer] has an operating-system
// thread to itself, which sleeps until shortly before an instant with an absolute
// clock_nanosleep and a timer slack of one nanosecond, and then wakes the goroutine that
// waits. That one spins for the rest, so that what it takes to be woken is over when the
// instant comes. The end of each wait is compared with its instant, and [Pacer.Stats] tells
// how far off the machine was.
//
// On systems other than Linux, and on a machine with one processor, where spinning would
// starve the goroutines that send, a Pacer waits with timers; [Stats.Method] says so.
package pace

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Spin is how long before an instant the thread stops sleeping and the waiter begins to spin:
// on an idle machine more than nine in ten wakes, first of the thread and then of the waiter,
// are within it.
const Spin = 130 * time.Microsecond

// The methods of a Pacer.
const (
	MethodThread = "thread" // own thread, absolute sleep, spin
	MethodTimer  = "timer"  // the runtime's timers
)

// ErrClosed is returned for waits on a closed Pacer.
var ErrClosed = errors.New("pace: the pacer is closed")

// Pacer waits for instants of a run's clock. It is safe for concurrent use: one waiter at
// a time has the thread, which is the loop that paces a phase, and others wait with
// timers. It implements loadgen.Pacer.
type Pacer struct {
	clock  archive.Clock
	method string

	busy   chan struct{} // holds a token while a waiter has the thread
	ask    chan request
	quit   chan struct{}
	done   chan struct{} // closed when the thread has ended
	closed sync.Once
	over   overshoot
}

// request is an instant for the thread to wake at.
type request struct {
	at    archive.Instant
	stop  *atomic.Bool // set when the waiter has given up
	reply chan archive.Instant
}

// New starts a Pacer on the run's clock. Close it to end its thread.
func New(clock archive.Clock) *Pacer {
	p := &Pacer{
		clock: clock, method: MethodTimer,
		busy: make(chan struct{}, 1), ask: make(chan request), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if supported() {
		p.method = MethodThread
		go p.thread()
	} else {
		close(p.done)
	}
	return p
}

// Close ends the thread, and with it every wait. It may be called twice.
func (p *Pacer) Close() {
	p.closed.Do(func() { close(p.quit) })
	<-p.done
}

// Until waits for the instant at. It returns nil then, or at once when that is past, and
// never early; the cause when ctx ends first; and [ErrClosed] after Close.
func (p *Pacer) Until(ctx context.Context, at archive.Instant) error {
	if err := p.ended(ctx); err != nil || at.Sub(p.clock.Now()) <= 0 {
		return err
	}
	if p.method == MethodThread {
		select {
		case p.busy <- struct{}{}:
			defer func() { <-p.busy }()
			return p.onThread(ctx, at)
		default:
		}
	}
	return p.onTimer(ctx, at)
}

func (p *Pacer) ended(ctx context.Context) error {
	select {
	case <-p.quit:
		return ErrClosed
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// onThread has the thread wake at the instant. A wait that is given up leaves the thread
// asleep for at most a slice.
func (p *Pacer) onThread(ctx context.Context, at archive.Instant) error {
	r := request{at: at, stop: new(atomic.Bool), reply: make(chan archive.Instant, 1)}
	select {
	case p.ask <- r:
	case <-p.quit:
		return ErrClosed
	}
	select {
	case woke := <-r.reply:
		if !woke.Known() {
			return ErrClosed
		}
		for woke < at {
			woke = p.clock.Now()
		}
		p.over.add(woke.Sub(at))
		return nil
	case <-ctx.Done():
		r.stop.Store(true)
		<-r.reply
		return context.Cause(ctx)
	}
}

// onTimer waits with timers.
func (p *Pacer) onTimer(ctx context.Context, at archive.Instant) error {
	for {
		d := at.Sub(p.clock.Now())
		if d <= 0 {
			if p.method == MethodTimer {
				p.over.add(-d)
			}
			return nil
		}
		timer := time.NewTimer(d)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-p.quit:
			timer.Stop()
			return ErrClosed
		}
	}
}

// Stats is what the pacer knows of itself.
type Stats struct {
	Method string // MethodThread or MethodTimer
	Waits  int64  // waits that came to their instant
	// P50, P99 and Max are how late the wakes were, within 10 % of the truth; zero when
	// there was no wait.
	P50, P99, Max time.Duration
}

// Stats returns the figures so far.
func (p *Pacer) Stats() Stats {
	s := p.over.stats()
	s.Method = p.method
	return s
}

// overshoot is a histogram of times with ten buckets to the e-fold.
type overshoot struct {
	buckets [300]atomic.Int64
	max     atomic.Int64
}

const perEfold = 10

func (o *overshoot) add(d time.Duration) {
	d = max(d, 1)
	i := min(int(perEfold*math.Log(float64(d))), len(o.buckets)-1)
	o.buckets[i].Add(1)
	for {
		old := o.max.Load()
		if int64(d) <= old || o.max.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

func (o *overshoot) stats() Stats {
	var s Stats
	var counts [len(o.buckets)]int64
	for i := range counts {
		counts[i] = o.buckets[i].Load()
		s.Waits += counts[i]
	}
	s.Max = time.Duration(o.max.Load())
	quantile := func(q float64) time.Duration {
		left := int64(math.Ceil(q * float64(s.Waits)))
		for i, n := range counts {
			if left -= n; left <= 0 && n > 0 {
				return min(s.Max, time.Duration(math.Exp((float64(i)+0.5)/perEfold)))
			}
		}
		return 0
	}
	s.P50, s.P99 = quantile(0.50), quantile(0.99)
	return s
}
