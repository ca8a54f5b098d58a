package metrics

import (
	"fmt"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// Level is the confidence level of every interval.
const Level = 0.95

// quantiles are the percentiles of every distribution.
var quantiles = []struct {
	key string
	p   float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}}

// Number returns v as a fact, unknown when it is not finite.
func Number(v float64) archive.Opt[float64] {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return archive.Opt[float64]{}
	}
	return archive.Some(v)
}

// Withheld returns the estimate of a quantity that the data cannot support.
func Withheld(reason string) archive.Estimate { return archive.Estimate{Reason: reason} }

// Value returns the estimate of a single number without an interval.
func Value(v float64) archive.Estimate {
	e := archive.Estimate{Value: Number(v)}
	if !e.Value.Known() {
		e.Reason = "not a finite number"
	}
	return e
}

// minQuantile is the smallest sample that supports the p-quantile: one observation is
// expected beyond it.
func minQuantile(p float64) int { return int(math.Ceil(1/(1-p) - 1e-9)) }

// Describe returns the metric of a distribution. The values are in time order, so that
// their autocorrelation shrinks the effective sample. A quantile is withheld below the
// sample of 1/(1 − p) that expects one observation beyond it; what the sample shows is
// then in Sample. A bound that the order statistics cannot give is withheld too.
func Describe(d Def, scope string, values []float64) archive.Metric {
	m := archive.Metric{ID: d.ID, Label: d.Label, Unit: d.Unit, Scope: scope, N: len(values), Stats: map[string]archive.Estimate{}}
	n := len(values)
	if n == 0 {
		const reason = "no sample"
		for _, k := range []string{"mean", "std", "min", "max"} {
			m.Stats[k] = Withheld(reason)
		}
		for _, q := range quantiles {
			m.Stats[q.key] = Withheld(reason)
		}
		return m
	}
	nEff := stats.EffectiveSize(n, stats.Autocorrelation(values))
	sorted := stats.Sorted(values)
	mean := Value(stats.Mean(values))
	if lo, hi, ok := stats.MeanInterval(values, Level, nEff); ok {
		mean.Low, mean.High = Number(lo), Number(hi)
	} else {
		mean.Reason = fmt.Sprintf("no interval: %d effective observations", int(nEff))
	}
	m.Stats["mean"] = mean
	if sd, ok := stats.Std(values); ok {
		m.Stats["std"] = Value(sd)
	} else {
		m.Stats["std"] = Withheld("needs 2 requests, has 1")
	}
	m.Stats["min"], m.Stats["max"] = Value(sorted[0]), Value(sorted[n-1])
	for _, q := range quantiles {
		m.Stats[q.key] = quantile(sorted, q.p, nEff)
	}
	if n < minQuantile(0.99) {
		m.Annotations = append(m.Annotations, archive.Annotation{Code: "few_samples",
			Message: fmt.Sprintf("%d requests do not support P99; it needs %d, and %d for an interval", n, minQuantile(0.99), stats.MinSampleUpper(0.99, Level))})
	}
	return m
}

// Percentile returns the estimate of one quantile of values in time order.
func Percentile(values []float64, p float64) archive.Estimate {
	if len(values) == 0 {
		return Withheld("no sample")
	}
	return quantile(stats.Sorted(values), p, stats.EffectiveSize(len(values), stats.Autocorrelation(values)))
}

func quantile(sorted []float64, p, nEff float64) archive.Estimate {
	n, v := len(sorted), stats.Quantile(sorted, p)
	e := archive.Estimate{Sample: Number(v)}
	if need := minQuantile(p); n < need {
		e.Reason = fmt.Sprintf("needs %d requests, has %d", need, n)
		return e
	}
	e.Value = Number(v)
	lo, hi, okLo, okHi := stats.QuantileInterval(sorted, p, Level, nEff)
	if okLo {
		e.Low = Number(lo)
	}
	if okHi {
		e.High = Number(hi)
	}
	if !okLo || !okHi {
		e.Reason = fmt.Sprintf("no two-sided interval: %d effective observations, needs %d", int(nEff), stats.MinSample(p, Level))
	}
	return e
}

// DescribePool returns the metric of a pool of gaps. Gaps of one request share steps of
// the server, so no interval is drawn from their count.
func DescribePool(d Def, scope string, p *stats.Pool, requests int) archive.Metric {
	if p == nil || p.N() == 0 {
		return Describe(d, scope, nil)
	}
	m := archive.Metric{ID: d.ID, Label: d.Label, Unit: d.Unit, Scope: scope, N: int(p.N()), Stats: map[string]archive.Estimate{}}
	const reason = "no interval: gaps of one request are not independent"
	mean := Value(p.Mean())
	mean.Reason = reason
	m.Stats["mean"] = mean
	if sd, ok := p.Std(); ok {
		m.Stats["std"] = Value(sd)
	} else {
		m.Stats["std"] = Withheld("needs 2 gaps, has 1")
	}
	m.Stats["min"], m.Stats["max"] = Value(p.Min()), Value(p.Max())
	for _, q := range quantiles {
		v, _ := p.Quantile(q.p)
		e := archive.Estimate{Sample: Number(v)}
		if need := minQuantile(q.p); int(p.N()) < need {
			e.Reason = fmt.Sprintf("needs %d gaps, has %d", need, p.N())
		} else {
			e.Value, e.Reason = Number(v), reason
		}
		m.Stats[q.key] = e
	}
	if !p.Exact() {
		m.Annotations = append(m.Annotations, archive.Annotation{Code: "histogram",
			Message: fmt.Sprintf("percentiles come from a histogram and are within %.1f %%", 100*stats.PoolError)})
	}
	return m
}

// Single returns a metric that is one number.
func Single(id, label, unit, scope string, n int, e archive.Estimate) archive.Metric {
	return archive.Metric{ID: id, Label: label, Unit: unit, Scope: scope, N: n, Stats: map[string]archive.Estimate{"value": e}}
}

// Peak returns the largest number of requests open at once and the mean over a window,
// from send to close, all kinds together.
func (t *Table) Peak(from, to archive.Instant) (peak int, mean float64) {
	type edge struct {
		at archive.Instant
		d  int8
	}
	var edges []edge
	var area float64
	t.Each(func(r *Row) {
		if !r.T.Send.Known() || !r.T.Done.Known() || r.T.Done <= from || r.T.Send >= to {
			return
		}
		a, b := max(r.T.Send, from), min(r.T.Done, to)
		area += float64(b - a)
		edges = append(edges, edge{a, 1}, edge{b, -1})
	})
	slices.SortFunc(edges, func(x, y edge) int {
		if x.at != y.at {
			if x.at < y.at {
				return -1
			}
			return 1
		}
		return int(x.d) - int(y.d)
	})
	open := 0
	for _, e := range edges {
		open += int(e.d)
		peak = max(peak, open)
	}
	if to > from {
		mean = area / float64(to-from)
	}
	return peak, mean
}

// Occupancy returns the mean number of sessions alive over a window: each from the
// intended instant of a turn to its end, and the pause to the next turn of the same
// session. In a closed loop it is what the asked concurrency should come to.
func (t *Table) Occupancy(phase string, from, to archive.Instant) float64 {
	pi, ok := t.Phases.Index(phase)
	if !ok || to <= from {
		return 0
	}
	type ends struct {
		turn int32
		done archive.Instant
	}
	multi := false
	t.Each(func(r *Row) { multi = multi || r.Turn > 0 })
	last := map[uint64]ends{}
	var area float64
	add := func(a, b archive.Instant) {
		a, b = max(a, from), min(b, to)
		if b > a {
			area += float64(b - a)
		}
	}
	t.Each(func(r *Row) {
		if r.Phase != pi || !r.T.Intended.Known() || !r.T.Done.Known() {
			return
		}
		if multi {
			if p, ok := last[r.Session]; ok && r.Turn == p.turn+1 && r.T.Intended > p.done {
				add(p.done, r.T.Intended)
			}
			last[r.Session] = ends{r.Turn, r.T.Done}
		}
		add(r.T.Intended, r.T.Done)
	})
	return area / float64(to-from)
}
