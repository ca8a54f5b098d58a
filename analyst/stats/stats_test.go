package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.Abs(got-want) > tol || math.IsNaN(got) {
		t.Errorf("%s = %v; want %v ± %v", what, got, want, tol)
	}
}

func TestQuantileB124(t *testing.T) {
	ten := []float64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}
	for _, c := range []struct {
		name string
		xs   []float64
		p    float64
		want float64
	}{
		{"the median of an even count lies between the middle two", ten, 0.5, 550},
		{"p90 of ten values", ten, 0.9, 910},
		{"p99 of ten values", ten, 0.99, 991},
		{"p100 is the largest", ten, 1, 1000},
		{"p0 is the smallest", ten, 0, 100},
		{"one value is every quantile", []float64{580}, 0.99, 580},
	} {
		near(t, c.name, Quantile(c.xs, c.p), c.want, 1e-9)
	}
}

func TestMinSample(t *testing.T) {
	if got := MinSampleUpper(0.99, 0.95); got != 299 {
		t.Errorf("MinSampleUpper(0.99) = %d; want 299", got)
	}
	if got := MinSampleUpper(0.999, 0.95); got != 2995 {
		t.Errorf("MinSampleUpper(0.999) = %d; want 2995", got)
	}
}

// The effective percentile bands are the published ones for order-statistic intervals.
func TestQuantileIntervalBands(t *testing.T) {
	for _, c := range []struct {
		n            int
		p, low, high float64 // in percent of the sample
	}{
		{1000, 0.99, 98.3, 99.7},
		{3000, 0.99, 98.6, 99.4},
		{10000, 0.99, 98.8, 99.2},
		{300, 0.95, 92.3, 97.7},
		{100, 0.90, 84, 96},
	} {
		xs := make([]float64, c.n)
		for i := range xs {
			xs[i] = float64(i+1) / float64(c.n) * 100
		}
		low, high, ok1, ok2 := QuantileInterval(xs, c.p, 0.95, float64(c.n))
		if !ok1 || !ok2 {
			t.Errorf("n=%d p=%v: interval not given", c.n, c.p)
		}
		near(t, "low", low, c.low, 0.35)
		near(t, "high", high, c.high, 0.35)
	}
	xs := make([]float64, 100)
	if _, _, _, ok := QuantileInterval(xs, 0.99, 0.95, 100); ok {
		t.Error("n=100: P99 has an upper bound; want none")
	}
}

func TestQuantileIntervalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	hit, trials := 0, 2000
	for range trials {
		xs := make([]float64, 200)
		for i := range xs {
			xs[i] = rng.ExpFloat64()
		}
		s := Sorted(xs)
		low, high, _, _ := QuantileInterval(s, 0.9, 0.95, 200)
		if truth := math.Log(10); low <= truth && truth <= high {
			hit++
		}
	}
	if got := float64(hit) / float64(trials); got < 0.93 || got > 0.985 {
		t.Errorf("coverage = %v; want about 0.95", got)
	}
}

func TestMoments(t *testing.T) {
	xs := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	near(t, "mean", Mean(xs), 5, 1e-12)
	sd, ok := Std(xs)
	if !ok {
		t.Fatal("no standard deviation")
	}
	near(t, "std", sd, 2.13808993529939, 1e-12)
	if _, ok := Std([]float64{1}); ok {
		t.Error("one value has a standard deviation")
	}
	low, high, ok := MeanInterval(xs, 0.95, 8)
	if !ok {
		t.Fatal("no interval")
	}
	near(t, "low", low, 3.21251, 1e-4) // t(7, .975) = 2.364624
	near(t, "high", high, 6.78749, 1e-4)
}

// Attainment of 99 % at n = 200, 1000 and 3000: the published Wilson intervals.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{198, 200, 0.964, 0.997}, {990, 1000, 0.982, 0.995}, {2970, 3000, 0.986, 0.993}} {
		low, high, ok := Wilson(c.k, c.n, 0.95)
		if !ok {
			t.Fatal("no interval")
		}
		near(t, "low", low, c.low, 0.0006)
		near(t, "high", high, c.high, 0.0006)
	}
	if _, _, ok := Wilson(0, 0, 0.95); ok {
		t.Error("no trials have an interval")
	}
}

func TestEffectiveSize(t *testing.T) {
	near(t, "independent", EffectiveSize(100, -0.3), 100, 0)
	near(t, "rho 0.5", EffectiveSize(90, 0.5), 30, 1e-9)
	rng := rand.New(rand.NewPCG(1, 2))
	xs, x := make([]float64, 20000), 0.0
	for i := range xs {
		x = 0.7*x + rng.NormFloat64()
		xs[i] = x
	}
	near(t, "lag-one autocorrelation of an AR(1)", Autocorrelation(xs), 0.7, 0.02)
}

func TestPoolHistogramIsClose(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var p Pool
	all := make([]float64, 0, poolExact+500_000)
	for range poolExact + 500_000 {
		x := math.Exp(rng.NormFloat64()*1.2 + 2)
		all = append(all, x)
		p.Add(x)
	}
	p.Add(math.NaN())
	if p.Exact() {
		t.Fatal("the pool is still exact")
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999} {
		want := Quantile(all, q)
		got, _ := p.Quantile(q)
		near(t, "quantile", got/want, 1, PoolError)
	}
	near(t, "mean", p.Mean(), Mean(all), 1e-6)
	if p.N() != int64(len(all)) || p.Max() != all[len(all)-1] || p.Min() != all[0] {
		t.Error("count, smallest or largest is not exact")
	}
}
