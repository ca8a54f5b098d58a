package counter

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestDelta(t *testing.T) {
	tests := []struct {
		why   string
		in    []float64
		want  float64
		reset bool
		ok    bool
	}{
		{"steady growth", []float64{10, 15, 30}, 20, false, true},
		{"a restart in between is a lower bound, never negative", []float64{90_000, 95_000, 1_200, 4_000}, 9_000, true, true},
		{"a restart at the end", []float64{100, 150, 10}, 60, true, true},
		{"no growth is zero", []float64{7, 7}, 0, false, true},
		{"one sample says nothing", []float64{7}, 0, false, false},
		{"none says nothing", nil, 0, false, false},
		{"unusable samples are passed over", []float64{1, math.NaN(), 4, -3, math.Inf(1), 6}, 5, false, true},
	}
	for _, tt := range tests {
		d, reset, ok := Delta(tt.in)
		if d != tt.want || reset != tt.reset || ok != tt.ok {
			t.Errorf("%s: Delta(%v) = %v, %v, %v; want %v, %v, %v", tt.why, tt.in, d, reset, ok, tt.want, tt.reset, tt.ok)
		}
	}
}

func TestDeltaNeverExceedsTrueGrowth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 50).Draw(t, "growth")
		restarts := rapid.SliceOfN(rapid.Bool(), len(steps), len(steps)).Draw(t, "restart")
		v, truth, restarted := 100.0, 0.0, false
		samples := []float64{v}
		for i, g := range steps {
			if restarts[i] {
				v, restarted = 0, true
			}
			v += float64(g)
			truth += float64(g)
			samples = append(samples, v)
		}
		d, reset, ok := Delta(samples)
		if !ok || d < 0 || d > truth {
			t.Fatalf("Delta(%v) = %v, %v; want between 0 and %v", samples, d, ok, truth)
		}
		if !restarted && (d != truth || reset) {
			t.Fatalf("Delta(%v) = %v, reset %v; want exactly %v without reset", samples, d, reset, truth)
		}
	})
}

func TestIntegral(t *testing.T) {
	ramp := []Point{{0, 0}, {1, 100}, {2, 200}, {3, 300}}
	tests := []struct {
		why      string
		in       []Point
		from, to float64
		want     float64
		ok       bool
	}{
		{"whole ramp", ramp, 0, 3, 450, true},
		{"edges between samples", ramp, 0.5, 1.5, 100, true},
		{"the window starts before the data", ramp, -1, 2, 0, false},
		{"the window ends after the data", ramp, 1, 4, 0, false},
		{"an empty window", ramp, 2, 2, 0, false},
		{"a gap inside the window is refused", []Point{{0, 1}, {1, 1}, {9, 1}, {10, 1}}, 0, 10, 0, false},
		{"a gap outside the window is not", []Point{{0, 1}, {1, 1}, {9, 1}, {10, 1}}, 9, 10, 1, true},
		{"an unknown value is refused", []Point{{0, 1}, {1, math.NaN()}, {2, 1}}, 0, 2, 0, false},
	}
	for _, tt := range tests {
		got, ok := Integral(tt.in, tt.from, tt.to, 2)
		if math.Abs(got-tt.want) > 1e-9 || ok != tt.ok {
			t.Errorf("%s: Integral(%v, %v, %v) = %v, %v; want %v, %v", tt.why, tt.in, tt.from, tt.to, got, ok, tt.want, tt.ok)
		}
	}
}

func TestAt(t *testing.T) {
	pts := []Point{{0, 10}, {1, 20}, {2, 5}, {9, 40}}
	tests := []struct {
		why  string
		t    float64
		want float64
		ok   bool
	}{
		{"between samples", 0.5, 15, true}, {"on a sample", 2, 5, true}, {"across a reset", 1.5, 0, false},
		{"across a gap", 5, 0, false}, {"before the first", -1, 0, false}, {"after the last", 10, 0, false},
	}
	for _, tt := range tests {
		if got, ok := At(pts, tt.t, 3); got != tt.want || ok != tt.ok {
			t.Errorf("%s: At(%v) = %v, %v; want %v, %v", tt.why, tt.t, got, ok, tt.want, tt.ok)
		}
	}
}
