package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/chart"
)

// sweepPoint is one phase of a sweep.
type sweepPoint struct {
	asked float64 // concurrency, or requests a second
	w     archive.Window
}

// minSweep is how many different loads make a curve.
const minSweep = 3

// sweep draws the phases of a run as curves over the load that was asked for, when there
// are enough different loads: throughput, latency, and whether the client kept up. It is
// nil for any other run.
func sweep(a *archive.Analysis) []template.HTML {
	points, unit := sweepPoints(a)
	if points == nil {
		return nil
	}
	xs := make([]float64, len(points))
	for i, p := range points {
		xs[i] = p.asked
	}
	log := xs[0] > 0 && xs[len(xs)-1]/xs[0] > 12
	name := "asked concurrency"
	if unit != "" {
		name = "asked rate"
	}
	curve := func(id, stat string) []float64 {
		out := make([]float64, len(points))
		for i, p := range points {
			out[i] = math.NaN()
			if m, ok := metricOf(a, "phase:"+p.w.Phase, id); ok {
				e := m.Stats[stat]
				out[i] = e.Value.Or(e.Sample.Or(math.NaN()))
			}
		}
		return out
	}
	var out []template.HTML
	plot := func(id, title, yunit string, lines ...chart.Series) {
		some := false
		for _, l := range lines {
			some = some || slices.ContainsFunc(l.Y, func(v float64) bool { return !math.IsNaN(v) })
		}
		if !some {
			return
		}
		p := &chart.Plot{ID: "s-" + id, Title: title, Note: "Over " + name + ".", XUnit: unit, YUnit: yunit, XLog: log, Height: 190, Group: "sweep", Marks: knees(a, unit)}
		if pad := (xs[len(xs)-1] - xs[0]) * 0.03; !log {
			p.X = chart.Span{Lo: math.Max(0, xs[0]-pad), Hi: xs[len(xs)-1] + pad}
		} else {
			p.X = chart.Span{Lo: xs[0] / 1.1, Hi: xs[len(xs)-1] * 1.1}
		}
		for _, l := range lines {
			l.X = xs
			p.Series = append(p.Series, l)
			if !l.Dashed {
				p.Series = append(p.Series, chart.Series{Name: l.Name, Mode: chart.Dots, Color: l.Color, X: xs, Y: l.Y, Silent: true})
			}
		}
		out = append(out, p.HTML())
	}
	plot("rate", "Output throughput", "tok/s", chart.Series{Name: "output tokens", Color: 3, Y: curve("output_rate", "value")})
	plot("ttft", "Time to first token", "ms", chart.Series{Name: "median", Color: 1, Y: curve("ttft", "p50")}, chart.Series{Name: "P99", Color: 2, Y: curve("ttft", "p99")})
	plot("tpot", "Time per output token", "ms", chart.Series{Name: "median", Color: 1, Y: curve("tpot", "p50")}, chart.Series{Name: "P99", Color: 2, Y: curve("tpot", "p99")})
	got := make([]float64, len(points))
	for i, p := range points {
		if unit == "" {
			got[i] = p.w.EffectiveConcurrency.Or(math.NaN())
		} else {
			got[i] = p.w.AchievedRate.Or(math.NaN())
		}
	}
	title := "Concurrency that was reached"
	if unit != "" {
		title = "Rate that was reached"
	}
	plot("kept", title, unit, chart.Series{Name: "reached", Color: 1, Y: got}, chart.Series{Name: "asked", Color: 7, Y: slices.Clone(xs), Dashed: true})
	return out
}

// sweepPoints are the phases in order of load; nil when they make no curve. The unit is
// "req/s" for a sweep over rates.
func sweepPoints(a *archive.Analysis) ([]sweepPoint, string) {
	for _, by := range []struct {
		unit string
		of   func(archive.Window) archive.Opt[float64]
	}{
		{"", func(w archive.Window) archive.Opt[float64] { return w.AskedConcurrency }},
		{"req/s", func(w archive.Window) archive.Opt[float64] { return w.AskedRate }},
	} {
		var out []sweepPoint
		seen := map[float64]bool{}
		for _, w := range a.Windows {
			if v, ok := by.of(w).Get(); ok && v > 0 && !seen[v] {
				seen[v] = true
				out = append(out, sweepPoint{v, w})
			}
		}
		if len(out) >= minSweep {
			slices.SortFunc(out, func(x, y sweepPoint) int { return cmp.Compare(x.asked, y.asked) })
			return out, by.unit
		}
	}
	return nil, ""
}

// knees are marked where the analysis has found one.
func knees(a *archive.Analysis, unit string) []chart.Mark {
	var out []chart.Mark
	for _, e := range a.Evidence {
		v, ok := e.Value.Get()
		if !ok || e.Unit != unit {
			continue
		}
		switch e.Metric {
		case "knee":
			out = append(out, chart.Mark{X: v, Label: "knee", Title: OneLine(e.Text)})
		case "client_limit":
			out = append(out, chart.Mark{X: v, Label: "client limit", Title: OneLine(e.Text), Kind: "warning"})
		case "max_sustainable":
			out = append(out, chart.Mark{X: v, Label: fmt.Sprintf("sustainable %s", plain(v, unit)), Title: OneLine(e.Text)})
		}
	}
	return out
}
