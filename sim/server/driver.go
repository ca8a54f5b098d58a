package server

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/sim"
)

// driver runs the engine against the wall clock. Simulated time is elapsed wall time times
// speed while the engine is idle; while it is busy, steps follow each other without gaps
// on the simulated clock and the wall clock is caught up with by sleeping to each step's
// end, so that a late wake-up delays delivery once and distorts no later step.
type driver struct {
	speed float64
	base  time.Time
	wake  chan struct{}
	quit  chan struct{}
	gone  chan struct{}

	mu      sync.Mutex // guards all below and the engine
	eng     *sim.Engine
	front   sim.Frontend
	cfg     Config
	rng     *rand.Rand
	now     time.Duration // the engine's clock
	pending []arrival     // in the frontend, in order
	behind  time.Duration
	stopped bool
}

type arrival struct {
	ready time.Duration
	req   *sim.Request
}

// maxBehind is how far the engine's clock may trail the wall clock before it jumps.
const maxBehind = 250 * time.Millisecond

func newDriver(eng *sim.Engine, cfg Config, index int) *driver {
	d := &driver{
		speed: cfg.Speed, base: time.Now(), eng: eng, front: sim.Frontend{Cost: cfg.Frontend}, cfg: cfg,
		rng:  rand.New(rand.NewPCG(cfg.Sim.Seed, uint64(index))),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), gone: make(chan struct{}),
	}
	eng.Emit = func(r *sim.Request, n int, at time.Duration) {
		s := r.User.(*stream)
		d.slow(at)
		at = max(d.front.Tokens(at, n)+d.delay(), s.last)
		if cfg.Hold > 0 { // the proxy passes on what it has when its time is up, or at the end
			if at > s.release {
				s.release = at + cfg.Hold
			}
			if r.Finish == sim.FinishNone {
				at = s.release
			}
		}
		s.last = at
		s.push(event{n: n, at: at, finish: r.Finish})
	}
	return d
}

// delay is one way through the network.
func (d *driver) delay() time.Duration {
	if d.cfg.RTT == 0 && d.cfg.Jitter == 0 {
		return 0
	}
	half := d.cfg.RTT / 2
	return half + max(time.Duration(d.rng.NormFloat64()*float64(d.cfg.Jitter)), -half/2)
}

// slow sets the frontend's cost for an instant.
func (d *driver) slow(at time.Duration) {
	if d.cfg.FrontendSlow == nil {
		return
	}
	d.front.Cost = d.cfg.Frontend.Times(d.cfg.FrontendSlow(at))
}

func (d *driver) simNow() time.Duration {
	return time.Duration(float64(time.Since(d.base)) * d.speed)
}

// wall is how long until the simulated instant at.
func (d *driver) wall(at time.Duration) time.Duration {
	return time.Duration(float64(at)/d.speed) - time.Since(d.base)
}

// submit passes a request through the frontend. It reports false once the driver stopped.
func (d *driver) submit(r *sim.Request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return false
	}
	r.Arrived = max(d.simNow()+d.delay(), 1)
	d.slow(r.Arrived)
	d.pending = append(d.pending, arrival{d.front.Request(r.Arrived, r.Prompt), r})
	select {
	case d.wake <- struct{}{}:
	default:
	}
	return true
}

// cancel ends a request wherever it is.
func (d *driver) cancel(r *sim.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, p := range d.pending {
		if p.req == r {
			d.pending = append(d.pending[:i], d.pending[i+1:]...)
			return
		}
	}
	d.eng.Cancel(r)
}

func (d *driver) stop() {
	d.mu.Lock()
	if !d.stopped {
		d.stopped = true
		close(d.quit)
	}
	d.mu.Unlock()
	<-d.gone
}

// loop is the engine's goroutine.
func (d *driver) loop() {
	defer close(d.gone)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		d.mu.Lock()
		if d.stopped {
			d.mu.Unlock()
			return
		}
		d.catchUp()
		step, busy := d.eng.Begin(d.now)
		var until time.Duration // simulated; 0 for none
		switch {
		case busy:
			until = step.End
		case !d.eng.Idle(): // blocked, as by a leak: look again later
			until = d.now + retry
		case len(d.pending) > 0:
			until = d.pending[0].ready
		}
		wait := d.wall(until)
		d.mu.Unlock()

		if busy {
			if !d.sleep(timer, max(wait, 0), nil) {
				return
			}
			d.mu.Lock()
			d.eng.Commit()
			d.now = step.End
			d.mu.Unlock()
			continue
		}
		if until == 0 {
			wait = -1
		} else {
			wait = max(wait, 0)
		}
		if !d.sleep(timer, wait, d.wake) {
			return
		}
	}
}

// retry is how long a blocked engine waits before it looks again.
const retry = 20 * time.Millisecond

// catchUp moves the engine's clock forward and admits what has passed the frontend.
func (d *driver) catchUp() {
	real := d.simNow()
	if d.eng.Idle() {
		d.now = max(d.now, real)
	} else if lag := real - d.now; lag > time.Duration(float64(maxBehind)*max(d.speed, 1)) {
		d.behind += lag
		d.now = real
	}
	n := 0
	for n < len(d.pending) && d.pending[n].ready <= d.now {
		d.eng.Submit(d.pending[n].ready, d.pending[n].req)
		n++
	}
	d.pending = append(d.pending[:0], d.pending[n:]...)
}

// sleep waits that long, without end when wait is negative, or until wake. It reports false
// when the driver stopped.
func (d *driver) sleep(timer *time.Timer, wait time.Duration, wake <-chan struct{}) bool {
	if wait == 0 {
		select {
		case <-d.quit:
			return false
		default:
			return true
		}
	}
	var fire <-chan time.Time
	if wait >= 0 {
		timer.Reset(wait)
		fire = timer.C
	}
	select {
	case <-fire:
	case <-wake:
	case <-d.quit:
		return false
	}
	return true
}

// event is tokens that a stream may deliver from the simulated instant at on.
type event struct {
	n      int
	at     time.Duration
	finish sim.Finish
}

// stream is the mailbox between the engine and one response.
type stream struct {
	mu     sync.Mutex
	events []event
	ready  chan struct{} // capacity 1

	// For the engine's goroutine alone.
	last    time.Duration // of the latest event
	release time.Duration // when the proxy passes on what it holds
}

func newStream() *stream { return &stream{ready: make(chan struct{}, 1)} }

func (s *stream) push(e event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// take moves all events into buf[:0] and returns it.
func (s *stream) take(buf []event) []event {
	s.mu.Lock()
	defer s.mu.Unlock()
	buf = append(buf[:0], s.events...)
	s.events = s.events[:0]
	return buf
}
