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

// Bootstrap bounds: up to bootstrapValues values the intervals come from a moving-block
// bootstrap of bootstrapDraws resamples; above, order statistics for the effective size
// that blocks show are as good and far cheaper.
const (
	bootstrapValues = 20_000
	bootstrapDraws  = 400
)

// Describe returns the metric of a distribution. The values are in time order and block
// is how many neighbours are taken to depend on one another; 0 is unknown. Intervals come
// from a moving-block bootstrap where there are enough blocks, else from order statistics
// for the effective sample that the lag-one autocorrelation leaves. A quantile is withheld
// below the sample of 1/(1 − p) that expects one observation beyond it; what the sample
// shows is then in Sample. A bound that the data cannot give is withheld too.
func Describe(d Def, scope string, values []float64, block int) archive.Metric {
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
	m.Interval = "order statistics, " + observations(nEff)
	if deff, ok := stats.DesignEffect(values, block); ok && n > bootstrapValues {
		nEff = math.Max(1, float64(n)/deff)
		m.Interval = fmt.Sprintf("order statistics, %s from blocks of %d", observations(nEff), block)
	}
	mean := Value(stats.Mean(values))
	lo, hi, ok := stats.MeanInterval(values, Level, nEff)
	switch need := stats.MinSample(0.5, Level); {
	case !ok || int(nEff) < need:
		mean.Reason = fmt.Sprintf("no interval: effective observations: %d, needs %d", int(nEff), need)
	case lo < 0 && slices.Min(values) >= 0:
		mean.Reason = "no interval: the values spread too much for so few, so that it would reach below 0"
	default:
		mean.Low, mean.High = Number(lo), Number(hi)
	}
	if sd, ok := stats.Std(values); ok {
		m.Stats["std"] = Value(sd)
	} else {
		m.Stats["std"] = Withheld("needs 2 requests, has 1")
	}
	var boot [][2]float64
	if n <= bootstrapValues {
		ps := make([]float64, len(quantiles))
		for i, q := range quantiles {
			ps[i] = q.p
		}
		if iv, ok := stats.BlockQuantiles(values, block, ps, Level, bootstrapDraws, 1); ok {
			boot = iv
			v := mean.Value.Or(0) // an interval that leaves out its own estimate cannot be
			mean.Low, mean.High, mean.Reason = Number(math.Min(v, iv[0][0])), Number(math.Max(v, iv[0][1])), ""
			m.Interval = fmt.Sprintf("moving-block bootstrap, blocks of %d", block)
		}
	}
	m.Stats["mean"] = mean
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	m.Stats["min"], m.Stats["max"] = Value(sorted[0]), Value(sorted[n-1])
	for i, q := range quantiles {
		e := quantile(sorted, q.p, nEff)
		// The bootstrap cannot see beyond the largest value, so that it bounds only what the
		// order statistics can bound.
		if boot != nil && e.Value.Known() && e.Low.Known() && e.High.Known() {
			v := e.Value.Or(0)
			e.Low, e.High = Number(math.Min(v, boot[i+1][0])), Number(math.Max(v, boot[i+1][1]))
		}
		m.Stats[q.key] = e
	}
	if n < minQuantile(0.99) {
		m.Annotations = append(m.Annotations, archive.Annotation{Code: "few_samples",
			Message: fmt.Sprintf("%d requests do not support P99; it needs %d, and %d for an interval", n, minQuantile(0.99), stats.MinSampleUpper(0.99, Level))})
	}
	return m
}

// observations is "12 effective observations".
func observations(n float64) string {
	if n < 2 {
		return "1 effective observation"
	}
	return fmt.Sprintf("%.0f effective observations", math.Floor(n))
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
		e.Reason = fmt.Sprintf("no two-sided interval: effective observations: %d, needs %d", int(nEff), stats.MinSample(p, Level))
	}
	return e
}

// DescribePool returns the metric of a pool of gaps. Gaps of one request share steps of
// the server, so intervals come from resampling sessions; without clusters, or with too
// few, there are none.
func DescribePool(d Def, scope string, p *stats.Pool, clusters *stats.Groups) archive.Metric {
	if p == nil || p.N() == 0 {
		return Describe(d, scope, nil, 0)
	}
	m := archive.Metric{ID: d.ID, Label: d.Label, Unit: d.Unit, Scope: scope, N: int(p.N()), Stats: map[string]archive.Estimate{}}
	const reason = "no interval: gaps of one request are not independent, and there are too few sessions to resample"
	mean := Value(p.Mean())
	m.Stats["mean"] = mean
	if sd, ok := p.Std(); ok {
		m.Stats["std"] = Value(sd)
	} else {
		m.Stats["std"] = Withheld("needs 2 gaps, has 1")
	}
	m.Stats["min"], m.Stats["max"] = Value(p.Min()), Value(p.Max())
	var boot [][2]float64
	if clusters != nil {
		ps := make([]float64, len(quantiles))
		for i, q := range quantiles {
			ps[i] = q.p
		}
		if iv, ok := clusters.Quantiles(ps, Level, bootstrapDraws, 1); ok {
			boot = iv
			m.Interval = "cluster bootstrap by session"
		}
	}
	for i, q := range quantiles {
		v, _ := p.Quantile(q.p)
		e := archive.Estimate{Sample: Number(v)}
		switch need := minQuantile(q.p); {
		case int(p.N()) < need:
			e.Reason = fmt.Sprintf("needs %d gaps, has %d", need, p.N())
		case boot == nil:
			e.Value, e.Reason = Number(v), reason
		default:
			e.Value, e.Low, e.High = Number(v), Number(math.Min(v, boot[i][0])), Number(math.Max(v, boot[i][1]))
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
