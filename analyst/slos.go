package analyst

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// parseSLOs parses the objectives.
func parseSLOs(exprs []string) ([]*slo.Expr, error) {
	var out []*slo.Expr
	for _, s := range exprs {
		e, err := slo.Parse(s)
		if err != nil {
			return nil, fmt.Errorf("objective %q: %w", s, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// evaluate judges the objectives over the whole run and adds goodput and attainment to
// the metrics.
func (w *work) evaluate() []archive.SLO {
	var all []slo.Limit
	for _, e := range w.objectives {
		limits, _ := e.Limits()
		all = append(all, limits...)
	}
	if len(all) > 0 {
		w.goodput(all)
	}
	var out []archive.SLO
	for _, e := range w.objectives {
		row := archive.SLO{Expr: e.String()}
		env := slo.FromMetrics(w.metrics, "all")
		if limits, _ := e.Limits(); len(limits) > 0 {
			good, n := w.attained(limits, nil)
			row.Attainment = proportion(good, n, "no request was due")
			env["attainment"] = row.Attainment
		} else {
			row.Attainment = metrics.Withheld("the objective sets no limit on a request")
		}
		w.moreQuantiles(e, env)
		res := e.Eval(env)
		switch res.State {
		case slo.Met:
			row.Met = archive.Some(true)
		case slo.Missed:
			row.Met = archive.Some(false)
		default:
			row.Reason = res.Reason
		}
		row.Observed = observed(res.Terms)
		out = append(out, row)
	}
	return out
}

// observed says in words what the terms of an objective read.
func observed(terms []slo.Term) string {
	var parts []string
	for _, t := range terms {
		v, ok := t.Observed.Value.Get()
		switch {
		case t.Metric == "":
			parts = append(parts, fmt.Sprintf("%s: %s", t.Text, t.State))
		case !ok:
			parts = append(parts, t.Metric+" unknown")
		case t.Metric == "attainment" || t.Metric == "error_rate":
			parts = append(parts, fmt.Sprintf("%s %s", t.Metric, pct(v)))
		case timed(t.Metric):
			parts = append(parts, fmt.Sprintf("%s %s", t.Metric, ms(1000*v)))
		default:
			parts = append(parts, fmt.Sprintf("%s %.4g", t.Metric, v))
		}
	}
	return strings.Join(parts, ", ")
}

func timed(key string) bool {
	for _, p := range []string{"ttft", "ttfo", "tpot", "itl", "icl", "e2e", "norm_latency", "send_lag", "queue"} {
		if strings.HasPrefix(key, p+"_") || key == p {
			return true
		}
	}
	return false
}

func proportion(k, n int, none string) archive.Estimate {
	lo, hi, ok := stats.Wilson(k, n, metrics.Level)
	if !ok {
		return metrics.Withheld(none)
	}
	return archive.Estimate{Value: metrics.Number(float64(k) / float64(n)), Low: metrics.Number(lo), High: metrics.Number(hi)}
}

// goodput adds the rate of requests that meet all limits, and their share of all that
// were due.
func (w *work) goodput(limits []slo.Limit) {
	add := func(scope string, keep func(*metrics.Row) bool, wins []archive.Window) {
		good, n := w.attained(limits, keep)
		share := proportion(good, n, "no request was due")
		rate := metrics.Withheld("no measured window")
		span := 0.0
		for _, win := range wins {
			span += float64(win.To-win.From) / 1e9
		}
		if span > 0 {
			rate = metrics.Value(float64(good) / span)
		}
		w.metrics = append(w.metrics,
			metrics.Single("goodput", "Goodput: requests that meet all limits", "req/s", scope, n, rate),
			metrics.Single("attainment", "Share of due requests that meet all limits", "ratio", scope, n, share))
	}
	add("all", nil, w.windows)
	for _, win := range w.windows {
		add("phase:"+win.Phase, w.inPhase(win.Phase), []archive.Window{win})
	}
}

// slowTokens reports whether most requests miss a limit on the time per token.
func (w *work) slowTokens() bool {
	var limits []slo.Limit
	for _, e := range w.objectives {
		ls, _ := e.Limits()
		for _, l := range ls {
			if l.Metric == "tpot" || l.Metric == "output_speed" {
				limits = append(limits, l)
			}
		}
	}
	if len(limits) == 0 {
		return false
	}
	good, n := w.attained(limits, nil)
	return n > 0 && 2*good < n
}

// attained counts the load requests that meet the limits among all that were due. A
// request that failed, was cancelled or never left misses; what was open when the user
// interrupted the run is left out.
func (w *work) attained(limits []slo.Limit, keep func(*metrics.Row) bool) (good, n int) {
	defs := map[string]metrics.Def{}
	for _, d := range metrics.Defs() {
		defs[d.ID] = d
	}
	interrupted := w.in.Manifest.State != archive.StateComplete
	w.table.Each(func(r *metrics.Row) {
		if r.Kind() != archive.KindLoad || keep != nil && !keep(r) {
			return
		}
		if r.Status() == archive.StatusCancelled && interrupted && w.table.Fails.At(r.Fail) != archive.FailUnsent {
			return
		}
		n++
		if !r.OK() {
			return
		}
		state := slo.Judge(limits, func(id string) (archive.Opt[float64], bool) {
			d, ok := defs[id]
			if !ok {
				return archive.Opt[float64]{}, true
			}
			if (id == "tpot" || id == "output_speed") && (r.Completion >= 0 && r.Completion < 2 || r.Chunks < 2) {
				return archive.Opt[float64]{}, false
			}
			v, ok := d.Of(r)
			if !ok {
				return archive.Opt[float64]{}, true
			}
			if strings.HasPrefix(d.Unit, "ms") {
				v /= 1000
			}
			return archive.Some(v), true
		})
		if state == slo.Met {
			good++
		}
	})
	return good, n
}

// moreQuantiles adds percentiles that an objective names and the metrics lack.
func (w *work) moreQuantiles(e *slo.Expr, env slo.Env) {
	for _, t := range e.Eval(env).Terms {
		i := strings.LastIndex(t.Metric, "_p")
		if _, known := env[t.Metric]; known || i < 0 {
			continue
		}
		digits := t.Metric[i+2:]
		if len(digits) == 1 {
			digits = "0" + digits
		}
		p, err := strconv.ParseFloat("0."+digits, 64)
		if err != nil || p <= 0 {
			continue
		}
		for _, d := range metrics.Defs() {
			if d.ID != t.Metric[:i] {
				continue
			}
			est := metrics.Percentile(w.table.Values(nil, d.Of), p)
			if strings.HasPrefix(d.Unit, "ms") {
				est = scale(est, 1e-3)
			}
			env[t.Metric] = est
		}
	}
}

func scale(e archive.Estimate, by float64) archive.Estimate {
	f := func(o archive.Opt[float64]) archive.Opt[float64] {
		if v, ok := o.Get(); ok {
			return archive.Some(v * by)
		}
		return o
	}
	e.Value, e.Low, e.High, e.Sample = f(e.Value), f(e.Low), f(e.High), f(e.Sample)
	return e
}

// sortedCounts returns the keys of a count by falling count, then by name.
func sortedCounts(m map[string]int) []string {
	keys := slices.Collect(maps.Keys(m))
	slices.SortFunc(keys, func(a, b string) int {
		if d := m[b] - m[a]; d != 0 {
			return d
		}
		return cmp.Compare(a, b)
	})
	return keys
}
