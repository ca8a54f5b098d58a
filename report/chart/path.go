package chart

import (
	"math"
	"strconv"
)

// side is the width and height of the drawing in user units. The SVG is stretched to its
// box, and strokes keep their width.
const side = 1000

// pen writes the data of one SVG path.
type pen struct {
	x, y axis
	b    []byte
}

func (p *pen) px(v float64) float64 { return clamp(p.x.at(v)) * side }
func (p *pen) py(v float64) float64 { return side - clamp(p.y.at(v))*side }

// clamp keeps drawing coordinates within a sane distance of the plot.
func clamp(f float64) float64 { return math.Max(-1, math.Min(2, f)) }

func (p *pen) ok(x, y float64) bool {
	return finite(x) && finite(y) && (!p.x.log || x > 0) && (!p.y.log || y > 0)
}

func (p *pen) cmd(c byte, x, y float64) {
	p.b = append(p.b, c)
	p.b = appendCoord(p.b, x)
	p.b = append(p.b, ' ')
	p.b = appendCoord(p.b, y)
}

func appendCoord(b []byte, v float64) []byte {
	v = math.Round(v*10) / 10
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// line joins the points; a point that cannot be drawn is a gap.
func (p *pen) line(xs, ys []float64) string {
	down := false
	for i := range xs {
		if !p.ok(xs[i], ys[i]) {
			down = false
			continue
		}
		c := byte('L')
		if !down {
			c = 'M'
		}
		p.cmd(c, p.px(xs[i]), p.py(ys[i]))
		if lone := !down && (i+1 == len(xs) || !p.ok(xs[i+1], ys[i+1])); lone {
			p.b = append(p.b, "h0"...)
		}
		down = true
	}
	return string(p.b)
}

// step holds each value until the next x.
func (p *pen) step(xs, ys []float64) string {
	down := false
	for i := range xs {
		if !p.ok(xs[i], ys[i]) {
			down = false
			continue
		}
		x, y := p.px(xs[i]), p.py(ys[i])
		if !down {
			p.cmd('M', x, y)
		} else {
			p.b = appendCoord(append(p.b, 'H'), x)
			p.b = appendCoord(append(p.b, 'V'), y)
		}
		down = true
	}
	return string(p.b)
}

// dots writes one zero-length stroke a point; a round cap makes it a dot of the stroke's
// width at any scale.
func (p *pen) dots(xs, ys []float64) string {
	for i := range xs {
		if p.ok(xs[i], ys[i]) {
			p.cmd('M', p.px(xs[i]), p.py(ys[i]))
			p.b = append(p.b, "h0"...)
		}
	}
	return string(p.b)
}

// area fills from the line down to the bottom, one closed shape for each unbroken part.
func (p *pen) area(xs, ys []float64) string {
	for i := 0; i < len(xs); {
		if !p.ok(xs[i], ys[i]) {
			i++
			continue
		}
		j := i
		for j < len(xs) && p.ok(xs[j], ys[j]) {
			j++
		}
		p.cmd('M', p.px(xs[i]), side)
		for k := i; k < j; k++ {
			p.cmd('L', p.px(xs[k]), p.py(ys[k]))
		}
		p.cmd('L', p.px(xs[j-1]), side)
		p.b = append(p.b, 'Z')
		i = j
	}
	return string(p.b)
}

// band fills between low and high, one closed shape for each unbroken part.
func (p *pen) band(xs, low, high []float64) string {
	ok := func(i int) bool { return p.ok(xs[i], low[i]) && p.ok(xs[i], high[i]) }
	for i := 0; i < len(xs); {
		if !ok(i) {
			i++
			continue
		}
		j := i
		for j < len(xs) && ok(j) {
			j++
		}
		for k := i; k < j; k++ {
			c := byte('L')
			if k == i {
				c = 'M'
			}
			p.cmd(c, p.px(xs[k]), p.py(high[k]))
		}
		for k := j - 1; k >= i; k-- {
			p.cmd('L', p.px(xs[k]), p.py(low[k]))
		}
		p.b = append(p.b, 'Z')
		i = j
	}
	return string(p.b)
}

// bars draws bars from the bottom.
func (p *pen) bars(xs, ys []float64, width float64) string {
	for i := range xs {
		if !p.ok(xs[i], ys[i]) || ys[i] == 0 {
			continue
		}
		right := xs[i] + width
		if p.x.log {
			right = xs[i] * width
		}
		x0, x1 := p.px(xs[i]), p.px(right)
		p.cmd('M', x0, side)
		p.b = appendCoord(append(p.b, 'V'), p.py(ys[i]))
		p.b = appendCoord(append(p.b, 'H'), x1)
		p.b = append(p.b, "V1000Z"...)
	}
	return string(p.b)
}

func (s *Series) path(x, y axis) string {
	p := &pen{x: x, y: y}
	switch s.Mode {
	case Step:
		return p.step(s.X, s.Y)
	case Dots:
		return p.dots(s.X, s.Y)
	case Bars:
		return p.bars(s.X, s.Y, s.Width)
	case Band:
		return p.band(s.X, s.Low, s.Y)
	case Area, Line:
	}
	return p.line(s.X, s.Y)
}
