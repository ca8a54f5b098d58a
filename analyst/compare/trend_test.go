package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// history is n values around 100 with 1 % of noise, times level from the index at on.
func history(seed uint64, n, at int, level float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]float64, n)
	for i := range out {
		out[i] = 100 * math.Exp(0.01*rng.NormFloat64())
		if i >= at {
			out[i] *= level
		}
	}
	return out
}

func TestTrendFindsALastingChange(t *testing.T) {
	found, near := 0, 0
	for seed := range uint64(100) {
		tr := TrendOf(history(seed, 40, 20, 1.06))
		if tr.Drifted && math.Abs(tr.Change-0.06) < 0.02 {
			found++
			if tr.From >= 17 && tr.From <= 23 {
				near++
			}
		}
	}
	if found < 90 || near < 75 {
		t.Errorf("a change of 6 %% was found in %d of 100 histories, near its run in %d; want 90 and 75", found, near)
	}
}

func TestTrendOfNothingIsQuiet(t *testing.T) {
	alarms := 0
	for seed := range uint64(200) {
		if TrendOf(history(seed, 20, 99, 1)).Drifted {
			alarms++
		}
	}
	t.Logf("false alarms: %d of 200 histories of 20 runs", alarms)
	if alarms > 20 {
		t.Errorf("%d of 200 histories without a change raise an alarm; want at most 20", alarms)
	}
}

func TestFloorIsTheNoiseBetweenTwoRuns(t *testing.T) {
	sd, ok := Floor(history(3, 400, 200, 1.5)) // the step does not count
	if !ok || sd < 0.012 || sd > 0.0165 {
		t.Errorf("floor = %v, %v; want about 0.0141", sd, ok)
	}
	if _, ok := Floor(history(1, MinNoiseRuns-1, 99, 1)); ok {
		t.Error("a floor from too few runs")
	}
	if tr := TrendOf([]float64{1, 2, 0, 4, 5, 6, 7}); tr.Reason == "" || tr.Drifted {
		t.Errorf("a zero tells nothing, got %+v", tr)
	}
}

func TestNewRunOutsideItsHistory(t *testing.T) {
	tr := TrendOf(history(5, 20, 99, 1))
	if _, out := tr.Outside(tr.Reference * 1.01); out {
		t.Error("1 % is within the noise")
	}
	if change, out := tr.Outside(tr.Reference * 1.1); !out || math.Abs(change-0.1) > 1e-9 {
		t.Errorf("10 %% = %v, %v; want outside", change, out)
	}
}
