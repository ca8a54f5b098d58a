package arrival

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Flat is a rate, per second, that does not change.
type Flat float64

// Validate reports a rate that is not positive and finite.
func (r Flat) Validate() error { return checkRate(float64(r)) }

// Integral implements [Profile].
func (r Flat) Integral(t float64) float64 { return float64(r) * t }

// Inverse implements [Profile].
func (r Flat) Inverse(c float64) (float64, bool) { return c / float64(r), true }

// String writes the rate, such as "5/s".
func (r Flat) String() string { return fmt.Sprintf("%g/s", float64(r)) }

// Point is the rate, in arrivals per second, at an instant after the start.
type Point struct {
	At   time.Duration
	Rate float64
}

// Curve is a rate that changes linearly between points; two points at one instant are a
// jump. It holds the last rate for ever, or repeats. [NewCurve] and the functions that
// call it make one.
type Curve struct {
	name   string
	points []Point
	sums   []float64 // integral up to each point
	repeat bool
}

// NewCurve returns the curve through the points, of which the first is at 0 and none is
// before the one ahead of it. With repeat it starts again after the last point.
func NewCurve(name string, points []Point, repeat bool) (*Curve, error) {
	if len(points) == 0 || points[0].At != 0 {
		return nil, errors.New("a rate curve begins with a point at 0")
	}
	c := &Curve{name: name, points: slices.Clone(points), sums: make([]float64, len(points)), repeat: repeat}
	for i, p := range points {
		if !(p.Rate >= 0) || math.IsInf(p.Rate, 1) {
			return nil, fmt.Errorf("rate %v at %v is not a number of arrivals per second", p.Rate, p.At)
		}
		if i == 0 {
			continue
		}
		if p.At < points[i-1].At {
			return nil, fmt.Errorf("point %d of the rate curve is at %v, before the one ahead of it", i, p.At)
		}
		c.sums[i] = c.sums[i-1] + (p.At-points[i-1].At).Seconds()*(p.Rate+points[i-1].Rate)/2
	}
	last := len(points) - 1
	if repeat && points[last].At == 0 {
		return nil, errors.New("a rate curve that repeats needs a length")
	}
	if c.sums[last] == 0 && (repeat || points[last].Rate == 0) {
		return nil, errors.New("the rate is zero all the time")
	}
	return c, nil
}

// String names the curve.
func (c *Curve) String() string { return c.name }

// Integral implements [Profile].
func (c *Curve) Integral(t float64) float64 {
	last := len(c.points) - 1
	before, length := 0.0, c.points[last].At.Seconds()
	if c.repeat {
		rounds := math.Floor(t / length)
		before, t = rounds*c.sums[last], t-rounds*length
	}
	i, _ := slices.BinarySearchFunc(c.points, t, func(p Point, t float64) int { return cmpFloat(p.At.Seconds(), t) })
	if i > last {
		return before + c.sums[last] + (t-length)*c.points[last].Rate
	}
	if i == 0 {
		return before
	}
	a, b := c.points[i-1], c.points[i]
	d := t - a.At.Seconds()
	slope := (b.Rate - a.Rate) / (b.At - a.At).Seconds()
	return before + c.sums[i-1] + d*(a.Rate+slope*d/2)
}

// Inverse implements [Profile].
func (c *Curve) Inverse(count float64) (float64, bool) {
	last := len(c.points) - 1
	before, length, total := 0.0, c.points[last].At.Seconds(), c.sums[last]
	if c.repeat {
		rounds := math.Floor(count / total)
		before, count = rounds*length, count-rounds*total
	}
	// The first point whose integral exceeds the count ends the stretch with the answer.
	i, _ := slices.BinarySearchFunc(c.sums, count, func(sum, count float64) int {
		if sum <= count {
			return -1
		}
		return 1
	})
	if i > last {
		rate := c.points[last].Rate
		if rate == 0 || c.repeat {
			return 0, false
		}
		return before + length + (count-total)/rate, true
	}
	if i == 0 {
		return before, true
	}
	// count = a.Rate·d + slope/2·d², solved without cancellation.
	a, b := c.points[i-1], c.points[i]
	span := (b.At - a.At).Seconds()
	slope := (b.Rate - a.Rate) / span
	need := count - c.sums[i-1]
	d := 2 * need / (a.Rate + math.Sqrt(max(0, a.Rate*a.Rate+2*slope*need)))
	if need == 0 {
		d = 0
	}
	return before + a.At.Seconds() + min(d, span), true
}

func cmpFloat(a, b float64) int {
	if a < b {
		return -1
	}
	return 1
}

// Ramp goes linearly from one rate to another, and stays there.
func Ramp(from, to float64, over time.Duration) (*Curve, error) {
	return NewCurve(fmt.Sprintf("ramp %g/s to %g/s over %v", from, to, over), []Point{{0, from}, {over, to}}, false)
}

// Step is one rate for a time.
type Step struct {
	Rate float64
	For  time.Duration
}

// Steps holds each rate for its time, and the last for ever.
func Steps(steps ...Step) (*Curve, error) {
	var points []Point
	var t time.Duration
	for _, s := range steps {
		if s.For < 0 {
			return nil, fmt.Errorf("step of %g/s for %v: the time is negative", s.Rate, s.For)
		}
		points = append(points, Point{t, s.Rate}, Point{t + s.For, s.Rate})
		t += s.For
	}
	return NewCurve(fmt.Sprintf("%d steps", len(steps)), points, false)
}

// Spike is a flood with a recovery: the base rate, and once, from the instant At, a rise
// to the peak over Rise, the peak for Hold, and the fall back to the base over Fall.
type Spike struct {
	Base, Peak           float64 // arrivals per second
	At, Rise, Hold, Fall time.Duration
}

// Curve returns the spike as a rate curve.
func (s Spike) Curve() (*Curve, error) {
	if s.At < 0 || s.Rise < 0 || s.Hold < 0 || s.Fall < 0 {
		return nil, errors.New("a time of the spike is negative")
	}
	up := s.At + s.Rise
	down := up + s.Hold
	return NewCurve(fmt.Sprintf("%g/s, spike to %g/s at %v for %v", s.Base, s.Peak, s.At, s.Hold), []Point{
		{0, s.Base}, {s.At, s.Base}, {up, s.Peak}, {down, s.Peak}, {down + s.Fall, s.Base},
	}, false)
}

// Diurnal repeats a day: the factors are the rate of each equal part of the period,
// relative to the mean. Their own mean need not be 1.
func Diurnal(mean float64, factors []float64, period time.Duration) (*Curve, error) {
	sum := 0.0
	for _, f := range factors {
		sum += f
	}
	if len(factors) == 0 || !(sum > 0) {
		return nil, errors.New("a day needs factors, and not all of them zero")
	}
	points := make([]Point, 0, 2*len(factors))
	for i, f := range factors {
		r := mean * f * float64(len(factors)) / sum
		part := func(i int) time.Duration {
			return time.Duration(float64(period) * float64(i) / float64(len(factors)))
		}
		points = append(points, Point{part(i), r}, Point{part(i + 1), r})
	}
	return NewCurve(fmt.Sprintf("%g/s on average, a day of %v", mean, period), points, true)
}

// Wave repeats a smooth day, lowest at its start: the rate is
// mean·(1 − depth·cos(2πt/period)), drawn with 48 straight lines.
func Wave(mean, depth float64, period time.Duration) (*Curve, error) {
	if !(depth >= 0 && depth <= 1) {
		return nil, fmt.Errorf("depth %v of the wave is not between 0 and 1", depth)
	}
	const lines = 48
	points := make([]Point, lines+1)
	for i := range points {
		t := float64(i) / lines
		points[i] = Point{time.Duration(t * float64(period)), mean * (1 - depth*math.Cos(2*math.Pi*t))}
	}
	return NewCurve(fmt.Sprintf("%g/s on average, a wave of %v", mean, period), points, true)
}

// ServeGenSmall and ServeGenLarge are the hour-of-day factors of a small and a large
// language model of the ServeGen traces, for [Diurnal].
func ServeGenSmall() []float64 {
	return []float64{.83, .70, .75, .70, .71, .73, .77, .87, 1.00, 1.13, 1.11, 1.08, 1.04, 1.06, 1.04, 1.03, 1.07, 1.06, .99, 1.21, 1.43, 1.38, 1.25, 1.05}
}

// ServeGenLarge: see [ServeGenSmall].
func ServeGenLarge() []float64 {
	return []float64{.99, 1.00, .99, .94, .91, .88, .85, .82, .79, .87, 1.05, 1.11, .97, .98, 1.05, 1.05, 1.11, 1.08, 1.04, 1.14, 1.13, 1.07, 1.10, 1.09}
}
