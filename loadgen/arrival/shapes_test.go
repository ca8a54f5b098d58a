package arrival_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/inferencebench/inferencebench/loadgen/arrival"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Gamma and Weibull gaps follow the distributions that gonum has of them.
func TestGapDistributions(t *testing.T) {
	const n = 20_000
	for _, cv := range []float64{0.3, 1, 2, 5} {
		k := 1 / (cv * cv)
		g := sample(arrival.Gamma{CV: cv, Seed: 11}, n)
		if d := ks(g, distuv.Gamma{Alpha: k, Beta: k}.CDF); d > 1.949/math.Sqrt(n) { // alpha 0.001
			t.Errorf("gamma with CV %g: Kolmogorov-Smirnov distance %.4f", cv, d)
		}
		w := sample(must(arrival.NewWeibull(cv, 12)), n)
		dist := weibullOf(cv)
		if d := ks(w, dist.CDF); d > 1.949/math.Sqrt(n) {
			t.Errorf("weibull with CV %g: Kolmogorov-Smirnov distance %.4f", cv, d)
		}
		if got := dist.StdDev() / dist.Mean(); math.Abs(got/cv-1) > 1e-6 || math.Abs(dist.Mean()-1) > 1e-6 {
			t.Errorf("weibull for CV %g has CV %g and mean %g", cv, got, dist.Mean())
		}
	}
}

func sample(g arrival.Gaps, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = g.Gap(uint64(i))
	}
	return out
}

// weibullOf finds the Weibull distribution of mean 1 and the given CV by a search of its
// own.
func weibullOf(cv float64) distuv.Weibull {
	low, high := 0.05, 50.0
	for range 100 {
		k := math.Sqrt(low * high)
		if d := (distuv.Weibull{K: k, Lambda: 1}); d.StdDev()/d.Mean() > cv {
			low = k
		} else {
			high = k
		}
	}
	return distuv.Weibull{K: high, Lambda: 1 / math.Gamma(1+1/high)}
}

// The mean rate of every shape is what was asked, and the local rate follows its curve.
func TestMeanRates(t *testing.T) {
	for _, c := range []struct {
		description string
		rate        float64
		from, to    time.Duration
		want        float64 // arrivals per second in [from, to)
		tolerance   float64
	}{
		{"constant", 50, 0, 100 * time.Second, 50, 1e-3},
		{"gamma cv=2", 50, 0, 2000 * time.Second, 50, 0.02},
		{"gamma burstiness=0.25", 50, 0, 2000 * time.Second, 50, 0.02},
		{"weibull cv=2", 50, 0, 2000 * time.Second, 50, 0.02},
		{"onoff on=2s off=5s", 20, 0, 20_000 * time.Second, 20, 0.06},
		{"mmpp low=0.5 high=3 low_for=4s high_for=1s", 20, 0, 20_000 * time.Second, 20, 0.06},
		{"drift sigma=0.2", 5, 0, 200_000 * time.Second, 5, 0.05},
		{"diurnal period=240s", 50, 0, 2400 * time.Second, 50, 0.02},
		{"diurnal period=240s gaps=constant", 50, 30 * time.Second, 40 * time.Second, 50 * 0.70 * 24 / 23.99, 0.01},
		{"diurnal period=30s day=0/1/2", 60, 0, 10 * time.Second, 0, 0},
		{"wave period=100s depth=0.5 gaps=constant", 60, 45 * time.Second, 55 * time.Second, 89.5, 0.01},
		{"ramp from=10 over=100s gaps=constant", 50, 0, 100 * time.Second, 30, 1e-3},
		{"ramp from=10 over=100s", 50, 100 * time.Second, 1100 * time.Second, 50, 0.03},
		{"step to=40 at=30s gaps=constant", 10, 0, 30 * time.Second, 10, 1e-3},
		{"step to=40 at=30s gaps=constant", 10, 30 * time.Second, 60 * time.Second, 40, 1e-3},
		{"spike peak=100 at=30s rise=0s hold=10s fall=0s gaps=constant", 10, 30 * time.Second, 40 * time.Second, 100, 1e-2},
		{"spike peak=100 at=30s rise=2s hold=10s fall=2s gaps=constant", 10, 44 * time.Second, 100 * time.Second, 10, 1e-2},
		{"spike peak=100 at=30s rise=2s hold=10s fall=2s gaps=constant", 10, 30 * time.Second, 32 * time.Second, 55, 1e-2},
	} {
		p, err := arrival.Parse(c.description, c.rate, 3)
		if err != nil {
			t.Errorf("Parse(%q) = %v", c.description, err)
			continue
		}
		count := 0
		var prev time.Duration
		for n := uint64(0); ; n++ {
			due, ok := p.Next(prev, n)
			if !ok || due >= c.to {
				break
			}
			if due >= c.from {
				count++
			}
			prev = due
		}
		got := float64(count) / (c.to - c.from).Seconds()
		if math.Abs(got-c.want) > c.tolerance*c.want {
			t.Errorf("%s at %g/s: %.3f/s between %v and %v; want %.3f ± %g %%", c.description, c.rate, got, c.from, c.to, c.want, 100*c.tolerance)
		}
	}
}

// ON/OFF traffic is far more dispersed than Poisson, drift only at the scale of minutes.
func TestDispersionByShape(t *testing.T) {
	onoff := arrival.Times(must(arrival.Parse("onoff on=23s off=53s", 2.57, 1)), 20_000)
	if d := dispersion(onoff, 10*time.Second); d < 20 {
		t.Errorf("index of dispersion of on/off traffic at 10 s = %.1f; want above 20", d)
	}
	drift := arrival.Times(must(arrival.Parse("drift sigma=0.2", 5.53, 1)), 40_000)
	if short, long := dispersion(drift, time.Second), dispersion(drift, time.Minute); short > 1.4 || long < 5 {
		t.Errorf("indices of dispersion of drifting traffic at 1 s and 60 s = %.2f and %.1f; want below 1.4 and above 5", short, long)
	}
}

// Splitting a schedule over workers changes nothing that the server sees.
func TestShardsAreTheWhole(t *testing.T) {
	const n = 10_000
	for _, description := range []string{"poisson", "constant", "gamma cv=2", "onoff on=1s off=1s", "wave period=10s"} {
		p := must(arrival.Parse(description, 200, 5))
		whole := arrival.Times(p, n)
		for _, of := range []int{1, 2, 4, 8} {
			var merged []time.Duration
			for k := range of {
				merged = append(merged, arrival.Times(must(arrival.Shard(p, k, of)), n/of)...)
			}
			slices.Sort(merged)
			if !slices.Equal(merged, whole) {
				t.Errorf("%s: the union of %d shards is not the schedule", description, of)
			}
			switch description {
			case "poisson":
				if d := dispersion(merged, 10*time.Millisecond); d < 0.9 || d > 1.1 {
					t.Errorf("poisson through %d shards: index of dispersion %.3f; want within [0.9, 1.1]", of, d)
				}
			case "constant":
				if cv := variation(gaps(merged)[1:]); cv > 0.02 {
					t.Errorf("constant through %d shards: gap CV %.4f; want at most 0.02", of, cv)
				}
			}
		}
	}
	for _, k := range []int{-1, 2} {
		if _, err := arrival.Shard(arrival.Constant{Rate: 1}, k, 2); err == nil {
			t.Errorf("Shard(p, %d, 2) is accepted", k)
		}
	}
}

// Integral and Inverse undo each other wherever the rate is not zero.
func TestCurveInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var points []arrival.Point
		at := time.Duration(0)
		for range rapid.IntRange(1, 6).Draw(t, "points") {
			points = append(points, arrival.Point{At: at, Rate: rapid.SampledFrom([]float64{0, 0.5, 3, 40}).Draw(t, "rate")})
			at += time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond
		}
		c, err := arrival.NewCurve("c", points, rapid.Bool().Draw(t, "repeat"))
		if err != nil {
			t.Skip(err)
		}
		x := rapid.Float64Range(0, 30).Draw(t, "t")
		count := c.Integral(x)
		back, ok := c.Inverse(count)
		if !ok {
			if more := c.Integral(1e6); more > count+1e-9 {
				t.Fatalf("Inverse(%g) finds nothing, but the integral goes on to %g", count, more)
			}
			return
		}
		if math.Abs(c.Integral(back)-count) > 1e-6 {
			t.Fatalf("Inverse(Integral(%g) = %g) = %g, where the integral is %g", x, count, back, c.Integral(back))
		}
		// A hair more of the integral lies past x, also where the rate at x is zero.
		if next, ok := c.Inverse(count + 1e-6); ok && next < x-1e-6 {
			t.Fatalf("Inverse(%g + 1e-6) = %g; want at least %g", count, next, x)
		}
	})
}

// A modulated path answers alike in any order of questions.
func TestModulatedIsPure(t *testing.T) {
	m := must(arrival.OnOff(10, time.Second, time.Second, 9))
	var forward []float64
	for i := range 500 {
		forward = append(forward, m.Integral(float64(i)))
	}
	for i := 499; i >= 0; i -= 7 {
		if got := m.Integral(float64(i)); got != forward[i] {
			t.Fatalf("Integral(%d) = %g when asked backwards; %g when asked forwards", i, got, forward[i])
		}
	}
}

func TestTrace(t *testing.T) {
	p := must(arrival.NewTrace([]time.Duration{5 * time.Second, 3 * time.Second, 4 * time.Second}, 2))
	if got, want := arrival.Times(p, 10), []time.Duration{0, 500 * time.Millisecond, time.Second}; !slices.Equal(got, want) {
		t.Errorf("times = %v; want %v", got, want)
	}
	if p.Len() != 3 || p.Rate() != 2 {
		t.Errorf("length %d, rate %g; want 3 and 2", p.Len(), p.Rate())
	}
	if _, err := arrival.NewTrace(nil, 1); err == nil {
		t.Error("a trace without arrivals is accepted")
	}
	if _, err := arrival.NewTrace([]time.Duration{1}, 0); err == nil {
		t.Error("speed 0 is accepted")
	}
}

// A coarse clock is detected, and dithering takes its bursts away.
func TestGridAndDither(t *testing.T) {
	exact := arrival.Times(arrival.Poisson{Rate: 3.4, Seed: 2}, 5000)
	round := func(step time.Duration, spare int) []time.Duration {
		out := slices.Clone(exact)
		for i := range out {
			if spare == 0 || i%spare != 0 {
				out[i] = out[i].Truncate(step)
			}
		}
		return out
	}
	for _, c := range []struct {
		name  string
		times []time.Duration
		want  time.Duration
	}{
		{"instants of their own", exact, 0},
		{"a millisecond clock is fine enough", round(time.Millisecond, 0), 0},
		{"a clock of three seconds", round(3*time.Second, 0), 3 * time.Second},
		{"a clock of 100 ms", round(100*time.Millisecond, 0), 100 * time.Millisecond},
		{"a few instants off the grid", round(3*time.Second, 200), 3 * time.Second},
		{"too few to tell", round(3*time.Second, 0)[:10], 0},
	} {
		if got := arrival.Grid(c.times); got != c.want {
			t.Errorf("%s: Grid = %v; want %v", c.name, got, c.want)
		}
	}
	coarse := round(3*time.Second, 0)
	smooth := arrival.Dither(coarse, 3*time.Second, 1)
	if before, after := dispersion(coarse, 500*time.Millisecond), dispersion(smooth, 500*time.Millisecond); before < 3 || after > 1.2 {
		t.Errorf("index of dispersion at 0.5 s: %.2f before dithering and %.2f after; want above 3 and below 1.2", before, after)
	}
	for i, at := range smooth {
		if i > 0 && at < smooth[i-1] {
			t.Fatal("dithered instants are out of order")
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ description, want string }{
		{"sawtooth", "there are constant, poisson"},
		{"gamma cv=fast", "cv=fast is not a number"},
		{"gamma cv=0", "coefficient of variation 0"},
		{"gamma cv=2 burstiness=1", "both set"},
		{"gamma 2", "key=value"},
		{"poisson cv=2", `no setting "cv"`},
		{"onoff on=0s", "on must be longer"},
		{"onoff on=x", "on=x is not a time"},
		{"spike at=-1s", "at=-1s is not a time"},
		{"ramp gaps=odd", "gaps=odd is not known"},
		{"diurnal day=1/x", `"x" is not a factor`},
		{"diurnal day=0/0", "not all of them zero"},
		{"wave depth=2", "depth 2"},
		{"wave period=0s", "needs a length"},
	} {
		_, err := arrival.Parse(c.description, 10, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %v; want an error with %q", c.description, err, c.want)
		}
	}
	if _, err := arrival.Parse("poisson", -1, 1); err == nil {
		t.Error("a negative rate is accepted")
	}
}

// Whatever the description: no panic, and arrivals that never go back.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"poisson", "gamma cv=2", "onoff on=1s off=1s", "diurnal day=1/2/0 period=1s", "spike peak=0 at=0s", "mmpp low=0 high=0", "ramp from=0 over=0s"} {
		f.Add(s, 10.0, uint64(1))
	}
	f.Fuzz(func(t *testing.T, description string, rate float64, seed uint64) {
		p, err := arrival.Parse(description, rate, seed)
		if err != nil {
			return
		}
		var prev time.Duration
		for _, at := range arrival.Times(p, 20) {
			if at < prev {
				t.Fatalf("Parse(%q, %g, %d): arrival at %v after %v", description, rate, seed, at, prev)
			}
			prev = at
		}
	})
}
