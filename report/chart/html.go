package chart

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/inferencebench/inferencebench/report/quantity"
)

// HTML returns the plot as a figure element.
func (p *Plot) HTML() template.HTML {
	var b strings.Builder
	class := "ch"
	if p.Compact {
		class += " ch-compact"
	}
	fmt.Fprintf(&b, `<figure class="%s" id="%s" data-group="%s">`, class, esc(p.ID), esc(p.Group))
	if !p.drawable() {
		p.caption(&b, "")
		why := p.Empty
		if why == "" {
			why = "No data."
		}
		fmt.Fprintf(&b, `<p class="ch-empty">%s</p></figure>`, esc(why))
		return template.HTML(b.String()) //nolint:gosec // every text passes through esc
	}
	x, y := p.axes()
	factor, unit := quantity.Scale(math.Max(math.Abs(y.span.Lo), math.Abs(y.span.Hi)), p.YUnit)
	p.caption(&b, unit)
	fmt.Fprintf(&b, `<div class="ch-body" style="--h:%dpx" tabindex="0" role="img" aria-label="%s">`, p.height(), esc(p.alt(factor, unit)))
	p.yAxis(&b, y, factor)
	b.WriteString(`<div class="ch-plot">`)
	p.svg(&b, x, y)
	p.labels(&b, x)
	b.WriteString(`<div class="ch-cross" hidden></div></div>`)
	if !p.HideX {
		p.xAxis(&b, x)
	}
	b.WriteString(`</div>`)
	p.data(&b, x, y, factor, unit)
	b.WriteString(`</figure>`)
	return template.HTML(b.String()) //nolint:gosec // every text passes through esc
}

func esc(s string) string { return html.EscapeString(s) }

func (p *Plot) caption(b *strings.Builder, unit string) {
	b.WriteString(`<figcaption>`)
	if p.Title != "" {
		fmt.Fprintf(b, `<span class="ch-title">%s</span>`, esc(p.Title))
	}
	if unit != "" {
		fmt.Fprintf(b, ` <span class="ch-unit">%s</span>`, esc(unit))
	}
	shown := 0
	for i := range p.Series {
		if p.Series[i].shown() {
			shown++
		}
	}
	if p.NoLegend {
		shown = 0
	}
	if shown > 1 || shown == 1 && p.Series[0].Name != p.Title && p.Series[0].Name != "" {
		b.WriteString(`<ul class="ch-legend">`)
		for _, s := range p.Series {
			if s.shown() {
				fmt.Fprintf(b, `<li><i class="ch-sw ch-c%d ch-m%s%s"></i>%s</li>`, s.Color, s.Mode, dashed(s.Dashed), esc(s.Name))
			}
		}
		b.WriteString(`</ul>`)
	}
	b.WriteString(`</figcaption>`)
	if p.Note != "" {
		fmt.Fprintf(b, `<p class="ch-note">%s</p>`, esc(p.Note))
	}
}

// shown reports whether the series has a place in the legend: it is not silent and has a
// point.
func (s *Series) shown() bool {
	if s.Silent {
		return false
	}
	for i := range s.X {
		if finite(s.X[i]) && finite(s.Y[i]) {
			return true
		}
	}
	return false
}

// String names the mode, as the style sheet and the script know it.
func (m Mode) String() string {
	return [...]string{"line", "step", "area", "dots", "bars", "band"}[m]
}

func dashed(d bool) string {
	if d {
		return " ch-dashed"
	}
	return ""
}

func (p *Plot) yTickValues(y axis) []float64 {
	if y.log {
		return LogTicks(y.span.Lo, y.span.Hi)
	}
	return Ticks(y.span.Lo, y.span.Hi, p.yTicks())
}

func (p *Plot) yAxis(b *strings.Builder, y axis, factor float64) {
	b.WriteString(`<div class="ch-y" aria-hidden="true">`)
	for _, v := range p.yTickValues(y) {
		fmt.Fprintf(b, `<span style="bottom:%s%%">%s</span>`, pct(y.at(v)), esc(quantity.Digits(v*factor, 3)))
	}
	b.WriteString(`</div>`)
}

func (p *Plot) xTickValues(x axis) []float64 {
	switch {
	case x.log:
		return LogTicks(x.span.Lo, x.span.Hi)
	case p.XUnit == "time":
		return TimeTicks(x.span.Lo, x.span.Hi, 10)
	}
	return Ticks(x.span.Lo, x.span.Hi, 8)
}

func (p *Plot) xAxis(b *strings.Builder, x axis) {
	b.WriteString(`<div class="ch-x" aria-hidden="true">`)
	ticks := p.xTickValues(x)
	for i, v := range ticks {
		class := ""
		if i%2 == 1 && len(ticks) > 5 {
			class = ` class="ch-minor"`
		}
		fmt.Fprintf(b, `<span%s data-x="%s" style="left:%s%%">%s</span>`, class, num(v), pct(x.at(v)), esc(p.xLabel(v)))
	}
	b.WriteString(`</div>`)
}

func (p *Plot) xLabel(v float64) string {
	if p.XUnit == "time" {
		return Clock(v)
	}
	return quantity.Format(v, p.XUnit)
}

// Clock writes a number of seconds since the start of a run: "45 s", "1:30", "2:05:00".
func Clock(s float64) string {
	if math.Abs(s) < 60 {
		return quantity.Digits(s, 3) + "\u202fs"
	}
	t := int(math.Round(s))
	if t < 3600 {
		return fmt.Sprintf("%d:%02d", t/60, t%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", t/3600, t/60%60, t%60)
}

func (p *Plot) svg(b *strings.Builder, x, y axis) {
	b.WriteString(`<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true" focusable="false">`)
	at := &pen{x: x, y: y}
	odd := false
	for _, r := range p.Regions {
		class := "ch-region"
		switch {
		case r.Muted:
			class += " ch-muted"
		case odd:
			class += " ch-odd"
		}
		odd = odd != !r.Muted
		lo, hi := clampTo(x.at(r.From)), clampTo(x.at(r.To))
		fmt.Fprintf(b, `<rect class="%s" x="%s" y="0" width="%s" height="1000"/>`, class, num(lo*side), num((hi-lo)*side))
	}
	var grid strings.Builder
	for _, v := range p.yTickValues(y) {
		fmt.Fprintf(&grid, "M0 %sH1000", num(math.Round(at.py(v)*10)/10))
	}
	fmt.Fprintf(b, `<path class="ch-grid" d="%s"/>`, grid.String())
	for i := range p.Series {
		s := &p.Series[i]
		if s.Mode == Area {
			fmt.Fprintf(b, `<path class="ch-fill ch-c%d" d="%s"/>`, s.Color, (&pen{x: x, y: y}).area(s.X, s.Y))
		}
		few := ""
		if s.Mode == Dots && len(s.X) < 150 {
			few = " ch-few"
		}
		fmt.Fprintf(b, `<path class="ch-s ch-c%d ch-m%s%s%s" d="%s"/>`, s.Color, s.Mode, dashed(s.Dashed), few, s.path(x, y))
	}
	for _, m := range p.Marks {
		if f := x.at(m.X); f >= 0 && f <= 1 {
			fmt.Fprintf(b, `<path class="ch-mark ch-k%s" d="M%s 0V1000"><title>%s</title></path>`, esc(m.Kind), num(math.Round(f*side*10)/10), esc(m.Title))
		}
	}
	b.WriteString(`</svg>`)
}

// labelWidth is how much of the plot a label takes, on a plot of about 700 pixels: it is
// there to keep labels apart, so it is rather too large.
func labelWidth(s string) float64 {
	return float64(utf8.RuneCountInString(s))*6.6/700 + 0.02
}

func clampTo(f float64) float64 { return math.Max(0, math.Min(1, f)) }

// labels writes the names of regions and marks over the drawing.
func (p *Plot) labels(b *strings.Builder, x axis) {
	b.WriteString(`<div class="ch-labels" aria-hidden="true">`)
	for _, r := range p.Regions {
		lo, hi := clampTo(x.at(r.From)), clampTo(x.at(r.To))
		if r.Label != "" && hi-lo > 0.07 {
			fmt.Fprintf(b, `<span class="ch-rlabel" data-x="%s" data-x2="%s" style="left:%s%%;width:%s%%">%s</span>`, num(r.From), num(r.To), pct(lo), pct(hi-lo), esc(r.Label))
		}
	}
	upper, lower := -1.0, -1.0 // where the two rows of mark labels are used up to
	for _, m := range p.Marks {
		if f := x.at(m.X); m.Label != "" && f >= 0 && f <= 1 {
			class := "ch-mlabel ch-k" + esc(m.Kind)
			from, to := f, f+labelWidth(m.Label)
			if to > 1 {
				class += " ch-left"
				from, to = f-labelWidth(m.Label), f
			}
			switch {
			case from >= upper:
				upper = to
			case from >= lower:
				class += " ch-low"
				lower = to
			default: // the line stays, its title says what it is
				continue
			}
			fmt.Fprintf(b, `<span class="%s" data-x="%s" style="left:%s%%">%s</span>`, class, num(m.X), pct(f), esc(m.Label))
		}
	}
	b.WriteString(`</div>`)
}

// alt describes the plot for a screen reader: what is on it and between which values.
func (p *Plot) alt(factor float64, unit string) string {
	if p.Alt != "" {
		return p.Alt
	}
	parts := []string{p.Title}
	for _, s := range p.Series {
		var r Span
		ok, n := false, 0
		for _, v := range s.Y {
			if finite(v) {
				r, ok = r.include(v, ok), true
				n++
			}
		}
		if ok && !s.Silent {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s: %s from %s to %s %s", s.Name, points(n),
				quantity.Digits(r.Lo*factor, 3), quantity.Digits(r.Hi*factor, 3), unit)))
		}
	}
	return strings.Join(parts, ". ") + ". Arrow keys read values."
}

// points is "1 point" or "12 points".
func points(n int) string {
	if n == 1 {
		return "1 point"
	}
	return strconv.Itoa(n) + " points"
}

// plotData is what the script needs for crosshair and zoom.
type plotData struct {
	X axisData     `json:"x"`
	Y axisData     `json:"y"`
	S []seriesData `json:"s"`
	M []markData   `json:"m,omitempty"`
}

type axisData struct {
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi"`
	Log    bool    `json:"log,omitempty"`
	Unit   string  `json:"unit"`
	Factor float64 `json:"f,omitempty"`
}

type seriesData struct {
	Name  string    `json:"n"`
	Color int       `json:"c"`
	Mode  string    `json:"m"`
	X     []compact `json:"x,omitempty"`
	SameX *int      `json:"sx,omitempty"` // the index of the series that has the same X
	Y     []compact `json:"y"`
	Low   []compact `json:"l,omitempty"`
}

type markData struct {
	X     float64 `json:"x"`
	Title string  `json:"t"`
	Kind  string  `json:"k,omitempty"`
}

// compact is a number written with five significant digits, or null when not finite.
type compact float64

// MarshalJSON writes the number.
func (c compact) MarshalJSON() ([]byte, error) {
	if !finite(float64(c)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(c), 'g', 6, 64), nil
}

func compacts(v []float64) []compact {
	out := make([]compact, len(v))
	for i, x := range v {
		out[i] = compact(x)
	}
	return out
}

func (p *Plot) data(b *strings.Builder, x, y axis, factor float64, unit string) {
	d := plotData{
		X: axisData{Lo: x.span.Lo, Hi: x.span.Hi, Log: x.log, Unit: p.XUnit},
		Y: axisData{Lo: y.span.Lo, Hi: y.span.Hi, Log: y.log, Unit: unit, Factor: factor},
	}
	first := map[*float64]int{}
	for i := range p.Series {
		s := &p.Series[i]
		if s.Silent || len(s.X) == 0 {
			continue
		}
		sd := seriesData{Name: s.Name, Color: s.Color, Mode: s.Mode.String(), Y: compacts(s.Y)}
		if s.Mode == Band {
			sd.Low = compacts(s.Low)
		}
		if j, ok := first[&s.X[0]]; ok && len(d.S[j].X) == len(s.X) {
			sd.SameX = &j
		} else {
			first[&s.X[0]] = len(d.S)
			sd.X = compacts(s.X)
		}
		d.S = append(d.S, sd)
	}
	for _, m := range p.Marks {
		if finite(m.X) {
			d.M = append(d.M, markData{m.X, m.Title, m.Kind})
		}
	}
	j, err := json.Marshal(d)
	if err != nil { // only a non-finite axis could do this, and axes are finite
		return
	}
	b.WriteString(`<script type="application/json" class="ch-data">`)
	b.Write(j)
	b.WriteString(`</script>`)
}

func pct(f float64) string { return strconv.FormatFloat(math.Round(f*1e4)/100, 'f', -1, 64) }
func num(f float64) string { return strconv.FormatFloat(f, 'g', 8, 64) }
