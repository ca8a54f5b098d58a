package search_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/inferencebench/inferencebench/loadgen/search"
)

func sweep(x func(n float64) float64, noise float64) []search.Measured {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []search.Measured
	for _, n := range []float64{1, 2, 4, 8, 16, 32, 64, 128} {
		v := x(n) * math.Exp(noise*rng.NormFloat64())
		out = append(out, search.Measured{Concurrency: n, Throughput: v, Latency: n / v})
	}
	return out
}

func TestFitUSL(t *testing.T) {
	const a, b = 0.02, 0.001
	step := func(n float64) float64 { return n / (a + b*n) }
	law := func(n float64) float64 { return 50 * n / (1 + 0.05*(n-1) + 2e-4*n*(n-1)) }
	for _, c := range []struct {
		name                 string
		x                    func(float64) float64
		noise                float64
		lambda, sigma, kappa float64
		within               float64
	}{
		{"a decode step a+bN is the law with κ = 0", step, 0, 1 / (a + b), b / (a + b), 0, 0.01},
		{"a law with a peak", law, 0, 50, 0.05, 2e-4, 0.01},
		{"the same with 1 % noise", law, 0.01, 50, 0.05, 2e-4, 0.25},
	} {
		u, err := search.FitUSL(sweep(c.x, c.noise))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		off := func(got, want float64) bool { return math.Abs(got-want) > c.within*want+1e-6 }
		if off(u.Lambda, c.lambda) || off(u.Sigma, c.sigma) || off(u.Kappa, c.kappa) {
			t.Errorf("%s: λ %.4g, σ %.4g, κ %.4g; want %.4g, %.4g, %.4g", c.name, u.Lambda, u.Sigma, u.Kappa, c.lambda, c.sigma, c.kappa)
		}
		if peak := math.Sqrt((1 - c.sigma) / c.kappa); c.kappa > 0 && math.Abs(u.Peak/peak-1) > c.within || c.kappa == 0 && u.Peak < 1e4 {
			t.Errorf("%s: peak at %.4g", c.name, u.Peak)
		}
	}
	for _, bad := range [][]search.Measured{nil, {{Concurrency: 1, Throughput: 1}}, {{Concurrency: 0, Throughput: 1}}, {{Concurrency: 1, Throughput: math.NaN()}}} {
		if _, err := search.FitUSL(bad); err == nil {
			t.Errorf("FitUSL(%v) is accepted", bad)
		}
	}
}

func TestKnee(t *testing.T) {
	// A server of 16 slots: throughput grows to 16 users and then stays.
	slots := sweep(func(n float64) float64 { return min(n, 16) * 10 }, 0)
	k, err := search.Knee(slots)
	if err != nil || k.Kneedle != 16 || k.Power != 16 || !k.Sharp {
		t.Errorf("16 slots: %+v, %v; want both knees at 16, sharp", k, err)
	}
	soft := sweep(func(n float64) float64 { return n / (0.02 + 0.001*n) }, 0)
	k, err = search.Knee(soft)
	if err != nil || k.Power != 16 || k.Kneedle < 16 || k.Kneedle > 64 {
		t.Errorf("soft curve: %+v, %v; want the power knee at 16 (a/b = 20) and Kneedle between 16 and 64", k, err)
	}
	if _, err := search.Knee(sweep(func(n float64) float64 { return 1 / n }, 0)); err == nil {
		t.Error("a falling curve has a knee")
	}
}
