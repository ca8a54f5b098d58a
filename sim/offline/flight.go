package offline

import (
	"time"

	"github.com/inferencebench/inferencebench/sim"
)

// startNext begins the next session of a closed loop.
func (w *world) startNext(at time.Duration) {
	if at > w.cfg.Duration || w.full() {
		return
	}
	if s, ok := w.cfg.Source.Next(); ok {
		w.begin(s, at)
	}
}

// begin starts a session at an instant.
func (w *world) begin(p Session, at time.Duration) {
	w.sessions++
	s := w.newSession(p)
	if len(p.Turns) > 1 || w.keys {
		if p.Shared.Tokens > 0 {
			s.history = append(s.history, p.Shared)
		}
	}
	s.tokens = p.Shared.Tokens
	w.turn(s, at)
}

// turn makes the session's next turn due at an instant.
func (w *world) turn(s *session, at time.Duration) {
	t := s.plan.Turns[s.next]
	f := w.newFlight()
	f.sess, f.turn, f.intended, f.serial = s, s.next, at, w.res.Planned
	w.res.Planned++
	cfg := w.replicas[0].eng.Config()
	// What does not fit the context is left out, as a client that trims its history does.
	room := min(cfg.MaxModelLen, w.replicas[0].eng.Memory().Tokens)
	out := min(t.Output, room-1)
	f.req.Prompt = max(min(s.tokens+t.Prompt, room-out), 1)
	f.req.Output = out
	f.req.User = f
	if w.keys {
		id := s.id<<8 + uint64(s.next)<<1
		s.history = append(s.history, sim.Span{ID: id, Tokens: t.Prompt}, sim.Span{ID: id + 1, Tokens: out})
		f.req.Keys = sim.Keys(cfg.BlockSize, s.history...)
		if s.tokens+t.Prompt > f.req.Prompt {
			f.req.Keys = nil
		}
	}
	s.tokens += t.Prompt + out
	s.next++
	if at > w.now {
		w.events.push(at, evTurn, f)
		return
	}
	w.send(f)
}

// send hands a due request to the client, or holds it until a connection is free.
func (w *world) send(f *flight) {
	if w.cfg.Client.MaxConns > 0 && w.open >= w.cfg.Client.MaxConns {
		w.held = append(w.held, f)
		return
	}
	w.open++
	f.sent = w.client.serve(w.now, w.cfg.Client.PerSend)
	dial := time.Duration(0)
	if w.open > w.conns { // no idle connection: open one more, at the price of a round trip
		w.conns = w.open
		if w.cfg.Network != (Network{}) {
			dial = w.cfg.Network.delay(w.rng) + w.cfg.Network.delay(w.rng)
			f.sent += dial
		}
	}
	w.record(f, dial)
	reach := f.sent
	if w.cfg.Network != (Network{}) {
		reach += w.cfg.Network.delay(w.rng)
	}
	if reach > w.now {
		w.events.push(reach, evReach, f)
		return
	}
	w.reach(f)
}

// reach routes a request to a replica's frontend.
func (w *world) reach(f *flight) {
	r := w.replicas[0]
	if len(w.replicas) > 1 {
		r = w.route(f)
	}
	f.replica = r
	r.load++
	f.req.Arrived = max(w.now, 1)
	w.slow(r)
	f.ready = r.front.Request(w.now, f.req.Prompt)
	r.pending = append(r.pending, f)
}

func (w *world) route(f *flight) *replica {
	if w.cfg.RoundRobin {
		w.rr++
		return w.replicas[w.rr%len(w.replicas)]
	}
	if f.sess.home == nil {
		f.sess.home = w.replicas[0]
		for _, r := range w.replicas[1:] {
			if r.load < f.sess.home.load {
				f.sess.home = r
			}
		}
	}
	return f.sess.home
}

// slow sets the frontend's cost for this instant.
func (w *world) slow(r *replica) {
	if w.cfg.FrontendSlow == nil {
		return
	}
	r.front.Cost = w.cfg.Frontend.Times(w.cfg.FrontendSlow(w.now))
}

// emitted returns what happens when the replica's engine makes tokens.
func (w *world) emitted(r *replica) func(q *sim.Request, n int, at time.Duration) {
	// Nothing between engine and client but the frontend, and nobody who notes every token:
	// then only the first and the last token of a request matter.
	plain := w.cfg.Proxy == (Proxy{}) && w.cfg.Network == (Network{}) && w.cfg.Client.PerToken == 0 && !w.cfg.Records && w.cfg.FrontendSlow == nil
	return func(q *sim.Request, n int, at time.Duration) {
		if plain && q.Finish == sim.FinishNone && q.Generated > n {
			r.front.Tokens(at, n)
			w.seen.tokens += int64(n)
			return
		}
		f := q.User.(*flight)
		w.slow(r)
		left := r.front.Tokens(at, n)
		finished := q.Finish != sim.FinishNone
		if every := w.cfg.Proxy.Every; every > 0 {
			if f.heldN == 0 {
				f.release = left + every
			}
			f.heldN += n
			if left < f.release && !finished {
				return
			}
			n, f.heldN = f.heldN, 0
		}
		if w.cfg.Network != (Network{}) {
			left += w.cfg.Network.delay(w.rng)
		}
		left = max(left, f.arrived)
		if w.cfg.Client.PerToken > 0 {
			left = w.client.serve(left, w.cfg.Client.PerToken*time.Duration(n))
		}
		f.arrived = left
		if f.first == 0 {
			f.first = left
		}
		w.chunk(f, left, n)
		if finished {
			f.end = left
			r.load--
			w.events.push(left, evDone, f)
		}
	}
}

// over ends a request at the client: the connection is free, the session goes on.
func (w *world) over(f *flight) {
	w.open--
	w.res.OK++
	w.last = max(w.last, w.now)
	w.finish(f)
	if len(w.held) > 0 {
		h := w.held[0]
		w.held = w.held[1:]
		w.send(h)
	}
	s := f.sess
	if f.rec == nil {
		w.oldFlights = append(w.oldFlights, f)
	}
	if s.next < len(s.plan.Turns) && !w.full() {
		if at := w.now + s.plan.Turns[s.next].Think; at <= w.cfg.Duration {
			w.turn(s, at)
			return
		}
	}
	w.oldSessions = append(w.oldSessions, s)
	if w.cfg.Concurrency > 0 {
		w.startNext(w.now)
	}
}

// newFlight and newSession reuse what is over: a long run allocates little.
func (w *world) newFlight() *flight {
	n := len(w.oldFlights)
	if n == 0 {
		return &flight{}
	}
	f := w.oldFlights[n-1]
	w.oldFlights = w.oldFlights[:n-1]
	*f = flight{}
	return f
}

func (w *world) newSession(p Session) *session {
	n := len(w.oldSessions)
	if n == 0 {
		return &session{plan: p, id: w.sessions, history: make([]sim.Span, 0, 1+2*len(p.Turns))}
	}
	s := w.oldSessions[n-1]
	w.oldSessions = w.oldSessions[:n-1]
	*s = session{plan: p, id: w.sessions, history: s.history[:0]}
	return s
}
