package chart

import (
	"math"
)

// Mode is how a series is drawn.
type Mode int

// The modes.
const (
	Line Mode = iota // points joined; a NaN is a gap
	Step             // each value holds until the next x
	Area             // a line with the space below it filled
	Dots             // one dot a point
	Bars             // a bar from x to x+Width, from the bottom
	Band             // the space between Low and Y filled
)

// Series is one set of points of a plot. X must not fall except for Dots.
type Series struct {
	Name  string
	Mode  Mode
	Color int // 1 to 8: a colour of the palette; 0 is the colour of text
	X, Y  []float64
	// Low is the lower edge of a Band.
	Low []float64
	// Width is the width of each of the Bars, in units of x; with a logarithmic x axis it
	// is a factor: a bar reaches from x to x times Width.
	Width  float64
	Dashed bool
	// Silent keeps the series out of legend and crosshair.
	Silent bool
}

// Mark is a vertical line at something dated or counted, such as a percentile.
type Mark struct {
	X     float64
	Label string // short; shown at the top of the line
	Title string // the whole sentence, for the crosshair
	Kind  string // "", "warning" or "error"
}

// Region is a shaded part of the x axis, such as a phase.
type Region struct {
	From, To float64
	Label    string
	Muted    bool // drawn as not measured, such as a warm-up
}

// Plot is a chart with two axes.
type Plot struct {
	ID     string // unique on the page; letters, digits and "-"
	Title  string
	Note   string // one sentence under the title
	Alt    string // what the chart shows, for those who cannot see it; made from the data when ""
	Group  string // plots of one group share crosshair and zoom
	Height int    // of the plot area, in px; 160 when 0

	XUnit, YUnit string // as package quantity knows them; XUnit "time" is seconds of a run
	XLog, YLog   bool
	X, Y         Span
	HideX        bool // no labels on the x axis, for stacked plots
	Compact      bool // legend and title on one line, for stacked plots
	NoLegend     bool

	Series  []Series
	Marks   []Mark
	Regions []Region
	// Empty says why there is nothing to draw; it is shown instead of the plot when no
	// series has a finite point.
	Empty string
}

// drawable reports whether any series has a point that can be drawn.
func (p *Plot) drawable() bool {
	for _, s := range p.Series {
		for i := range s.X {
			if finite(s.X[i]) && finite(s.Y[i]) {
				return true
			}
		}
	}
	return false
}

// axes fixes both axes from the spans that were asked for, or from the data.
func (p *Plot) axes() (x, y axis) {
	xs, ys := p.X, p.Y
	var dx, dy Span
	okx, oky := false, false
	for _, s := range p.Series {
		for i := range s.X {
			if !finite(s.X[i]) || !finite(s.Y[i]) || p.XLog && s.X[i] <= 0 || p.YLog && s.Y[i] <= 0 {
				continue
			}
			dx, okx = dx.include(s.X[i], okx), true
			if s.Mode == Bars {
				if p.XLog {
					dx = dx.include(s.X[i]*s.Width, true)
				} else {
					dx = dx.include(s.X[i]+s.Width, true)
				}
			}
			dy, oky = dy.include(s.Y[i], oky), true
			if s.Mode == Band && finite(s.Low[i]) && (!p.YLog || s.Low[i] > 0) {
				dy = dy.include(s.Low[i], true)
			}
		}
	}
	if xs.empty() {
		xs = dx
		if !(xs.Hi > xs.Lo) {
			xs.Hi = xs.Lo + 1
			if p.XLog {
				xs.Hi = xs.Lo * 10
			}
		}
	}
	if ys.empty() {
		switch {
		case p.YLog && dy.Lo > 0:
			ys = Span{dy.Lo / 1.1, dy.Hi * 1.1}
		default:
			ys = roundUp(dy, p.yTicks())
		}
	}
	return axis{xs, p.XLog && xs.Lo > 0}, axis{ys, p.YLog && ys.Lo > 0}
}

func (p *Plot) height() int {
	if p.Height > 0 {
		return p.Height
	}
	return 160
}

func (p *Plot) yTicks() int { return max(3, p.height()/42) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
