package arrival

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Trace is arrivals at recorded instants. [NewTrace] makes one.
type Trace struct{ times []time.Duration }

// NewTrace returns a schedule of the instants, in any order, shifted so that the earliest
// is at 0 and divided by speed: 2 is twice as fast.
func NewTrace(times []time.Duration, speed float64) (Trace, error) {
	if len(times) == 0 {
		return Trace{}, errors.New("the trace has no arrivals")
	}
	if !(speed > 0 && speed <= 1e6) {
		return Trace{}, fmt.Errorf("speed %v of the trace is not between 0 and a million", speed)
	}
	out := slices.Clone(times)
	slices.Sort(out)
	first := out[0]
	for i, at := range out {
		out[i] = time.Duration(float64(at-first) / speed)
	}
	return Trace{out}, nil
}

// Next implements [Process].
func (p Trace) Next(prev time.Duration, n uint64) (time.Duration, bool) {
	if n >= uint64(len(p.times)) {
		return 0, false
	}
	return max(prev, p.times[n]), true
}

// Len is the number of arrivals: the process ends by itself.
func (p Trace) Len() int { return len(p.times) }

// Rate is the mean rate, in arrivals per second; 0 when all arrive at once.
func (p Trace) Rate() float64 {
	span := p.times[len(p.times)-1].Seconds()
	if span == 0 {
		return 0
	}
	return float64(len(p.times)-1) / span
}

// String names the process.
func (p Trace) String() string { return fmt.Sprintf("%d recorded arrivals", len(p.times)) }

// Grid returns the step of the clock that wrote the instants, when it is so coarse that it
// makes bursts of its own: at least 99 % of the instants lie on the grid, and its step is
// over a twentieth of the mean gap. 0 means that there is no such grid. The instants of
// the Mooncake traces, for one, lie on a grid of three seconds.
func Grid(times []time.Duration) time.Duration {
	if len(times) < 20 {
		return 0
	}
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	first, span := sorted[0], sorted[len(sorted)-1]-sorted[0]
	// The step divides nearly every difference, so it divides the common divisor of the
	// differences that occur most; the smallest ones find it, each alone or together.
	candidates := map[time.Duration]bool{}
	var common time.Duration
	for i := 1; i < len(sorted); i++ {
		d := sorted[i] - sorted[i-1]
		if d == 0 {
			continue
		}
		common = divisor(common, d)
		if len(candidates) < 64 {
			candidates[d] = true
		}
	}
	candidates[common] = true
	var best time.Duration
	for g := range candidates {
		if g <= best || float64(g) < 0.05*float64(span)/float64(len(sorted)-1) {
			continue
		}
		on := 0
		for _, at := range sorted {
			if (at-first)%g == 0 {
				on++
			}
		}
		if float64(on) >= 0.99*float64(len(sorted)) {
			best = g
		}
	}
	return best
}

func divisor(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Dither moves every instant forward by a uniform part of the grid, so that arrivals that
// a coarse clock put on one instant spread over its step again.
func Dither(times []time.Duration, grid time.Duration, seed uint64) []time.Duration {
	out := make([]time.Duration, len(times))
	for i, at := range times {
		out[i] = at + time.Duration(unit(bits(seed, uint64(i)))*float64(grid))
	}
	slices.Sort(out)
	return out
}
