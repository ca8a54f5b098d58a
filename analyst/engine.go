package analyst

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/archive"
)

func (w *work) engineFacts(f *attribute.Facts, win archive.Window) {
	b := &w.book
	note := func(metric, unit string, v float64, method, text string) evidence.Fact {
		return b.Note(evidence.Engine, metric, unit, v, method, text)
	}
	gauge := func(name string, fold series.Fold) []series.Point {
		return w.series.Gauge(archive.SourceEngine, name, fold, win.From, win.To)
	}
	grow := func(names ...string) (series.Delta, bool) {
		for _, n := range names {
			if d, ok := w.series.Growth(archive.SourceEngine, n, win.From, win.To); ok {
				w.resets = w.resets || d.Reset
				return d, true
			}
		}
		return series.Delta{}, false
	}
	f.EngineReads = w.series.Reads[archive.SourceEngine]
	running, waiting := gauge("requests_running", series.Sum), gauge("requests_waiting", series.Sum)
	if v, ok := series.Average(running); ok {
		f.Running = note("requests_running", "requests", v, "mean of the readings", fmt.Sprintf("%.1f requests run at once on average.", v))
		top, _ := series.Top(running)
		f.RunningMax = note("requests_running", "requests", top, "largest reading", fmt.Sprintf("At most %.0f requests run at once.", top))
	}
	if v, ok := series.Average(waiting); ok {
		f.Waiting = note("requests_waiting", "requests", v, "mean of the readings", fmt.Sprintf("%.1f requests wait in the engine's queue on average.", v))
	}
	kv := gauge("kv_cache_usage_max", series.Max)
	if len(kv) == 0 {
		kv = gauge("kv_cache_usage", series.Max)
	}
	if v, ok := series.Average(kv); ok {
		f.KV = note("kv_cache_usage", "", v, "mean of the readings", fmt.Sprintf("The KV cache is %s full on average.", pct(v)))
		s, _ := series.Share(kv, func(v float64) bool { return v > 0.95 })
		f.KVFull = note("kv_cache_usage", "", s, "share of the readings above 0.95", fmt.Sprintf("The KV cache is more than 95 %% full for %s of the time.", pct(s)))
	}
	if n, share := pinned(kv, waiting, 0.9); n >= 5 {
		f.FullWaiting = note("kv_cache_usage", "", share, fmt.Sprintf("share above 0.9 among the %d readings with waiting requests", n), fmt.Sprintf("When requests wait, the KV cache is more than 90 %% full in %s of the readings.", pct(share)))
	}
	w.capFacts(f, running, waiting)
	requests := 0.0
	if d, ok := grow("e2e_latency_count", "requests_finished_total", "ttft_count"); ok {
		requests = d.Value
	}
	if requests == 0 && f.Served.OK {
		requests = f.Served.V * float64(win.To-win.From) / 1e9
	}
	if d, ok := grow("preemptions_total"); ok && requests > 0 {
		v := d.Value / requests
		f.Preempt = note("preemptions", "per request", v, "growth of the counter over finished requests", fmt.Sprintf("The engine preempted %.0f times, %.3f per request.", d.Value, v))
	}
	mean := func(name string) (float64, bool) {
		sum, ok1 := grow(name + "_sum")
		n, ok2 := grow(name + "_count")
		if !ok1 {
			return 0, false
		}
		if !ok2 {
			n.Value = requests
		}
		if n.Value <= 0 {
			return 0, false
		}
		return 1000 * sum.Value / n.Value, true
	}
	if v, ok := mean("queue_time"); ok {
		f.Queue = note("queue_time", "ms", v, "growth of the histogram's sum over its count", fmt.Sprintf("A request waits %s in the engine's queue on average.", ms(v)))
	}
	if v, ok := mean("prefill_time"); ok {
		f.Prefill = note("prefill_time", "ms", v, "growth of the histogram's sum over its count", fmt.Sprintf("Prefill of a request takes %s on average.", ms(v)))
	}
	if v, ok := mean("ttft"); ok {
		f.EngineTTFT = note("engine_ttft", "ms", v, "growth of the histogram's sum over its count", fmt.Sprintf("The engine itself measures a time to first token of %s.", ms(v)))
	}
	// An engine that gives sums without counts gives its own computing time.
	if p, ok1 := grow("prefill_time_sum"); ok1 && !w.series.Has(archive.SourceEngine, "prefill_time_count") {
		if d, ok2 := grow("decode_time_sum"); ok2 && p.Value+d.Value > 0 {
			v := p.Value / (p.Value + d.Value)
			f.PrefillShare = note("prefill_share", "", v, "growth of the prefill seconds over prefill and decode seconds", fmt.Sprintf("%s of the engine's computing time goes into prompts.", pct(v)))
		}
	}
	if q, ok := grow("prefix_cache_queries_total"); ok && !f.Hit.OK && q.Value > 0 {
		if h, ok := grow("prefix_cache_hits_total", "prompt_tokens_cached_total"); ok && !h.Reset && !q.Reset {
			v := math.Min(1, h.Value/q.Value)
			f.Hit = note("prefix_hit", "", v, "growth of the hit counter over the query counter", fmt.Sprintf("%s of the prompt tokens hit the prefix cache.", pct(v)))
		}
	}
	if n, ok := grow("iteration_tokens_count", "engine_steps_total"); ok && n.Value > 0 && n.Span() > 0 {
		f.Steps = note("steps", "1/s", n.Value/n.Span(), "growth of the step counter over time", fmt.Sprintf("The engine makes %.0f steps a second.", n.Value/n.Span()))
		if sum, ok := grow("iteration_tokens_sum"); ok {
			v := sum.Value / n.Value
			f.StepTokens = note("step_tokens", "tokens", v, "tokens over steps", fmt.Sprintf("A step processes %.0f tokens on average.", v))
		}
	}
}

// capSettings are the names under which engines tell their cap on running requests.
var capSettings = []string{"max_num_seqs", "max_running_requests", "max_batch_size", "total_slots", "parallel", "n_parallel", "max_concurrent_requests"}

func (w *work) capFacts(f *attribute.Facts, running, waiting []series.Point) {
	limit, source := 0.0, ""
	if p, ok := series.Top(w.series.Gauge(archive.SourceEngine, "max_num_seqs", series.Sum, 1, math.MaxInt64)); ok && p > 0 {
		limit, source = p, "metrics page"
	}
	for _, k := range capSettings {
		if limit > 0 {
			break
		}
		if v, err := strconv.ParseFloat(w.setting(k), 64); err == nil && v > 0 {
			limit, source = v, "setting "+k
		}
	}
	if limit > 0 {
		f.Cap = w.book.Note(evidence.Engine, "max_running", "requests", limit, source, fmt.Sprintf("The engine runs at most %.0f requests at once.", limit))
	}
	top, ok := series.Top(running)
	if !ok || top < 1 {
		return
	}
	if limit == 0 {
		limit = top
	}
	if n, share := pinned(running, waiting, 0.97*limit); n >= 5 {
		f.PinnedWaiting = w.book.Note(evidence.Engine, "requests_running", "", share, fmt.Sprintf("share at or above 97 %% of %.0f among the %d readings with waiting requests", limit, n), fmt.Sprintf("When requests wait, %.0f or nearly as many run in %s of the readings.", limit, pct(share)))
	}
	s, _ := series.Share(running, func(v float64) bool { return v >= 0.97*limit })
	f.Pinned = w.book.Note(evidence.Engine, "requests_running", "", s, fmt.Sprintf("share of the readings at or above 97 %% of %.0f", limit), fmt.Sprintf("The engine runs %.0f or nearly as many requests for %s of the time.", limit, pct(s)))
}

// pinned returns how many readings show waiting requests, and in which share of those a
// gauge reaches a limit.
func pinned(running, waiting []series.Point, limit float64) (n int, share float64) {
	hits := 0
	for i, j := 0, 0; i < len(waiting); i++ {
		for j < len(running) && running[j].T < waiting[i].T {
			j++
		}
		if j == len(running) || running[j].T != waiting[i].T || waiting[i].V <= 0 {
			continue
		}
		n++
		if running[j].V >= limit {
			hits++
		}
	}
	if n == 0 {
		return 0, 0
	}
	return n, float64(hits) / float64(n)
}

// settings returns the engine's settings by canonical name, however the engine spells them.
func (w *work) settings() map[string]string {
	norm := strings.NewReplacer("-", "_", ".", "_")
	out := make(map[string]string, len(w.in.Manifest.Server.Settings))
	for k, v := range w.in.Manifest.Server.Settings {
		out[strings.TrimLeft(norm.Replace(strings.ToLower(k)), "_")] = v
	}
	return out
}

// setting returns one engine setting by its canonical name; "" where it is not told.
func (w *work) setting(name string) string { return w.settings()[name] }
