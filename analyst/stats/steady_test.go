package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func ar1(rng *rand.Rand, n int, rho, sd float64) []float64 {
	xs, x := make([]float64, n), 0.0
	for i := range xs {
		x = rho*x + math.Sqrt(1-rho*rho)*rng.NormFloat64()*sd
		xs[i] = x
	}
	return xs
}

// On dependent data the block bootstrap covers the truth about as often as it says, and
// the interval for independent data does not.
func TestBlockQuantilesCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	hitBlock, hitNaive, trials := 0, 0, 300
	for i := range trials {
		xs := ar1(rng, 2000, 0.9, 1)
		iv, ok := BlockQuantiles(xs, 100, []float64{0.5, 0.9}, 0.95, 300, uint64(i))
		if !ok {
			t.Fatal("no interval")
		}
		if iv[1][0] <= 0 && 0 <= iv[1][1] {
			hitBlock++
		}
		if lo, hi, _, _ := QuantileInterval(Sorted(xs), 0.5, 0.95, 2000); lo <= 0 && 0 <= hi {
			hitNaive++
		}
	}
	block, naive := float64(hitBlock)/float64(trials), float64(hitNaive)/float64(trials)
	if block < 0.85 || naive > 0.6 {
		t.Errorf("coverage of the median: blocks %.2f, naive %.2f; want ≥ 0.85 and ≤ 0.6", block, naive)
	}
}

func TestDesignEffect(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	if d, ok := DesignEffect(ar1(rng, 50000, 0, 1), 100); !ok || d > 1.4 {
		t.Errorf("independent values: %v, %v; want about 1", d, ok)
	}
	// (1+ρ)/(1−ρ) = 9 for ρ = 0.8.
	if d, ok := DesignEffect(ar1(rng, 50000, 0.8, 1), 250); !ok || d < 6 || d > 12 {
		t.Errorf("ρ = 0.8: %v, %v; want about 9", d, ok)
	}
	if _, ok := DesignEffect(make([]float64, 50), 10); ok {
		t.Error("five blocks have a design effect")
	}
}

// Gaps of one request share their request's level: the cluster bootstrap is wide where
// counting gaps as independent would be narrow.
func TestGroupsQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	var g Groups
	for r := range 320 {
		level := math.Exp(0.3 * rng.NormFloat64())
		for range 200 {
			g.Add(uint64(r), 10*level*(1+0.01*rng.Float64()))
		}
	}
	iv, ok := g.Quantiles([]float64{0.5}, 0.95, 400, 1)
	if !ok || iv[0][0] > 10 || iv[0][1] < 10 {
		t.Fatalf("interval = %v, %v; want one around 10", iv, ok)
	}
	if w := (iv[0][1] - iv[0][0]) / 10; w < 0.04 || w > 0.2 {
		t.Errorf("relative width = %.3f; want about 0.08", w)
	}
}

func TestMSER5(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	xs := make([]float64, 300)
	for i := range xs {
		xs[i] = 10 + rng.NormFloat64()
		if i < 50 {
			xs[i] += 30 * (1 - float64(i)/50)
		}
	}
	if d, ok := MSER5(xs); !ok || d < 35 || d > 70 {
		t.Errorf("MSER5 = %d, %v; want about 50", d, ok)
	}
	for i := range xs {
		xs[i] = float64(i)
	}
	if _, ok := MSER5(xs); ok {
		t.Error("a ramp is said to settle")
	}
	if _, ok := MSER5(xs[:15]); ok {
		t.Error("15 values are enough")
	}
}

func TestTheilSen(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var xs, up, flat []float64
	for i := range 2000 {
		xs = append(xs, float64(i))
		up = append(up, 0.01*float64(i)+rng.NormFloat64())
		flat = append(flat, rng.NormFloat64())
	}
	if s, p, ok := TheilSen(xs, up); !ok || math.Abs(s-0.01) > 0.001 || p > 0.001 {
		t.Errorf("rise: slope %v p %v %v", s, p, ok)
	}
	if s, p, ok := TheilSen(xs, flat); !ok || math.Abs(s) > 0.0005 || p < 0.001 {
		t.Errorf("flat: slope %v p %v %v", s, p, ok)
	}
}

func TestChangePoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	step := make([]float64, 200)
	for i := range step {
		step[i] = 10 + rng.NormFloat64()
		if i >= 120 {
			step[i] += 4
		}
	}
	if got := ChangePoints(step, 20); len(got) != 1 || got[0] < 117 || got[0] > 123 {
		t.Errorf("ChangePoints = %v; want one near 120", got)
	}
	false_ := 0
	for range 100 {
		xs := ar1(rng, 200, 0.3, 1)
		if len(ChangePoints(xs, 20)) > 0 {
			false_++
		}
	}
	if false_ > 8 {
		t.Errorf("%d of 100 series without a change have one", false_)
	}
	if got := ChangePoints(make([]float64, 100), 20); got != nil {
		t.Errorf("a constant series changes at %v", got)
	}
}

// The textbook example of six remissions, two of them censored.
func TestKaplanMeier(t *testing.T) {
	got := KaplanMeier([]float64{6, 10, 12, 20}, []float64{8, 15})
	want := []Survival{{6, 5.0 / 6}, {10, 5.0 / 8}, {12, 5.0 / 12}, {20, 0}}
	if len(got) != len(want) {
		t.Fatalf("KaplanMeier = %v", got)
	}
	for i := range want {
		near(t, "time", got[i].T, want[i].T, 0)
		near(t, "survival", got[i].S, want[i].S, 1e-12)
	}
	if q, ok := SurvivalQuantile(got, 0.5); !ok || q != 12 {
		t.Errorf("median = %v, %v; want 12", q, ok)
	}
	if q, ok := SurvivalQuantile(KaplanMeier([]float64{1, 2}, []float64{60, 60}), 0.9); ok || q != 2 {
		t.Errorf("P90 = %v, %v; want unknown, above 2", q, ok)
	}
}
