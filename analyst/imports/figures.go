package imports

import (
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/archive"
)

// labels name the metrics that figures become.
var labels = map[string][2]string{
	"ttft": {"Time to first token", "ms"}, "tpot": {"Time per output token", "ms"}, "itl": {"Inter-token latency", "ms"}, "icl": {"Inter-chunk latency", "ms"},
	"e2e": {"End-to-end latency", "ms"}, "output_speed": {"Output speed of one user", "tok/s"}, "prompt_length": {"Prompt length", "tokens"}, "output_length": {"Output length", "tokens"},
	"duration": {"Benchmark duration", "s"}, "input_tokens": {"Total input tokens", "tokens"}, "output_tokens": {"Total output tokens", "tokens"},
	"request_rate": {"Request throughput", "req/s"}, "output_rate": {"Output token throughput", "tok/s"}, "total_rate": {"Total token throughput", "tok/s"},
	"goodput": {"Goodput", "req/s"}, "error_rate": {"Share of failed requests", ""}, "effective_concurrency": {"Effective concurrency", ""},
}

// needed is how many requests each percentile takes for a finite upper bound at 95 %.
var needed = map[string]int{"p50": 6, "p90": 29, "p95": 59, "p99": 299}

const noInterval = "no interval: the file holds figures, not requests"

// figures collects the figures of one run.
type figures struct {
	n       int // successful requests
	metrics []archive.Metric
	index   map[[2]string]int // of a metric by scope and id
}

// stat notes one statistic of a metric over a scope; values that are no number are left
// out.
func (f *figures) stat(scope, id, stat string, v float64, ok bool) {
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	e := archive.Estimate{Value: archive.Some(v), Reason: noInterval}
	if need, is := needed[stat]; is && f.n < need && id != "itl" && id != "icl" {
		e = archive.Estimate{Reason: fmt.Sprintf("needs %d requests, the file has %d", need, f.n), Sample: archive.Some(v)}
	}
	if i, ok := f.index[[2]string{scope, id}]; ok {
		f.metrics[i].Stats[stat] = e
		return
	}
	if f.index == nil {
		f.index = map[[2]string]int{}
	}
	f.index[[2]string{scope, id}] = len(f.metrics)
	l := labels[id]
	f.metrics = append(f.metrics, archive.Metric{ID: id, Label: l[0], Unit: l[1], Scope: scope, N: f.n, Stats: map[string]archive.Estimate{stat: e}})
}

// value notes a single figure over the whole run.
func (f *figures) value(id string, v float64, ok bool) { f.stat("all", id, "value", v, ok) }

// find returns a figure over the whole run.
func (f *figures) find(id, stat string) (float64, bool) {
	i, ok := f.index[[2]string{"all", id}]
	if !ok {
		return 0, false
	}
	e := f.metrics[i].Stats[stat]
	if v, ok := e.Value.Get(); ok {
		return v, true
	}
	return e.Sample.Get()
}

// tolerance is how far the effective concurrency of figures may lie from the asked one:
// they hold ramp and drain, so it is wider than for raw records.
const tolerance = 0.2

// analysis makes the analysis of figures: counts, one window, the checks that figures
// allow, and a verdict that claims nothing they cannot carry.
func (f *figures) analysis(ok, failed int, asked archive.Opt[float64], rate archive.Opt[float64], load string) *archive.Analysis {
	a := &archive.Analysis{
		Definitions: "as imported", Metrics: f.metrics,
		Counts: archive.Counts{Planned: ok + failed, OK: ok, Failed: failed, ByKind: map[archive.Kind]int{archive.KindLoad: ok + failed}, Failures: map[string]int{}},
	}
	if failed > 0 {
		a.Counts.Failures["imported"] = failed
	}
	w := archive.Window{Phase: "all", Load: load, AskedConcurrency: asked, AskedRate: rate}
	x, ok1 := f.find("request_rate", "value")
	l, ok2 := f.find("e2e", "mean")
	if ok1 && ok2 {
		w.EffectiveConcurrency = archive.Some(x * l / 1000)
	}
	if ok1 {
		w.AchievedRate = archive.Some(x)
	}
	a.Windows = []archive.Window{w}
	a.Gates = []archive.Gate{okGate(ok), errorGate(ok, failed), littleGate(w)}
	for _, name := range []string{"speed", "cost", "quality", "stability", "efficiency"} {
		a.Radar = append(a.Radar, archive.Axis{Name: name, Reason: "the imported file does not hold what it takes"})
	}
	a.Verdict = archive.Verdict{
		State: archive.VerdictInconclusive, Headline: "Figures of another tool cannot say what limits the server.", Confidence: "low",
		Next: "Measure the same server with inferencebench run --url URL, which records engine, GPU and client beside the requests.",
	}
	for _, g := range a.Gates {
		if passed, known := g.Passed.Get(); known && !passed {
			a.Verdict.State, a.Verdict.Headline, a.Verdict.Confidence = archive.VerdictInvalid, g.Message, "high"
			break
		}
	}
	return a
}

func okGate(ok int) archive.Gate {
	g := archive.Gate{ID: "requests_ok", Passed: archive.Some(ok > 0), Observed: fmt.Sprintf("%d ok", ok), Limit: "at least 1", Message: "Requests succeeded."}
	if ok == 0 {
		g.Message = "No request succeeded."
	}
	return g
}

func errorGate(ok, failed int) archive.Gate {
	if ok+failed == 0 {
		return archive.Gate{ID: "error_rate", Observed: "no requests", Limit: "below 1 %", Message: "The file counts no requests."}
	}
	share := float64(failed) / float64(ok+failed)
	g := archive.Gate{ID: "error_rate", Passed: archive.Some(share < 0.01), Observed: fmt.Sprintf("%.1f %%", 100*share), Limit: "below 1 %", Message: "Few enough requests failed."}
	if share >= 0.01 {
		g.Message = fmt.Sprintf("%.1f %% of the requests failed, so latencies speak of a part of the load only.", 100*share)
	}
	return g
}

func littleGate(w archive.Window) archive.Gate {
	g := archive.Gate{ID: "littles_law", Observed: "not computable", Limit: fmt.Sprintf("within %.0f %% of the asked concurrency", 100*tolerance), Message: "Whether the client kept up cannot be checked: the file does not hold asked concurrency, throughput and mean latency together."}
	asked, ok1 := w.AskedConcurrency.Get()
	eff, ok2 := w.EffectiveConcurrency.Get()
	if !ok1 || !ok2 || asked <= 0 {
		return g
	}
	g.Observed = fmt.Sprintf("%.3g of %.3g asked", eff, asked)
	held := eff >= asked*(1-tolerance)
	g.Passed = archive.Some(held)
	g.Message = "Throughput times latency adds up to the asked concurrency."
	if !held {
		g.Message = fmt.Sprintf("The client did not keep up: %.3g requests were asked to run at once, and throughput times latency adds up to %.3g.", asked, eff)
	}
	return g
}
