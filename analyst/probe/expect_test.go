package probe

import (
	"math"
	"slices"
	"testing"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/archive"
)

// Every experiment answers best to its own cause, every pair is listed once with a reason,
// and none names an experiment that there is not.
func TestExpectations(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, e := range expectations {
		if k := [2]string{e.Probe, e.Cause}; seen[k] {
			t.Errorf("%v is listed twice", k)
		} else {
			seen[k] = true
		}
		if e.Why == "" || !(e.Confirm > rarely && e.Confirm < 1) {
			t.Errorf("%+v lacks a reason or says nothing", e)
		}
		i := slices.IndexFunc(All(), func(p Probe) bool { return p.ID == e.Probe })
		if i < 0 {
			t.Fatalf("no experiment %s", e.Probe)
		}
		if own := confirms(e.Probe, All()[i].Cause); e.Confirm > own {
			t.Errorf("%s answers better to %s than to its own cause", e.Probe, e.Cause)
		}
	}
	for _, p := range All() {
		if !seen[[2]string{p.ID, p.Cause}] {
			t.Errorf("%s expects nothing of its own cause", p.ID)
		}
	}
}

// By hand: with even weights a perfect experiment tells the one bit there is, one that
// answers alike tells none, and one that errs in a tenth 1 − H(0.1) = 0.531 bits.
func TestGain(t *testing.T) {
	even := []float64{0.5, 0.5}
	for _, c := range []struct {
		weights, confirm []float64
		want             float64
	}{
		{even, []float64{1, 0}, 1},
		{even, []float64{0.6, 0.6}, 0},
		{even, []float64{0.9, 0.1}, 0.5310},
		{even, []float64{0.1, 0.9}, 0.5310},
		{[]float64{1, 0}, []float64{0.9, 0.1}, 0},
		{[]float64{0.25, 0.25, 0.25, 0.25}, []float64{1, 1, 0, 0}, 1},
	} {
		if got := gain(c.weights, c.confirm); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("gain(%v, %v) = %.4f; want %.4f", c.weights, c.confirm, got, c.want)
		}
	}
	last := math.Inf(1)
	for _, other := range []float64{0, 0.1, 0.3, 0.6, 0.9} {
		got := gain(even, []float64{0.9, other})
		if got >= last || got < -1e-12 {
			t.Errorf("gain where the other cause confirms in %.1f is %.3f after %.3f; want it to fall", other, got, last)
		}
		last = got
	}
}

// Of two experiments that tell as much, the one without a restart of the server is first,
// and one that both causes answer to tells less than one that only its own does.
func TestChooseByTheMinute(t *testing.T) {
	order := func(causes ...string) (out []Choice) {
		var fs []archive.Finding
		for _, c := range causes {
			fs = append(fs, archive.Finding{ID: c, Cause: c, Score: 0.8})
		}
		return Choose(fs)
	}
	got := order(attribute.Throttle, attribute.Network)
	if got[0].ID != "P11" || math.Abs(got[0].Bits-got[1].Bits) > 1e-9 || got[1].Minutes != 6 {
		t.Errorf("chose %+v; want the round trip before the power limit, for the same bits", got)
	}
	if got = order(attribute.Prefill, attribute.Frontend); got[0].ID != "P9" || !(got[0].Bits > got[1].Bits) {
		t.Errorf("chose %+v; want the load before the prompt length, which the front end answers to as well", got)
	}
}
