package wire

import (
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// counters are a client's own counts.
type counters struct {
	opened, reused, kernelConns atomic.Int64
	learned, decoded            atomic.Int64
	chunks, coalesced           atomic.Int64
	unstamped                   atomic.Int64
	lag                         lagHistogram
}

// Stats are facts about the client itself since it was made.
type Stats struct {
	// StampClock is the clock that stamped arrivals: "kernel", "user", "mixed" when some
	// connections had the one and some the other, or "" before the first connection.
	StampClock string
	// Opened and Reused count connections opened, and requests that got a connection
	// which had carried another before.
	Opened, Reused int64
	// Learned and Decoded count events by the path that read them: byte comparison with a
	// learned template, and full JSON.
	Learned, Decoded int64
	// Chunks counts token-bearing events. Coalesced counts those that shared a read with
	// a later one, so that their stamp is an upper bound.
	Chunks, Coalesced int64
	// Lag is the time between bytes reaching the kernel and this program having read
	// them, over all reads with a kernel stamp. Its quantiles are at most 12.5 % too
	// large; they are unknown without kernel stamps.
	LagReads                       int64
	LagP50, LagP90, LagP99, LagMax archive.Opt[time.Duration]
	// ClockSteps counts jumps of the wall clock against the run's clock by over 1 ms.
	ClockSteps int64
	// Unstamped counts reads without a kernel stamp on connections that have them on.
	Unstamped int64
}

// CoalescedShare returns the share of chunks that shared a read with a later one; unknown
// before the first chunk.
func (s *Stats) CoalescedShare() archive.Opt[float64] {
	if s.Chunks == 0 {
		return archive.Opt[float64]{}
	}
	return archive.Some(float64(s.Coalesced) / float64(s.Chunks))
}

// Stats returns the counts so far. It may be called at any time; counts of requests in
// flight are not in it yet.
func (c *Client) Stats() Stats {
	s := Stats{
		Opened: c.opened.Load(), Reused: c.reused.Load(),
		Learned: c.learned.Load(), Decoded: c.decoded.Load(),
		Chunks: c.chunks.Load(), Coalesced: c.coalesced.Load(),
		LagReads:   c.lag.count.Load(),
		ClockSteps: c.wall.steps.Load(), Unstamped: c.unstamped.Load(),
	}
	switch kernel := c.kernelConns.Load(); {
	case s.Opened == 0:
	case kernel == 0:
		s.StampClock = "user"
	case kernel == s.Opened:
		s.StampClock = "kernel"
	default:
		s.StampClock = "mixed"
	}
	for _, q := range []struct {
		q  float64
		to *archive.Opt[time.Duration]
	}{{0.5, &s.LagP50}, {0.9, &s.LagP90}, {0.99, &s.LagP99}, {1, &s.LagMax}} {
		if ns, ok := c.lag.Quantile(q.q); ok {
			*q.to = archive.Some(time.Duration(ns))
		}
	}
	return s
}
