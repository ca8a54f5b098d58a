package compare

import (
	"math"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func TestOutputRateIsThatOfTheReport(t *testing.T) {
	analysis := func(rate float64) *archive.Analysis {
		return &archive.Analysis{Metrics: []archive.Metric{{ID: "output_rate", Scope: "all", Stats: map[string]archive.Estimate{"value": {Value: archive.Some(rate)}}}}}
	}
	base, head := play(t, 1, 1, 0), play(t, 1, 2, 0)
	base.Measured(analysis(400))
	head.Measured(analysis(380))
	for _, d := range Compare(base, head) {
		if d.Metric != "output_rate" {
			continue
		}
		if d.Base != 400 || d.Head != 380 || math.Abs(d.Change+0.05) > 1e-9 || d.Low > d.Change || d.High < d.Change {
			t.Errorf("output rate = %v; want 400 → 380 with its interval around -5 %%", d.String())
		}
		return
	}
	t.Error("no output rate was compared")
}

func TestNoChangeHasNoSign(t *testing.T) {
	for change, want := range map[float64]string{-0.0004: "0.0 %", 0.0004: "0.0 %", -0.0006: "-0.1 %", 0.012: "+1.2 %"} {
		if got := Percent(change); got != want {
			t.Errorf("Percent(%v) = %q; want %q", change, got, want)
		}
	}
}

func TestNoiseMakesAGateUndecided(t *testing.T) {
	base, head := play(t, 1, 1, 0), play(t, 1, 2, 0.1)
	rules := []Rule{{"tpot", "mean", 0.01}}
	if got := Gate(base, head, rules, Options{}); got.State != Fail {
		t.Errorf("state = %s; want %s", got.State, Fail)
	}
	noisy := Options{NoiseOf: map[Stat]float64{{"tpot", "mean"}: 1}}
	if got := Gate(base, head, rules, noisy); got.State != Undecided {
		t.Errorf("state on a noisy machine = %s; want %s", got.State, Undecided)
	}
}
