package tasks

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseLength(t *testing.T) {
	for _, c := range []struct {
		about, in string
		low, high int // every draw lies within
		mean      float64
	}{
		{"a number is always that number", "512", 512, 512, 512},
		{"uniform includes both ends", "uniform(100,200)", 100, 200, 150},
		{"spaces are allowed", " uniform( 1 , 3 ) ", 1, 3, 2},
		{"normal has a mean and a spread", "normal(500,50)", 1, 1000, 500},
		{"a lognormal's median is exp(mu)", "lognormal(5,0.5)", 1, 5000, 168.2},
		{"bounds cut every draw", "lognormal(5,2)[10,300]", 10, 300, 0},
		{"geometric counts from one", "geometric(2.5)", 1, 200, 2.5},
		{"geometric(1) is always one", "geometric(1)", 1, 1, 1},
		{"exponential has a mean", "exponential(300)", 1, 10000, 300},
		{"pareto starts at its smallest value", "pareto(100,3)", 100, maxLength, 150},
		{"bounds hold for a preset too", "preset:chat[100,2000]", 100, 2000, 0},
		{"a preset may be a closed form", "preset:classify.out", 1, 71, 0},
		{"bounds tighten a closed form", "preset:coding-agent[1,50000]", 22000, 50000, 0},
		{"a preset draws its input table", "preset:chat", 14, 6797, 0},
		{"a preset's side can be named", "preset:code.out", 3, 908, 0},
	} {
		l, err := ParseLength(c.in)
		if err != nil {
			t.Errorf("%s: ParseLength(%q) = %v", c.about, c.in, err)
			continue
		}
		r := rand.New(rand.NewPCG(1, 2))
		var sum float64
		const n = 20000
		for range n {
			x := l.Draw(r)
			if x < c.low || x > c.high {
				t.Errorf("%s: %q draws %d; want %d..%d", c.about, c.in, x, c.low, c.high)
				break
			}
			sum += float64(x)
		}
		if got := sum / n; c.mean > 0 && math.Abs(got-c.mean) > 0.03*c.mean {
			t.Errorf("%s: %q has mean %.1f; want %.1f", c.about, c.in, got, c.mean)
		}
		if l.String() != strings.TrimSpace(c.in) {
			t.Errorf("%s: String() = %q; want it as written", c.about, l.String())
		}
	}
}

func TestParseLengthPointsAtTheFault(t *testing.T) {
	for _, c := range []struct {
		in     string
		offset int
		say    string
	}{
		{"", 0, "empty"},
		{"0", 0, "not between"},
		{"-5", 0, "not between"},
		{"1.5", 0, "not a whole number"},
		{"99999999999999999999", 0, "not a whole number"},
		{"many", 0, "not a length"},
		{"uniform(100", 11, "closing )"},
		{"uniform(200,100)", 12, "below low"},
		{"uniform(a,100)", 8, "not a number"},
		{"uniform(1, x)", 11, "not a number"},
		{"uniform(5)", 0, "uniform(low,high)"},
		{"lognormal(500,1)", 10, "natural logarithm"},
		{"lognormal(5,0)", 12, "sigma"},
		{"lognormal(NaN,1)", 10, "not a number"},
		{"zipf(1,2)", 0, "no distribution"},
		{"preset:chatt", 7, "there are chat"},
		{"preset:chat.up", 11, ".in or .out"},
		{"512[9,3]", 4, "the smaller first"},
		{"512[9]", 4, "two whole numbers"},
		{"512]", 3, "] without ["},
		{"[1,2]", 0, "without a length"},
	} {
		_, err := ParseLength(c.in)
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("ParseLength(%q) = %v; want a *SyntaxError", c.in, err)
			continue
		}
		if se.Offset != c.offset || !strings.Contains(se.Msg, c.say) {
			t.Errorf("ParseLength(%q) = column %d: %s; want column %d and %q", c.in, se.Offset+1, se.Msg, c.offset+1, c.say)
		}
	}
}

func FuzzParseLength(f *testing.F) {
	for _, s := range []string{"512", "uniform(1,2)", "lognormal(1,2)[3,4]", "preset:chat.in", "[", "uniform(,)", "geometric(1e300)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLength(s)
		if err != nil {
			var se *SyntaxError
			if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(s) {
				t.Fatalf("ParseLength(%q) = %#v; want a *SyntaxError within the input", s, err)
			}
			return
		}
		for _, u := range []float64{0, 0.25, 0.5, 0.999999, 1} {
			if n := l.At(u); n < 1 || n > maxLength {
				t.Fatalf("%q at %g = %d; want 1..%d", s, u, n, maxLength)
			}
		}
	})
}

// TestPresetsMatchTheirTables is the Kolmogorov-Smirnov distance between 20,000 draws and
// the table, over whole tokens, for every table that is built in.
func TestPresetsMatchTheirTables(t *testing.T) {
	const n, limit = 20000, 0.02
	for _, p := range Presets() {
		for _, q := range []*Quantiles{p.In, p.Out} {
			if q == nil {
				continue // a closed form
			}
			if err := q.Validate(); err != nil {
				t.Fatal(err)
			}
			l, r := Table(q), rand.New(rand.NewPCG(7, 7))
			draws := make([]int, n)
			for i := range draws {
				draws[i] = l.Draw(r)
			}
			slices.Sort(draws)
			d := 0.0
			for i, x := range draws {
				if i+1 == n || draws[i+1] != x {
					d = max(d, math.Abs(float64(i+1)/n-q.CDF(float64(x)+0.5)))
				}
			}
			if d > limit {
				t.Errorf("%s: KS distance %.4f; want at most %.2f", q.Name, d, limit)
			}
			// The table's own rows, without the interpolation that draws and CDF share.
			for i, x := range q.X {
				at := func(v float64) float64 {
					k, _ := slices.BinarySearch(draws, int(math.Ceil(v)))
					return float64(k) / n
				}
				if below, upto := at(x), at(x+1); q.P[i] < below-limit || q.P[i] > upto+limit {
					t.Errorf("%s: P%g is %g, but %.4f of draws are below it and %.4f at or below", q.Name, 100*q.P[i], x, below, upto)
				}
			}
		}
	}
}

func TestCorrelationCouplesLengths(t *testing.T) {
	for _, c := range []struct{ asked, low, high float64 }{{0, -0.05, 0.05}, {0.8, 0.72, 0.85}, {-0.8, -0.85, -0.72}, {1, 0.999, 1.001}} {
		g, err := NewGenerator(Options{Seed: 3, ISL: Lognormal(6, 1), OSL: Lognormal(5, 1), Correlation: c.asked, Mix: []Share{{"qa", 1}}})
		if err != nil {
			t.Fatal(err)
		}
		var xs, ys []float64
		for i := range uint64(3000) {
			p := g.Session(i).(*session).plan[0]
			xs, ys = append(xs, math.Log(float64(p.tokens))), append(ys, math.Log(float64(p.limit)))
		}
		if got := pearson(xs, ys); got < c.low || got > c.high {
			t.Errorf("correlation %g gives %.3f between the logarithms; want %g..%g", c.asked, got, c.low, c.high)
		}
	}
}

func pearson(x, y []float64) float64 {
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i], my+y[i]
	}
	mx, my = mx/float64(len(x)), my/float64(len(y))
	var sxy, sxx, syy float64
	for i := range x {
		sxy += (x[i] - mx) * (y[i] - my)
		sxx += (x[i] - mx) * (x[i] - mx)
		syy += (y[i] - my) * (y[i] - my)
	}
	return sxy / math.Sqrt(sxx*syy)
}

func TestParsePause(t *testing.T) {
	for in, want := range map[string]Pause{
		"": {}, "0": {}, "5s": {Median: 5 * time.Second}, "lognormal(5s,0.6)": {5 * time.Second, 0.6}, " lognormal( 200ms , 1 ) ": {200 * time.Millisecond, 1},
	} {
		if got, err := ParsePause(in); err != nil || got != want {
			t.Errorf("ParsePause(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for in, offset := range map[string]int{"5": 0, "-5s": 0, "2h": 0, "lognormal(5s": 12, "lognormal(5s)": 0, "lognormal(5s,9)": 13, "lognormal(x,1)": 10} {
		_, err := ParsePause(in)
		var se *SyntaxError
		if !errors.As(err, &se) || se.Offset != offset {
			t.Errorf("ParsePause(%q) = %v; want an error at column %d", in, err, offset+1)
		}
	}
}

func TestParseMix(t *testing.T) {
	mix, err := ParseMix("chat=3, code=0.5,qa")
	if err != nil || !slices.Equal(mix, []Share{{"chat", 3}, {"code", 0.5}, {"qa", 1}}) {
		t.Errorf("ParseMix = %v, %v", mix, err)
	}
	for in, offset := range map[string]int{"": 0, "chat,juggling": 5, "chat=0": 5, "chat=x": 5, "qa,chat,qa": 8} {
		_, err := ParseMix(in)
		var se *SyntaxError
		if !errors.As(err, &se) || se.Offset != offset {
			t.Errorf("ParseMix(%q) = %v; want an error at column %d", in, err, offset+1)
		}
	}
}
