package tasks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// shape is a family of distributions.
type shape uint8

const (
	shapeNone shape = iota
	shapeFixed
	shapeUniform
	shapeNormal
	shapeLognormal
	shapeGeometric
	shapeExponential
	shapePareto
	shapeTable
	shapePreset // two lengths: what goes in and what comes out
)

// Length is a distribution over whole numbers from 1 up: prompt lengths or output
// lengths in tokens, turns of a session. The zero Length means "not given"; every
// parsed or constructed one is usable. It is immutable and safe for concurrent use.
type Length struct {
	shape    shape
	a, b     float64
	min, max int // bounds of a draw; max 0 is none
	table    *Quantiles
	preset   *Preset
	text     string // as written
}

// Fixed is always n, which must be at least 1.
func Fixed(n int) Length { return Length{shape: shapeFixed, a: float64(n), text: strconv.Itoa(n)} }

// Uniform is every whole number from lo to hi, both included, with equal probability.
func Uniform(lo, hi int) Length {
	return Length{shape: shapeUniform, a: float64(lo), b: float64(hi), text: fmt.Sprintf("uniform(%d,%d)", lo, hi)}
}

// Lognormal is exp(N(mu, sigma²)), rounded.
func Lognormal(mu, sigma float64) Length {
	return Length{shape: shapeLognormal, a: mu, b: sigma, text: fmt.Sprintf("lognormal(%g,%g)", mu, sigma)}
}

// Geometric counts trials up to and including the first success, with the given mean of
// at least 1: turns of a conversation that goes on with probability 1 − 1/mean.
func Geometric(mean float64) Length {
	return Length{shape: shapeGeometric, a: mean, text: fmt.Sprintf("geometric(%g)", mean)}
}

// Table draws from a quantile table.
func Table(q *Quantiles) Length { return Length{shape: shapeTable, table: q, text: q.Name} }

// Clip bounds every draw to lo..hi, both included; hi 0 is no upper bound.
func (l Length) Clip(lo, hi int) Length {
	l.min, l.max = lo, hi
	return l
}

// Given reports whether this is a distribution and not the zero Length.
func (l Length) Given() bool { return l.shape != shapeNone }

// String is the length as it was written.
func (l Length) String() string { return l.text }

// Input is the prompt side of a preset; any other length is its own input.
func (l Length) Input() Length {
	if l.shape == shapePreset {
		return l.preset.Input().Clip(max(l.min, l.preset.in.min), bound(l.max, l.preset.in.max))
	}
	return l
}

// Output is the output side of a preset; any other length is its own output.
func (l Length) Output() Length {
	if l.shape == shapePreset {
		return l.preset.Output().Clip(max(l.min, l.preset.out.min), bound(l.max, l.preset.out.max))
	}
	return l
}

// bound is the tighter of two upper bounds, of which 0 is none.
func bound(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Draw draws from r. A preset draws from its input side. The zero Length draws 0.
func (l Length) Draw(r *rand.Rand) int {
	if l.shape == shapeNone {
		return 0
	}
	if l.shape == shapeNormal || l.shape == shapeLognormal {
		return l.At(phi(r.NormFloat64()))
	}
	return l.At(r.Float64())
}

// At is the quantile function: the draw for u in [0, 1). Drawing inputs and outputs at
// correlated u makes correlated lengths.
func (l Length) At(u float64) int {
	u = math.Min(math.Max(u, 1e-12), 1-1e-12)
	var x float64
	switch l.shape {
	case shapeNone:
		return 0
	case shapeFixed:
		x = l.a
	case shapeUniform:
		x = l.a + math.Floor(u*(l.b-l.a+1))
	case shapeNormal:
		x = l.a + l.b*probit(u)
	case shapeLognormal:
		x = math.Exp(l.a + l.b*probit(u))
	case shapeGeometric:
		x = 1
		if l.a > 1 {
			x = math.Ceil(math.Log1p(-u) / math.Log1p(-1/l.a))
		}
	case shapeExponential:
		x = -l.a * math.Log1p(-u)
	case shapePareto:
		x = l.a * math.Pow(1-u, -1/l.b)
	case shapeTable:
		x = l.table.At(u)
	case shapePreset:
		return l.Input().At(u)
	}
	n := math.Round(x)
	if !(n >= 1) { // also not a number
		n = 1
	}
	if n > maxLength {
		n = maxLength
	}
	m := int(n)
	if m < l.min {
		m = l.min
	}
	if l.max > 0 && m > l.max {
		m = l.max
	}
	return m
}

// maxLength bounds every draw, in tokens: no model has a longer context.
const maxLength = 10_000_000

// phi is the standard normal distribution function, probit its inverse.
func phi(z float64) float64    { return 0.5 * math.Erfc(-z/math.Sqrt2) }
func probit(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }

// Pause is a distribution of think times: log-normal about a median. The zero Pause is
// no pause.
type Pause struct {
	Median time.Duration
	Sigma  float64 // of the logarithm; 0 makes every pause the median
}

// maxPause bounds a pause: beyond it a session is over for all that a run can see.
const maxPause = time.Hour

func (p Pause) draw(r *rand.Rand) time.Duration {
	if p.Median <= 0 {
		return 0
	}
	d := float64(p.Median) * math.Exp(p.Sigma*r.NormFloat64())
	return time.Duration(math.Min(d, float64(maxPause)))
}
