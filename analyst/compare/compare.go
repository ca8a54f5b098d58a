package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/inferencebench/inferencebench/analyst/stats"
)

// Difference is how one statistic of the second run compares with that of the first.
type Difference struct {
	Metric, Stat string  // such as "ttft" and "p99"
	Base, Head   float64 // in the metric's unit: ms for times, tok/s for rates
	// Change is Head/Base − 1, with its 95 % interval.
	Change, Low, High float64
	// Worse says whether an increase is for the worse.
	UpIsWorse bool
	Paired    bool
	Blocks    int    // stretches of time that were resampled
	Method    string // in words
	// se is the standard error of ln(Head/Base).
	se float64
}

// Verdict is "better" or "worse" where the interval leaves out zero, "same" where it lies
// within ± tolerance, and else "undecided".
func (d *Difference) Verdict(tolerance float64) string {
	switch {
	case d.Low > 0 && d.UpIsWorse, d.High < 0 && !d.UpIsWorse:
		if math.Abs(d.Low) <= tolerance && math.Abs(d.High) <= tolerance {
			return "same"
		}
		return "worse"
	case d.High < 0, d.Low > 0:
		if math.Abs(d.Low) <= tolerance && math.Abs(d.High) <= tolerance {
			return "same"
		}
		return "better"
	case math.Abs(d.Low) <= tolerance && math.Abs(d.High) <= tolerance:
		return "same"
	}
	return "undecided"
}

// Unit is the unit of Base and Head.
func (d *Difference) Unit() string {
	if d.Metric == "output_rate" {
		return "tok/s"
	}
	return "ms"
}

// String is the difference in one line.
func (d *Difference) String() string {
	return fmt.Sprintf("%s %s: %s %% [%s, %s] (%.4g → %.4g; %s)", d.Metric, d.Stat, signed(d.Change), signed(d.Low), signed(d.High), d.Base, d.Head, d.Method)
}

// Percent is a change in percent with its sign; one that rounds to nothing has none.
func Percent(change float64) string { return signed(change) + " %" }

func signed(change float64) string {
	s := fmt.Sprintf("%+.1f", 100*change)
	if s == "-0.0" || s == "+0.0" {
		return "0.0"
	}
	return s
}

// Stat is a statistic that can be compared.
type Stat struct{ Metric, Stat string }

// Name is the statistic as rules write it, such as ttft_p99 and output_rate.
func (s Stat) Name() string { return strings.TrimSuffix(s.Metric+"_"+s.Stat, "_value") }

// Stats returns what Compare compares, in order.
func Stats() []Stat {
	return []Stat{{"ttft", "mean"}, {"ttft", "p50"}, {"ttft", "p99"}, {"tpot", "mean"}, {"tpot", "p95"}, {"e2e", "mean"}, {"e2e", "p95"}, {"output_rate", "value"}}
}

const (
	resamples = 600
	// wantBlocks is how many stretches a run is cut into: enough to resample, and each long
	// against a request.
	wantBlocks = 24
	minPoints  = 30
)

// Compare compares the statistics of two runs. One that the data cannot support is left
// out. The same samples give the same result.
func Compare(base, head *Sample) []Difference {
	a, b, paired := pair(base, head)
	if !paired {
		a, b = base.points, head.points
	}
	var out []Difference
	if len(a) < minPoints || len(b) < minPoints {
		return nil
	}
	for i, s := range Stats() {
		d := Difference{Metric: s.Metric, Stat: s.Stat, UpIsWorse: s.Metric != "output_rate", Paired: paired}
		rng := rand.New(rand.NewPCG(uint64(i), 0xc0))
		var ok bool
		if s.Metric == "output_rate" {
			ok = d.rate(base, head, rng)
		} else {
			ok = d.latency(a, b, statistic(s), rng)
		}
		if ok {
			out = append(out, d)
		}
	}
	return out
}

func statistic(s Stat) func(point []float64) float64 {
	q := map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99}[s.Stat]
	if q == 0 {
		return stats.Mean
	}
	return func(xs []float64) float64 {
		slices.Sort(xs)
		return stats.Quantile(xs, q)
	}
}

func place(metric string) int {
	switch metric {
	case "ttft":
		return vTTFT
	case "tpot":
		return vTPOT
	}
	return vE2E
}

// series returns the values of a metric; with pairing only where both runs have one.
func series(a, b []point, i int, paired bool) (x, y []float64) {
	if paired {
		for k := range a {
			if a[k].ok[i] && b[k].ok[i] {
				x, y = append(x, a[k].values[i]), append(y, b[k].values[i])
			}
		}
		return x, y
	}
	for _, p := range a {
		if p.ok[i] {
			x = append(x, p.values[i])
		}
	}
	for _, p := range b {
		if p.ok[i] {
			y = append(y, p.values[i])
		}
	}
	return x, y
}

func (d *Difference) latency(a, b []point, stat func([]float64) float64, rng *rand.Rand) bool {
	x, y := series(a, b, place(d.Metric), d.Paired)
	if d.Stat == "p99" && (len(x) < 300 || len(y) < 300) || len(x) < minPoints || len(y) < minPoints {
		return false
	}
	d.Base, d.Head = stat(slices.Clone(x)), stat(slices.Clone(y))
	bx, by := max(1, len(x)/wantBlocks), max(1, len(y)/wantBlocks)
	d.Blocks = wantBlocks
	var rx, ry []float64
	draws := make([]float64, 0, resamples)
	for range resamples {
		rx, ry = rx[:0], ry[:0]
		for range wantBlocks {
			i := rng.IntN(len(x) - bx + 1)
			j := i
			if !d.Paired {
				j = rng.IntN(len(y) - by + 1)
			}
			rx, ry = append(rx, x[i:i+bx]...), append(ry, y[j:j+by]...)
		}
		draws = append(draws, math.Log(stat(ry)/stat(rx)))
	}
	return d.settle(draws)
}

// rate compares output tokens a second, from the tokens of stretches of time.
func (d *Difference) rate(base, head *Sample, rng *rand.Rand) bool {
	x, y := base.perBlock(), head.perBlock()
	d.Base, d.Head = stats.Mean(x), stats.Mean(y)
	d.Blocks = wantBlocks
	// The stretches tell the spread; the value is that of the report where it is known.
	shift := 0.0
	if base.rate > 0 && head.rate > 0 && d.Base > 0 && d.Head > 0 {
		shift = math.Log(head.rate/base.rate) - math.Log(d.Head/d.Base)
		d.Base, d.Head = base.rate, head.rate
	}
	draws := make([]float64, 0, resamples)
	for range resamples {
		var sx, sy float64
		for range wantBlocks {
			i := rng.IntN(wantBlocks)
			j := i
			if !d.Paired {
				j = rng.IntN(wantBlocks)
			}
			sx, sy = sx+x[i], sy+y[j]
		}
		draws = append(draws, math.Log(sy/sx)+shift)
	}
	return d.settle(draws)
}

// perBlock returns tokens a second, credited to when requests ended, in equal stretches.
func (s *Sample) perBlock() []float64 {
	out := make([]float64, wantBlocks)
	span := float64(s.to-s.from) / wantBlocks
	if span <= 0 {
		return out
	}
	for _, p := range s.points {
		// Tokens lie evenly between the first and the last.
		first := float64(p.at-s.from) + p.values[vTTFT]*1e6
		last := float64(p.last - s.from)
		lo, hi := max(0, int(first/span)), min(wantBlocks-1, int(last/span))
		for k := lo; k <= hi; k++ {
			part := 1.0
			if last > first {
				part = (math.Min(last, float64(k+1)*span) - math.Max(first, float64(k)*span)) / (last - first)
			}
			out[k] += math.Max(0, part) * p.tokens
		}
	}
	for k := range out {
		out[k] /= span / 1e9
	}
	return out
}

// settle turns draws of ln(Head/Base) into the difference.
func (d *Difference) settle(draws []float64) bool {
	d.Method = fmt.Sprintf("%s block bootstrap, %d blocks", either(d.Paired, "paired", "unpaired"), d.Blocks)
	for _, v := range draws {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	if d.Base <= 0 || d.Head <= 0 {
		return false
	}
	d.Change = d.Head/d.Base - 1
	d.se, _ = stats.Std(draws)
	slices.Sort(draws)
	d.Low, d.High = math.Expm1(stats.Quantile(draws, 0.025)), math.Expm1(stats.Quantile(draws, 0.975))
	return true
}

func either(ok bool, a, b string) string {
	if ok {
		return a
	}
	return b
}

// pWorse returns the one-sided probability of so large a degradation where the truth is
// just the tolerance, with the sampling noise of the run and a noise between runs.
func (d *Difference) pWorse(tolerance, between float64) float64 {
	lr := math.Log1p(d.Change)
	if !d.UpIsWorse {
		lr = -lr
	}
	se := math.Hypot(d.se, between)
	if se <= 0 {
		se = 1e-9
	}
	return 1 - distuv.UnitNormal.CDF((lr-math.Log1p(tolerance))/se)
}
