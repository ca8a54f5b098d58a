package loadgen

import "time"

// progress counts planned and served requests in the two halves of the measured window of
// an open loop, to tell overload from a server that is merely slow.
type progress struct {
	half          time.Duration
	arrived, done [2]int
}

// newProgress plans the halves from the phase's own limits. Without a window that is known
// beforehand nothing is counted.
func newProgress(p *Phase) progress {
	window := p.Duration
	if p.Requests > 0 && p.Rate > 0 {
		byCount := time.Duration(float64(p.Requests) / p.Rate * float64(time.Second))
		if window == 0 || byCount < window {
			window = byCount
		}
	}
	return progress{half: window / 2}
}

// planned counts a request that is due d after the start of the window.
func (p *progress) planned(d time.Duration) { add(&p.arrived, p.half, d+1) }

// served counts a request that ended well d after the start of the window.
func (p *progress) served(d time.Duration) { add(&p.done, p.half, d) }

// add counts at d in the half (0, half] or (half, 2·half]. An arrival is given one
// nanosecond later than it is, so that its halves are closed at their start instead.
func add(counts *[2]int, half, d time.Duration) {
	switch {
	case d <= 0 || d > 2*half:
	case d <= half:
		counts[0]++
	default:
		counts[1]++
	}
}

// overloaded reports that the second half served fewer than nine in ten of the requests
// that arrived in it, and no more than the first half did: the server is at its limit. A
// server that is only slow still serves more in the second half than in the first. The
// rates are those of the second half, per second.
func (p *progress) overloaded() (offered, served float64, yes bool) {
	seconds := p.half.Seconds()
	if seconds <= 0 || p.done[0] < 10 {
		return 0, 0, false
	}
	in, out := float64(p.arrived[1]), float64(p.done[1])
	return in / seconds, out / seconds, out < 0.9*in && out <= 1.1*float64(p.done[0])
}
