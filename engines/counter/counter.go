// Package counter computes with cumulative numbers that a server may reset.
package counter

import "math"

// Delta is the growth of a cumulative number over samples in time order, and whether it was
// reset on the way. A number that falls was reset, by a restart of the server: what it had
// grown after the last sample before is lost, and what it holds at the next is counted
// whole. With reset the delta is therefore a lower bound.
//
// Samples that are NaN, infinite or negative are passed over. The delta is unknown, and
// ok false, with fewer than two samples left. Delta is a pure function.
func Delta(samples []float64) (delta float64, reset, ok bool) {
	last, n := 0.0, 0
	for _, v := range samples {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			continue
		}
		switch {
		case n == 0:
		case v < last:
			reset = true
			delta += v
		default:
			delta += v - last
		}
		last = v
		n++
	}
	if n < 2 {
		return 0, false, false
	}
	return delta, reset, true
}

// Point is one sample of a number that is a rate, such as watts, at a time in seconds.
type Point struct {
	T, V float64
}

// Integral is the area under points in time order from one time to another, by
// trapezoids, with the value at each edge taken by interpolation between its neighbours.
//
// It is unknown, and ok false, when the points do not reach both edges, or when any two
// neighbours that it would span lie further than maxGap apart: nobody knows what happened
// in between.
func Integral(points []Point, from, to, maxGap float64) (area float64, ok bool) {
	if !(from < to) || len(points) < 2 || points[0].T > from || points[len(points)-1].T < to {
		return 0, false
	}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		lo, hi := math.Max(a.T, from), math.Min(b.T, to)
		if hi <= lo {
			continue
		}
		if b.T-a.T > maxGap || math.IsNaN(a.V) || math.IsNaN(b.V) {
			return 0, false
		}
		at := func(t float64) float64 { return a.V + (b.V-a.V)*(t-a.T)/(b.T-a.T) }
		area += (hi - lo) * (at(lo) + at(hi)) / 2
	}
	return area, true
}

// At is the value of a cumulative number at a time, by interpolation between the samples
// around it. It is unknown, and ok false, outside the points, across a gap longer than
// maxGap, and across a reset.
func At(points []Point, t, maxGap float64) (v float64, ok bool) {
	for i, b := range points {
		if b.T < t {
			continue
		}
		if b.T == t {
			return b.V, true
		}
		if i == 0 {
			return 0, false
		}
		a := points[i-1]
		if b.T-a.T > maxGap || b.V < a.V {
			return 0, false
		}
		return a.V + (b.V-a.V)*(t-a.T)/(b.T-a.T), true
	}
	return 0, false
}
