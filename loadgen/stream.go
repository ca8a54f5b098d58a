package loadgen

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
)

// stream is one shape over one source inside a phase: a tenant, or the whole phase.
type stream struct {
	Tenant
	index int // of the tenant
}

// streams lists the shapes of the phase.
func (p *phase) streams() []*stream {
	if len(p.Tenants) == 0 {
		return []*stream{{Tenant: Tenant{Source: p.Source, Concurrency: p.Concurrency, Rate: p.Rate, Arrival: p.Arrival}}}
	}
	out := make([]*stream, len(p.Tenants))
	for i, t := range p.Tenants {
		out[i] = &stream{Tenant: t, index: i}
	}
	return out
}

// divide cuts the phase down to this process's part of it. The arrivals are cut in
// arrive, and the users of a closed loop in users.
func (p *phase) divide() {
	p.Requests = p.Shard.part(p.Requests)
	p.Warmup.Requests = p.Shard.part(p.Warmup.Requests)
	p.MaxInFlight = p.Shard.part(p.MaxInFlight)
}

// part is the shard's share of a whole number; a number above zero never becomes zero,
// which would mean no limit.
func (s Shard) part(n int) int {
	if s.Of <= 1 || n == 0 {
		return n
	}
	share := n / s.Of
	if s.Index < n%s.Of {
		share++
	}
	return max(share, 1)
}

// users is the shard's share of the users, which may be none.
func (s Shard) users(n int) int {
	if s.Of > 1 && s.Index >= n {
		return 0
	}
	return s.part(n)
}

// number is the session number in the whole phase of the shard's session n.
func (s Shard) number(n uint64) uint64 {
	if s.Of <= 1 {
		return n
	}
	return n*uint64(s.Of) + uint64(s.Index)
}

// arrive starts a session at every arrival of an open loop.
func (p *phase) arrive(s *stream) {
	process := s.Arrival
	if process == nil {
		process = arrival.Poisson{Rate: s.Rate, Seed: p.cfg.Seed + uint64(p.index)<<8 + uint64(s.index)}
	}
	if p.Shard.Of > 1 {
		process, _ = arrival.Shard(process, p.Shard.Index, p.Shard.Of) // Validate has checked it
	}
	var prev time.Duration
	for n := uint64(0); ; n++ {
		due, ok := process.Next(prev, n)
		at := p.start.Add(due)
		if !ok || !p.wait(at) {
			return
		}
		prev = due
		if p.unfinished.Load() >= int64(p.MaxBacklog) {
			if !p.drop(s, n, at) {
				return
			}
			continue
		}
		p.mu.Lock()
		spent := p.budget.spent() || p.budget.end.Known() && at >= p.budget.end
		p.mu.Unlock()
		if spent {
			return
		}
		p.unfinished.Add(1)
		p.sessions.Go(func() {
			defer p.unfinished.Add(-1)
			p.session(s, n, at)
		})
		// The session is due now: this processor runs it first, rather than wake another for it.
		runtime.Gosched()
	}
}

// users starts the users of a closed loop.
func (p *phase) users(s *stream) {
	var next atomic.Uint64
	n := p.Shard.users(s.Concurrency)
	for u := range n {
		p.sessions.Go(func() {
			at := p.start.Add(time.Duration(float64(p.RampUp) * float64(u) / float64(n)))
			p.user(s, &next, at)
		})
	}
}

// user runs one session after another.
func (p *phase) user(s *stream, next *atomic.Uint64, at archive.Instant) {
	for empty := 0; empty < maxEmpty; {
		if p.cfg.Pacer.Until(p.sends, at) != nil {
			return
		}
		n := next.Add(1) - 1
		free, turns, stop := p.session(s, n, at)
		if stop {
			return
		}
		if empty++; turns > 0 {
			empty = 0
		}
		at = free
		if p.Pause != nil {
			at = at.Add(max(0, p.Pause(p.sessionNumber(s, n))))
		}
	}
	p.fail(fmt.Errorf("the source gave %d sessions in a row without a turn", maxEmpty))
}

// Bits of a session number: those below tenantBits count sessions of one tenant, those
// from there to sessionBits are the tenant, and those above are the phase, so that no two
// phases or tenants of a run send the same session.
const (
	tenantBits  = 32
	sessionBits = 40
)

// sessionNumber is the number that the source is asked for.
func (p *phase) sessionNumber(s *stream, n uint64) uint64 {
	return uint64(p.index)<<sessionBits | uint64(s.index)<<tenantBits | p.Shard.number(n)
}

// sessionID names session n in records.
func (p *phase) sessionID(s *stream, n uint64) string {
	if len(p.Tenants) > 0 {
		return fmt.Sprintf("%d-%s-%d", p.index, s.Name, p.Shard.number(n))
	}
	return fmt.Sprintf("%d-%d", p.index, p.Shard.number(n))
}
