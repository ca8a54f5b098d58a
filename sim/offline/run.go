package offline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim"
)

// Result is what a run leaves.
type Result struct {
	Requests []*archive.Request // in the order of their ends; nil without Config.Records
	Samples  []archive.Sample
	Engines  []sim.Snapshot // at the end
	Planned  int
	OK       int
	// End is when the last request ended.
	End time.Duration
}

// Run plays the plan. It returns the context's error when that ends first.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	w := &world{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x0ff)), res: &Result{}}
	for i := range cfg.Replicas {
		ec := cfg.Engine
		ec.Seed += uint64(i) * 0x9e3779b9
		eng, err := sim.New(ec)
		if err != nil {
			return nil, err
		}
		r := &replica{eng: eng, front: sim.Frontend{Cost: cfg.Frontend}}
		eng.Emit = w.emitted(r)
		w.replicas = append(w.replicas, r)
	}
	w.keys = w.replicas[0].eng.Config().PrefixCaching()
	w.start()
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("offline run: %w", context.Cause(ctx))
		}
		if !w.next() {
			break
		}
	}
	for _, r := range w.replicas {
		w.res.Engines = append(w.res.Engines, r.eng.Snapshot(w.now))
	}
	w.res.End = w.last
	return w.res, nil
}

// world is the state of a run. Its clock only moves in next.
type world struct {
	cfg      Config
	rng      *rand.Rand
	res      *Result
	replicas []*replica
	events   heap
	now      time.Duration
	last     time.Duration // end of the last request

	plan     Session // the next to arrive
	more     bool
	keys     bool
	sessions uint64
	open     int       // requests in flight at the client
	conns    int       // connections opened so far
	held     []*flight // waiting for a connection

	client   station
	rr       int
	sampleAt time.Duration
	flights  map[*flight]struct{} // open ones, to cancel at the end; only with Records
	seen     clientCounters

	oldFlights  []*flight // over, for reuse
	oldSessions []*session
}

// replica is one engine behind its own frontend.
type replica struct {
	eng     *sim.Engine
	front   sim.Frontend
	pending []*flight // in the frontend, in order of readiness
	stepEnd time.Duration
	busy    bool
	blocked time.Duration // nothing could run: look again then
	load    int           // requests sent to it that are not over
}

// station is a FIFO server of the client's CPU.
type station struct{ free, busy time.Duration }

func (s *station) serve(at, cost time.Duration) time.Duration {
	s.free = max(s.free, at) + cost
	s.busy += cost
	return s.free
}

// flight is one request under way.
type flight struct {
	req      sim.Request
	sess     *session
	turn     int
	serial   int
	intended time.Duration
	sent     time.Duration
	ready    time.Duration
	replica  *replica
	arrived  time.Duration // of the latest chunk at the client
	heldN    int           // tokens that the proxy holds
	release  time.Duration // when it passes them on
	first    time.Duration // chunk at the client
	end      time.Duration
	rec      *archive.Request
}

// session is a conversation under way.
type session struct {
	plan    Session
	id      uint64
	next    int        // turn
	history []sim.Span // shared start and every earlier turn
	tokens  int        // of history
	home    *replica
}

const forever = time.Duration(1<<63 - 1)

func (w *world) start() {
	w.sampleAt = forever
	if w.cfg.Sampling.Every > 0 {
		w.sampleAt = 0
	}
	if w.cfg.Records {
		w.flights = make(map[*flight]struct{})
	}
	if w.cfg.Concurrency > 0 {
		for range w.cfg.Concurrency {
			w.startNext(0)
		}
		return
	}
	w.plan, w.more = w.cfg.Source.Next()
}

// next processes the earliest event. It reports false when the run is over.
func (w *world) next() bool {
	at := forever
	var who *replica
	if w.more && !w.full() {
		at = w.plan.At
		if at > w.cfg.Duration {
			w.more, at = false, forever
		}
	}
	if t := w.events.top(); t < at {
		at = t
	}
	for _, r := range w.replicas {
		if t := r.due(); t < at {
			at, who = t, r
		}
	}
	if w.sampleAt < at && (at != forever || w.now < w.cfg.Duration) {
		if w.sampleAt > w.cfg.Duration+w.cfg.Drain || (at == forever && w.cfg.Duration > 1<<60) {
			w.sampleAt = forever
			return true
		}
		w.now = w.sampleAt
		w.sample()
		return true
	}
	if at == forever {
		return false
	}
	w.now = max(w.now, at)
	if w.now > w.cfg.Duration+w.cfg.Drain {
		w.cancelOpen()
		return false
	}
	switch {
	case who != nil:
		w.run(who)
	case w.events.top() <= at && w.events.len() > 0:
		e := w.events.pop()
		switch e.kind {
		case evTurn:
			w.send(e.f)
		case evReach:
			w.reach(e.f)
		case evDone:
			w.over(e.f)
		}
	default:
		s := w.plan
		w.plan, w.more = w.cfg.Source.Next()
		w.begin(s, s.At)
	}
	return true
}

func (w *world) full() bool { return w.cfg.MaxRequests > 0 && w.res.Planned >= w.cfg.MaxRequests }

// due is when the replica needs attention next.
func (r *replica) due() time.Duration {
	switch {
	case r.busy:
		return r.stepEnd
	case !r.eng.Idle():
		if len(r.pending) > 0 && r.pending[0].ready < r.blocked {
			return r.pending[0].ready
		}
		return r.blocked
	case len(r.pending) > 0:
		return r.pending[0].ready
	}
	return forever
}

// run commits the replica's step, if one ends now, and begins the next.
func (w *world) run(r *replica) {
	if r.busy {
		r.busy = false
		r.eng.Commit()
	}
	n := 0
	for n < len(r.pending) && r.pending[n].ready <= w.now {
		f := r.pending[n]
		r.eng.Submit(f.ready, &f.req)
		n++
	}
	if n > 0 {
		r.pending = append(r.pending[:0], r.pending[n:]...)
	}
	step, ok := r.eng.Begin(w.now)
	if !ok {
		r.blocked = w.now + 20*time.Millisecond
		return
	}
	r.busy, r.stepEnd = true, step.End
}
