package arrival_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/loadgen/arrival"
)

func TestConstantIsExactAtEveryCount(t *testing.T) {
	p := arrival.Constant{Rate: 3}
	var prev time.Duration
	for n := range uint64(100_000) {
		due, ok := p.Next(prev, n)
		want := time.Duration(math.Round(float64(n) / 3 * 1e9))
		if !ok || due != want {
			t.Fatalf("Constant{3}.Next(%v, %d) = %v, %v; want %v", prev, n, due, ok, want)
		}
		prev = due
	}
}

func TestNextIsAFunctionOfItsArguments(t *testing.T) {
	p := arrival.Poisson{Rate: 50, Seed: 7}
	forward := arrival.Times(p, 1000)
	for n := len(forward) - 1; n > 0; n-- {
		if due, ok := p.Next(forward[n-1], uint64(n)); !ok || due != forward[n] {
			t.Fatalf("asked backwards, arrival %d is %v; asked forwards, %v", n, due, forward[n])
		}
	}
	if other := arrival.Times(arrival.Poisson{Rate: 50, Seed: 8}, 1000); slices.Equal(forward, other) {
		t.Error("two seeds give one schedule")
	}
}

func TestRateThatIsNoRateHasNoArrivals(t *testing.T) {
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, p := range []interface {
			arrival.Process
			Validate() error
		}{arrival.Constant{Rate: rate}, arrival.Poisson{Rate: rate}} {
			if due, ok := p.Next(0, 0); ok {
				t.Errorf("%T with rate %v: Next = %v; want no arrival", p, rate, due)
			}
			if p.Validate() == nil {
				t.Errorf("%T with rate %v is valid; want an error", p, rate)
			}
		}
	}
}

func TestTinyRateEndsInsteadOfOverflowing(t *testing.T) {
	p := arrival.Constant{Rate: 1e-12}
	if due, ok := p.Next(0, 0); !ok || due != 0 {
		t.Errorf("first arrival = %v, %v; want at once", due, ok)
	}
	if due, ok := p.Next(0, 1); ok {
		t.Errorf("second arrival = %v; want none within a century", due)
	}
}

// TestPoissonStatistics holds the process to the distribution it claims over 20 seeds: the
// share of seeds outside a 1 % test may not exceed what chance allows.
func TestPoissonStatistics(t *testing.T) {
	const rate, n = 200, 10_000
	var badKS, badRate int
	for seed := range uint64(20) {
		times := arrival.Times(arrival.Poisson{Rate: rate, Seed: seed}, n)
		if d := ksExponential(gaps(times), 1/float64(rate)); d > 1.628/math.Sqrt(n) { // alpha 0.01
			badKS++
		}
		if got := n / times[n-1].Seconds(); math.Abs(got/rate-1) > 2.576/math.Sqrt(n) {
			badRate++
		}
		if cv := variation(gaps(times)); cv < 0.95 || cv > 1.05 {
			t.Errorf("seed %d: gap CV = %.3f; want 1.0 ± 0.05", seed, cv)
		}
		// 5,000 windows of two arrivals each: chance moves the index by 0.02.
		if d := dispersion(times, 10*time.Millisecond); d < 0.9 || d > 1.1 {
			t.Errorf("seed %d: index of dispersion at 10 ms = %.3f; want within [0.9, 1.1]", seed, d)
		}
	}
	if badKS > 2 || badRate > 2 {
		t.Errorf("of 20 seeds %d fail Kolmogorov-Smirnov and %d the rate test at 1 %%; want at most 2 of each", badKS, badRate)
	}
	// Over 400,000 arrivals chance moves the rate by 0.16 %, so 1 % is a real bound.
	times := arrival.Times(arrival.Poisson{Rate: rate, Seed: 1}, 400_000)
	if got := 400_000 / times[len(times)-1].Seconds(); math.Abs(got/rate-1) > 0.01 {
		t.Errorf("rate over 400,000 arrivals = %.2f; want %d within 1 %%", got, rate)
	}
}

// TestGapsAreIndependent looks for what a poor counter-based generator would show: serial
// correlation of gaps, and correlation between neighbouring seeds.
func TestGapsAreIndependent(t *testing.T) {
	const n = 20_000
	bound := 4 / math.Sqrt(n)
	a := gaps(arrival.Times(arrival.Poisson{Rate: 1, Seed: 1}, n))
	for lag := 1; lag <= 8; lag++ {
		if r := correlation(a[:len(a)-lag], a[lag:]); math.Abs(r) > bound {
			t.Errorf("autocorrelation at lag %d = %.4f; want within ±%.4f", lag, r, bound)
		}
	}
	b := gaps(arrival.Times(arrival.Poisson{Rate: 1, Seed: 2}, n))
	if r := correlation(a, b); math.Abs(r) > bound {
		t.Errorf("correlation of seeds 1 and 2 = %.4f; want within ±%.4f", r, bound)
	}
}
