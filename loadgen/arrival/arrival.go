// Package arrival decides when things are due: the arrival processes of open-loop load.
//
// A [Process] is a pure function. Given the instant of arrival n−1 and the number n, it
// tells the instant of arrival n, and the same question always has the same answer:
// randomness is a function of a seed and of n, never of a generator's state. So a
// schedule can be replayed, checked against what was sent, and split over shards
// ([Shard]) whose union is exactly the unsplit schedule.
//
// All instants are absolute, counted from the start of the phase. A loop that sleeps
// until each of them cannot drift: a send that was late leaves the ones after it where
// they were. Nothing here sleeps or reads a clock.
package arrival

import (
	"fmt"
	"math"
	"time"
)

// Process is a schedule of arrivals.
type Process interface {
	// Next returns the due instant of arrival n (the first is 0), as the time since the
	// start of the phase. prev is the due instant of arrival n−1, and 0 when n is 0. The
	// result is never before prev. False means that there is no arrival n. Next is
	// deterministic and safe for concurrent use.
	Next(prev time.Duration, n uint64) (time.Duration, bool)
}

// Func makes a function a Process.
type Func func(prev time.Duration, n uint64) (time.Duration, bool)

// Next calls f.
func (f Func) Next(prev time.Duration, n uint64) (time.Duration, bool) { return f(prev, n) }

// Times returns the first max arrivals of p, fewer when p ends before. It is for tests,
// plots and workload files; a running load asks for one arrival at a time.
func Times(p Process, max int) []time.Duration {
	var out []time.Duration
	var prev time.Duration
	for n := range uint64(max) {
		due, ok := p.Next(prev, n)
		if !ok {
			break
		}
		out = append(out, due)
		prev = due
	}
	return out
}

// Constant is arrivals at equal gaps of 1/Rate: arrival n is due at n/Rate, the first at
// once.
type Constant struct {
	Rate float64 // arrivals per second
}

// Validate reports a rate that is not positive and finite.
func (p Constant) Validate() error { return checkRate(p.Rate) }

// Next implements [Process]. A rate that is not valid gives no arrivals.
func (p Constant) Next(prev time.Duration, n uint64) (time.Duration, bool) {
	if checkRate(p.Rate) != nil {
		return 0, false
	}
	return later(prev, float64(n)/p.Rate)
}

// String names the process, such as "constant 5/s".
func (p Constant) String() string { return fmt.Sprintf("constant %g/s", p.Rate) }

// Poisson is arrivals with independent exponential gaps of mean 1/Rate: many users who
// know nothing of each other.
type Poisson struct {
	Rate float64 // arrivals per second
	Seed uint64
}

// Validate reports a rate that is not positive and finite.
func (p Poisson) Validate() error { return checkRate(p.Rate) }

// Next implements [Process]. A rate that is not valid gives no arrivals.
func (p Poisson) Next(prev time.Duration, n uint64) (time.Duration, bool) {
	if checkRate(p.Rate) != nil {
		return 0, false
	}
	return later(prev, prev.Seconds()+exponential(p.Seed, n)/p.Rate)
}

// String names the process, such as "poisson 5/s".
func (p Poisson) String() string { return fmt.Sprintf("poisson %g/s", p.Rate) }

// checkRate reports a rate that gives no schedule.
func checkRate(rate float64) error {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("rate %v is not a positive number of arrivals per second", rate)
	}
	return nil
}

// horizon is the latest instant that a schedule tells: beyond it a Duration would
// overflow, and a phase is long over.
const horizon = 100 * 365 * 24 * time.Hour

// later turns an instant in seconds into a duration that is not before prev. An instant
// past the horizon is no arrival.
func later(prev time.Duration, seconds float64) (time.Duration, bool) {
	if !(seconds <= horizon.Seconds()) {
		return 0, false
	}
	return max(prev, time.Duration(math.Round(seconds*float64(time.Second)))), true
}
