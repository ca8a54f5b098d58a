package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTicks(t *testing.T) {
	near := cmpopts.EquateApprox(1e-9, 1e-12)
	for _, c := range []struct {
		why  string
		got  []float64
		want []float64
	}{
		{"steps are 1, 2 or 5 times a power of ten", Ticks(0, 1, 5), []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{"ticks stay inside the span", Ticks(0.3, 9.9, 4), []float64{5}},
		{"zero is exactly zero", Ticks(-1, 1, 2), []float64{-1, 0, 1}},
		{"an empty span has no ticks", Ticks(3, 3, 5), nil},
		{"a time axis counts in quarter minutes", TimeTicks(0, 60, 4), []float64{0, 15, 30, 45, 60}},
		{"a log axis over two decades has 1, 2, 5", LogTicks(1, 100), []float64{1, 2, 5, 10, 20, 50, 100}},
		{"a log axis over many decades has powers of ten", LogTicks(1, 1000), []float64{1, 10, 100, 1000}},
		{"a log axis cannot start at zero", LogTicks(0, 10), nil},
	} {
		if d := cmp.Diff(c.want, c.got, near); d != "" {
			t.Errorf("%s: %s", c.why, d)
		}
	}
}

func TestThinKeepsEndsAndPeak(t *testing.T) {
	n := 10_000
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(float64(i)/500)
	}
	y[7321] = 50
	tx, ty := Thin(x, y, 200)
	if len(tx) != 200 || tx[0] != 0 || tx[199] != float64(n-1) {
		t.Fatalf("Thin kept %d points from %v to %v; want 200 from 0 to %d", len(tx), tx[0], tx[len(tx)-1], n-1)
	}
	found := false
	for _, v := range ty {
		found = found || v == 50
	}
	if !found {
		t.Error("Thin lost the only peak")
	}
}

// hostile is text as a server or a user may send it.
const hostile = `</script><script>alert(1)</script><img src=x onerror="alert(2)">`

func plot() *Plot {
	return &Plot{
		ID: "p", Title: "Latency " + hostile, Note: hostile, XUnit: "time", YUnit: "ms",
		Series: []Series{
			{Name: hostile, Mode: Line, Color: 1, X: []float64{0, 1, 2, 3}, Y: []float64{1, math.NaN(), 3, 400}},
			{Name: "band", Mode: Band, Color: 2, X: []float64{0, 1, 2}, Y: []float64{5, 6, 7}, Low: []float64{1, 2, math.NaN()}},
			{Name: "dots", Mode: Dots, Color: 3, X: []float64{2.5, 0.5}, Y: []float64{5, math.Inf(1)}},
			{Name: "bars", Mode: Bars, Color: 4, X: []float64{0, 1}, Y: []float64{5, 6}, Width: 1},
			{Name: "step", Mode: Step, Color: 5, X: []float64{0, 1}, Y: []float64{5, 6}},
			{Name: "area", Mode: Area, Color: 6, X: []float64{0, 1}, Y: []float64{5, 6}},
		},
		Marks:   []Mark{{X: 1, Label: hostile, Title: hostile, Kind: "error"}},
		Regions: []Region{{From: 0, To: 2, Label: hostile}},
	}
}

func TestPlotIsWellFormedAndEscaped(t *testing.T) {
	out := string(plot().HTML())
	wellFormed(t, out)
	if n := strings.Count(out, "<script"); n != 1 {
		t.Errorf("the figure has %d script elements; want only its own data", n)
	}
	for _, bad := range []string{"<img", "NaN", "Inf", "http://", "https://"} {
		if strings.Contains(out, bad) {
			t.Errorf("the figure contains %q", bad)
		}
	}
}

func TestPlotGapIsNotJoined(t *testing.T) {
	p := Plot{ID: "g", Series: []Series{{Name: "a", X: []float64{0, 1, 2, 3}, Y: []float64{0, 1, math.NaN(), 1}}}, X: Span{0, 4}, Y: Span{0, 1}}
	if got, want := p.Series[0].path(axis{span: p.X}, axis{span: p.Y}), "M0 1000L250 0M750 0h0"; got != want {
		t.Errorf("path = %q; want %q", got, want)
	}
}

func TestPlotWithoutDataSaysWhy(t *testing.T) {
	p := Plot{ID: "e", Title: "KV cache", Empty: "The engine does not expose it.", Series: []Series{{X: []float64{1}, Y: []float64{math.NaN()}}}}
	out := string(p.HTML())
	wellFormed(t, out)
	if !strings.Contains(out, "The engine does not expose it.") || strings.Contains(out, "<svg") {
		t.Errorf("an empty plot must say why and draw nothing:\n%s", out)
	}
}

func TestRadarUnknownIsAGap(t *testing.T) {
	spokes := []Spoke{{"speed", ""}, {"cost", hostile}, {"quality", ""}, {"stability", ""}, {"efficiency", ""}}
	out := string(Radar("r", spokes, []Shape{{Name: "run", Color: 1, Values: []float64{0.5, math.NaN(), 1, 0.2, 0.7}}}))
	wellFormed(t, out)
	if strings.Contains(out, `<polygon class="ch-fill`) {
		t.Error("a shape with an unknown value was filled")
	}
	if !strings.Contains(out, ">?</text>") {
		t.Error("the unknown spoke has no question mark")
	}
	if got := strings.Count(out, "<circle class=\"ch-dot"); got != 4 {
		t.Errorf("%d dots; want 4", got)
	}
}

func wellFormed(t *testing.T, s string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.ReplaceAll(s, "hidden>", `hidden="">`)))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, s)
		}
	}
}

func FuzzThin(f *testing.F) {
	f.Add(100, 10, 1.5)
	f.Add(3, 3, math.NaN())
	f.Fuzz(func(t *testing.T, n, keep int, v float64) {
		if n < 0 || n > 5000 {
			return
		}
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(i), v*float64(i%7)
		}
		tx, ty := Thin(x, y, keep)
		if len(tx) != len(ty) || keep >= 3 && len(tx) > keep && n > keep {
			t.Errorf("Thin(%d points, %d) = %d, %d points", n, keep, len(tx), len(ty))
		}
	})
}

func TestMarkLabelsAreThinned(t *testing.T) {
	p := plot()
	p.X, p.Marks = Span{Lo: 0, Hi: 100}, nil
	for i := range 12 {
		p.Marks = append(p.Marks, Mark{X: 40 + float64(i)/10, Label: "source_lost", Title: "lost", Kind: "warning"})
	}
	out := string(p.HTML())
	if n := strings.Count(out, "ch-mlabel"); n != 2 {
		t.Errorf("%d labels of 12 events within 1 %% of the plot; want 2, one a row", n)
	}
	if n := strings.Count(out, `class="ch-mark`); n != 12 {
		t.Errorf("%d lines of 12 events", n)
	}
}
