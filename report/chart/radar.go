package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Spoke is one axis of a radar.
type Spoke struct{ Name, Title string }

// Shape is one run on a radar: a value from 0 to 1 for each spoke, NaN where unknown.
type Shape struct {
	Name   string
	Color  int
	Values []float64
}

// Radar draws spokes from a common centre with one shape a run. An unknown value leaves
// a gap in the shape and, when no shape knows it, a question mark on the spoke: it is
// never drawn as zero.
func Radar(id string, spokes []Spoke, shapes []Shape) template.HTML {
	const r = 100.0
	n := float64(len(spokes))
	at := func(i int, v float64) (float64, float64) {
		a := 2*math.Pi*float64(i)/n - math.Pi/2
		return v * r * math.Cos(a), v * r * math.Sin(a)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="ch-radar" id="%s" viewBox="-170 -135 340 270" role="img" aria-label="%s">`, esc(id), esc(radarAlt(spokes, shapes)))
	for _, ring := range []float64{0.25, 0.5, 0.75, 1} {
		b.WriteString(`<polygon class="ch-ring" points="`)
		for i := range spokes {
			x, y := at(i, ring)
			fmt.Fprintf(&b, "%.1f,%.1f ", x, y)
		}
		b.WriteString(`"/>`)
	}
	for i, s := range spokes {
		known := false
		for _, sh := range shapes {
			known = known || i < len(sh.Values) && finite(sh.Values[i])
		}
		x, y := at(i, 1)
		class := "ch-spoke"
		if !known {
			class += " ch-unknown"
		}
		fmt.Fprintf(&b, `<path class="%s" d="M0 0L%.1f %.1f"/>`, class, x, y)
		lx, ly := at(i, 1.14)
		anchor := "middle"
		if lx > 12 {
			anchor = "start"
		} else if lx < -12 {
			anchor = "end"
		}
		fmt.Fprintf(&b, `<text class="ch-rtext" x="%.1f" y="%.1f" text-anchor="%s"><title>%s</title>%s</text>`, lx, ly+4, anchor, esc(s.Title), esc(s.Name))
		if !known {
			qx, qy := at(i, 0.62)
			fmt.Fprintf(&b, `<circle class="ch-qbg" cx="%.1f" cy="%.1f" r="9"/><text class="ch-q" x="%.1f" y="%.1f" text-anchor="middle">?</text>`, qx, qy, qx, qy+4)
		}
	}
	for _, sh := range shapes {
		shape(&b, sh, len(spokes), at)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // every text passes through esc
}

// shape joins neighbours that are both known, fills the shape when all are, and dots
// every known value.
func shape(b *strings.Builder, sh Shape, n int, at func(int, float64) (float64, float64)) {
	known := func(i int) bool { return i < len(sh.Values) && finite(sh.Values[i]) }
	all := true
	var line, fill strings.Builder
	for i := range n {
		if !known(i) {
			all = false
			continue
		}
		x, y := at(i, sh.Values[i])
		fmt.Fprintf(&fill, "%.1f,%.1f ", x, y)
		if j := (i + 1) % n; known(j) && n > 1 {
			x2, y2 := at(j, sh.Values[j])
			fmt.Fprintf(&line, "M%.1f %.1fL%.1f %.1f", x, y, x2, y2)
		}
	}
	if all {
		fmt.Fprintf(b, `<polygon class="ch-fill ch-c%d" points="%s"/>`, sh.Color, fill.String())
	}
	fmt.Fprintf(b, `<path class="ch-s ch-c%d ch-mline" d="%s"/>`, sh.Color, line.String())
	for i := range n {
		if known(i) {
			x, y := at(i, sh.Values[i])
			fmt.Fprintf(b, `<circle class="ch-dot ch-c%d" cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>`, sh.Color, x, y, esc(fmt.Sprintf("%s: %.2f", sh.Name, sh.Values[i])))
		}
	}
}

func radarAlt(spokes []Spoke, shapes []Shape) string {
	var parts []string
	for _, sh := range shapes {
		for i, s := range spokes {
			v := "unknown"
			if i < len(sh.Values) && finite(sh.Values[i]) {
				v = fmt.Sprintf("%.2f of 1", sh.Values[i])
			}
			parts = append(parts, fmt.Sprintf("%s %s", s.Name, v))
		}
	}
	return "Radar. " + strings.Join(parts, ", ")
}
