package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// Change is an experiment on a condition: the same world with one thing set otherwise. The
// zero Change is the world as it was. What the fault does is never touched by name: a change
// sets a thing of the world, whether or not that is where the fault sits.
type Change struct {
	// Load multiplies the rate, or the users of a closed loop; 0 means 1.
	Load float64
	// Concurrency offers a closed loop of so many in place of the load; 0 does not.
	Concurrency int
	// Input multiplies the prompts; 0 means 1. Longest leaves out prompts above so many
	// tokens, by drawing again; 0 leaves none out.
	Input   float64
	Longest int
	// Prefixes limits how many different shared beginnings there are; 0 does not.
	Prefixes int
	// Output makes every answer so many tokens; 0 leaves them.
	Output int
	// Prefix makes every session one turn that starts with so many tokens: the same for all,
	// or of its own where Fresh is set. 0 leaves the sessions.
	Prefix int
	Fresh  bool
	// Cap multiplies the cap on running requests; 0 means 1.
	Cap float64
	// Frontends is how many API servers share the requests; 0 means 1.
	Frontends int
	// Generators is how many machines make the load; 0 means 1.
	Generators int
	// FullClock keeps the clock at its maximum, Alone keeps other programs off the device,
	// LeanHost takes the host's additional work away, HalfTP serves with half the devices a
	// layer, NoDrafts switches speculative decoding off, and Near puts the client beside the
	// server.
	FullClock, Alone, LeanHost, HalfTP, NoDrafts, Near bool
	// Duration is the time that is played; 0 is a third of the condition's own.
	Duration time.Duration
}

// Intervene plays a condition as Play would, with one thing changed.
func Intervene(ctx context.Context, id string, opt Options, ch Change) (*Run, error) {
	first, second, err := lookupPair(id)
	if err != nil {
		return nil, err
	}
	s, err := prepare(ctx, first, second, opt)
	if err != nil {
		return nil, fmt.Errorf("fault %s: %w", id, err)
	}
	s.change(ch)
	return s.play(first, opt)
}

// change sets the one thing.
func (s *scenario) change(ch Change) {
	r := &s.run
	times := func(k float64) float64 {
		if k == 0 {
			return 1
		}
		return k
	}
	s.load *= times(ch.Load)
	if r.Concurrency > 0 {
		r.Concurrency = max(1, int(float64(r.Concurrency)*times(ch.Load)+0.5))
	}
	if ch.Concurrency > 0 {
		r.Concurrency, s.load = ch.Concurrency, 0
	}
	if k := times(ch.Input); k != 1 {
		own := s.shape.Input
		s.shape.Input = func(rng *rand.Rand) int { return max(1, int(k*float64(own(rng)))) }
		s.shape.Shared = int(k * float64(s.shape.Shared))
	}
	if ch.Longest > 0 {
		own := s.shape.Input
		s.shape.Input = func(rng *rand.Rand) int {
			for range 1000 {
				if n := own(rng); n <= ch.Longest {
					return n
				}
			}
			return ch.Longest
		}
	}
	if ch.Prefixes > 0 && s.shape.Groups > ch.Prefixes {
		s.shape.Groups = ch.Prefixes
	}
	if ch.Output > 0 {
		s.shape.Output = offline.Between(ch.Output, ch.Output)
	}
	if ch.Prefix > 0 {
		s.shape.Turns, s.shape.Shared, s.shape.Groups = nil, ch.Prefix, 1
		if ch.Fresh {
			s.shape.Groups = 1 << 30
		}
		s.shape.Input = offline.Between(40, 80)
	}
	if k := times(ch.Cap); k != 1 {
		r.Engine.MaxNumSeqs = int(k * float64(r.Engine.Resolved().MaxNumSeqs))
		r.Engine.MaxNumBatchedTokens = max(r.Engine.Resolved().MaxNumBatchedTokens, r.Engine.MaxNumSeqs)
	}
	if n := ch.Generators; n > 1 {
		r.Client.MaxConns *= n
		r.Client.PerSend /= time.Duration(n)
		r.Client.PerToken /= time.Duration(n)
	}
	if ch.Frontends > 1 {
		r.Frontend = r.Frontend.Times(1 / float64(ch.Frontends))
	}
	if ch.HalfTP && r.Engine.TensorParallel > 1 {
		r.Engine.TensorParallel /= 2
	}
	if ch.NoDrafts {
		r.Engine.Speculative = sim.Speculative{}
	}
	if ch.Near {
		r.Network = offline.Network{RTT: 200 * time.Microsecond}
	}
	s.disturb = append(s.disturb, func(_ time.Duration, _ float64, c *sim.Conditions) {
		if ch.FullClock {
			c.ClockLoss, c.Thermal = 0, false
		}
		if ch.Alone {
			c.Slowdown = 0
		}
		if ch.LeanHost {
			c.HostExtra = 0
		}
		if ch.HalfTP && r.Engine.TensorParallel < 2 {
			c.CommExtra = 0 // one device has no peer to talk to
		}
	})
	r.Duration = ch.Duration
	if r.Duration == 0 {
		r.Duration = max(30*time.Second, s.whole/3)
	}
	r.Warmup = min(10*time.Second, r.Duration/4)
	s.to = r.Duration + r.Drain
	s.finish()
}
