package report

import (
	"math"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/quantity"
)

// keys are the three numbers that matter: how long people wait, how much the server
// gives, and what is worst among failures, objectives and quality.
func keys(a *archive.Analysis) []key {
	if k := tableKeys(a); k != nil {
		return k
	}
	return []key{waitKey(a), outputKey(a), worstKey(a)}
}

// tableKeys are the numbers of an analysis that has phases and nothing over the whole,
// such as an imported sweep: the span of loads, the best throughput, what was reached.
// They are nil for any other.
func tableKeys(a *archive.Analysis) []key {
	points, unit := sweepPoints(a)
	if len(points) == 0 || a.Counts.Planned > 0 {
		return nil
	}
	first, last := points[0], points[len(points)-1]
	what := "concurrency"
	if unit != "" {
		what = unit
	}
	out := []key{{Label: "Loads", Number: itoa(len(points)), Sub: what + " " + quantity.Digits(first.asked, 3) + " to " + quantity.Digits(last.asked, 3)}}
	best := key{Label: "Highest output throughput", Number: "–", Class: "unknown", Sub: "not in the file"}
	top := math.Inf(-1)
	for _, p := range points {
		if m, ok := metricOf(a, "phase:"+p.w.Phase, "output_rate"); ok {
			if v, known := m.Stats["value"].Value.Get(); known && v > top {
				top = v
				best = key{Label: best.Label, Sub: "at " + p.w.Load}
				best.Number, best.Unit = quantity.Split(v, m.Unit)
			}
		}
	}
	reached := key{Label: "Reached at the highest load", Number: "–", Class: "unknown", Sub: "not computable from the file"}
	got := last.w.EffectiveConcurrency
	if unit != "" {
		got = last.w.AchievedRate
	}
	if v, ok := got.Get(); ok {
		reached = key{Label: reached.Label, Number: quantity.Digits(v, 3), Unit: unit, Sub: "of " + quantity.Digits(last.asked, 3) + " asked"}
	}
	return append(out, best, reached)
}

func waitKey(a *archive.Analysis) key {
	for _, st := range []struct{ stat, label string }{{"p99", "P99"}, {"p95", "P95"}, {"p90", "P90"}, {"p50", "median"}, {"mean", "mean"}} {
		e, unit := estimateOf(a, "ttft", st.stat)
		if v, ok := e.Value.Get(); ok {
			k := key{Label: "Time to first token, " + st.label}
			k.Number, k.Unit = quantity.Split(v, unit)
			k.Sub = interval(e, unit)
			if st.stat != "p50" {
				if med, u := estimateOf(a, "ttft", "p50"); med.Value.Known() {
					k.Sub = joinNonEmpty(" · ", "median "+plain(med.Value.Or(0), u), known(e, k.Sub, "too few independent requests for its interval"))
				}
			}
			return k
		}
	}
	e, _ := estimateOf(a, "ttft", "p50")
	return key{Label: "Time to first token", Number: "–", Sub: e.Reason, Class: "unknown"}
}

func outputKey(a *archive.Analysis) key {
	e, unit := estimateOf(a, "output_rate", "value")
	v, ok := e.Value.Get()
	if !ok {
		return key{Label: "Output throughput", Number: "–", Sub: e.Reason, Class: "unknown"}
	}
	k := key{Label: "Output throughput"}
	k.Number, k.Unit = quantity.Split(v, unit)
	k.Sub = interval(e, unit)
	if r, u := estimateOf(a, "request_rate", "value"); r.Value.Known() {
		k.Sub = joinNonEmpty(" · ", k.Sub, plain(r.Value.Or(0), u))
	}
	return k
}

func worstKey(a *archive.Analysis) key {
	c := a.Counts
	t, split := c.Measured()
	if !split {
		t = archive.Tally{OK: c.OK, Failed: c.Failed, Failures: c.Failures}
	}
	if sent := t.OK + t.Failed; t.Failed > 0 && sent > 0 {
		k := key{Label: "Requests that failed", Class: "bad", Sub: itoa(t.Failed) + " of " + itoa(sent) + " · " + failureList(serverFailures(t.Failures))}
		k.Number, k.Unit = quantity.Digits(100*float64(t.Failed)/float64(sent), 2), "%"
		return k
	}
	if len(a.SLOs) > 0 {
		met, missed := 0, ""
		for _, s := range a.SLOs {
			if ok, known := s.Met.Get(); known && ok {
				met++
			} else if missed == "" {
				missed = s.Expr
			}
		}
		k := key{Label: "Objectives met", Number: itoa(met), Unit: "of " + itoa(len(a.SLOs)), Class: "good", Sub: a.SLOs[0].Observed}
		if missed != "" {
			k.Class, k.Sub = "bad", "not met or undecided: "+missed
		}
		return k
	}
	for _, q := range a.Quality {
		if v, ok := q.Accuracy.Value.Get(); ok && q.Scored >= 10 { // fewer items say nothing worth a headline
			k := key{Label: "Quality, " + q.Kind, Sub: itoa(q.Correct) + " of " + itoa(q.Scored) + " right"}
			k.Number, k.Unit = quantity.Digits(v*100, 3), "%"
			return k
		}
	}
	e, unit := estimateOf(a, "tpot", "p50")
	if v, ok := e.Value.Get(); ok {
		k := key{Label: "Time per output token, median", Sub: interval(e, unit)}
		k.Number, k.Unit = quantity.Split(v, unit)
		return k
	}
	return key{Label: "Requests that failed", Number: itoa(c.Failed), Sub: "of " + itoa(c.Planned) + " planned"}
}

// known is the interval of an estimate, or a short word for why there is none: the whole
// reason stands with the metric.
func known(e archive.Estimate, text, short string) string {
	if e.Low.Known() && e.High.Known() {
		return text
	}
	return short
}

func interval(e archive.Estimate, unit string) string {
	lo, ok1 := e.Low.Get()
	hi, ok2 := e.High.Get()
	if !ok1 || !ok2 {
		return e.Reason
	}
	return quantity.Range(lo, hi, unit)
}
