package cost

import (
	"errors"
	"math"
	"testing"

	"github.com/inferencebench/inferencebench/analyst/roofline"
	"pgregory.net/rapid"
)

// Whatever the rates, every split adds up to what the deployment costs.
func TestSplitsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pos := rapid.Float64Range(0.01, 1e5)
		c := rapid.Float64Range(1e-6, 1).Draw(t, "dollars")
		r := Rates{pos.Draw(t, "input"), rapid.Float64Range(0, 1e5).Draw(t, "cached"), pos.Draw(t, "output")}
		if rapid.Bool().Draw(t, "no input") {
			r.Input = 0
		}
		share := rapid.Float64Range(0, 1)
		for _, f := range []func() (Split, error){
			func() (Split, error) { return OutputOnly(c, r) },
			func() (Split, error) { return Blended(c, r) },
			func() (Split, error) { return FixedRatio(c, r) },
			func() (Split, error) { return StandaloneRate(c, r, 20000, 2500) },
			func() (Split, error) { return Marginal(c, r, Steps{0.006, 2e-5, 1e-4}, 80) },
			func() (Split, error) { return TimeSliced(c, r, share.Draw(t, "steps"), share.Draw(t, "tokens")) },
		} {
			s, err := f()
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Total(r); math.Abs(got-c) > 0.001*c {
				t.Fatalf("%s: adds up to %g of %g", s.Method, got, c)
			}
		}
	})
}

func TestNothingServed(t *testing.T) {
	if _, err := Blended(1, Rates{}); !errors.Is(err, errNothing) {
		t.Errorf("error = %v", err)
	}
	if _, err := OutputOnly(1, Rates{Input: 5}); !errors.Is(err, errNothing) {
		t.Errorf("error = %v", err)
	}
	if _, err := FixedRatio(-1, Rates{Output: 1}); err == nil {
		t.Error("a negative price has no error")
	}
	if _, err := PerToken(10, 0); err == nil {
		t.Error("no tokens have an energy")
	}
}

func TestPrices(t *testing.T) {
	for _, p := range Prices() {
		if d, ok := roofline.FindDevice(p.GPU); !ok || d.Name != p.GPU {
			t.Errorf("%s: GPU %q is not in the device table", p.SKU, p.GPU)
		}
		if p.GPUs < 1 || p.USDHour <= 0 || p.AsOf == "" || p.Source == "" {
			t.Errorf("%+v", p)
		}
	}
	if p, ok := FindPrice("P5.48xlarge"); !ok || math.Abs(p.PerGPU()-6.88) > 1e-9 {
		t.Errorf("FindPrice = %+v, %v", p, ok)
	}
}
