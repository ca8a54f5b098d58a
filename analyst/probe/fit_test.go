package probe

import (
	"math/rand/v2"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// Known constants come back within their intervals.
func TestFitsFindTheConstants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var points []Point
	for i := range 200 {
		p := Point{Users: float64(1 + 3*(i%2)), Prompt: 200 + 1800*rng.Float64(), Output: 64}
		p.TPOT = 8 + 0.2*p.Users + 0.05*p.Users*(p.Prompt+32)/1000 + 0.05*rng.NormFloat64()
		k := p.Prompt / 1000
		p.TTFT = 12 + 40*k + 3*k*k + 0.3*rng.NormFloat64()
		points = append(points, p)
	}
	want := map[string]float64{"step_base": 8, "step_each": 0.2, "step_context": 0.05, "ttft_square": 3}
	seen := 0
	for _, f := range Fits(points) {
		w, ok := want[f.ID]
		if !ok {
			continue
		}
		seen++
		// The interval misses the truth once in twenty: twice its width does not.
		half := f.High.Or(0) - f.Value.Or(0)
		if d := f.Value.Or(0) - w; d > 2*half || d < -2*half || half <= 0 {
			t.Errorf("%s is %v [%v, %v], the truth is %v", f.ID, f.Value, f.Low, f.High, w)
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d constants", seen, len(want))
	}
}

// What cannot be told is unknown, with a reason.
func TestFitsSayWhatTheyCannotTell(t *testing.T) {
	same := make([]Point, 20)
	for i := range same {
		same[i] = Point{Users: 1, Prompt: 500, Output: 64, TTFT: 30, TPOT: 8}
	}
	for name, points := range map[string][]Point{"none": nil, "equal": same} {
		for _, f := range Fits(points) {
			if f.Value != (archive.Opt[float64]{}) || f.Reason == "" {
				t.Errorf("%s: %s is %v without a reason to be unknown", name, f.ID, f.Value)
			}
		}
	}
}
