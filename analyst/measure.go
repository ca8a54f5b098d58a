package analyst

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// scope is one view of the load requests.
type scope struct {
	name string
	keep func(*metrics.Row) bool
	gaps bool
}

// scopes returns all views, "all" first.
func (w *work) scopes() []scope {
	out := []scope{{"all", nil, true}}
	for _, win := range w.windows {
		out = append(out, scope{"phase:" + win.Phase, w.inPhase(win.Phase), true})
	}
	loaded := make([]bool, len(w.table.Tasks.List()))
	later := false
	w.table.Each(func(r *metrics.Row) {
		if r.Kind() == archive.KindLoad {
			loaded[r.Task] = true
			later = later || r.Turn > 0
		}
	})
	for i, task := range w.table.Tasks.List() {
		if loaded[i] && task != "" {
			out = append(out, scope{"task:" + task, func(r *metrics.Row) bool { return int(r.Task) == i }, true})
		}
	}
	if later {
		out = append(out,
			scope{"turn:first", func(r *metrics.Row) bool { return r.Turn == 0 }, false},
			scope{"turn:later", func(r *metrics.Row) bool { return r.Turn > 0 }, false})
	}
	return out
}

// measure computes every metric over every scope, on all processors; the order of the
// results does not depend on them.
func (w *work) measure() {
	scopes, defs := w.scopes(), metrics.Defs()
	w.blockSeconds()
	type task struct{ scope, def int }
	out := make([][]archive.Metric, len(scopes))
	tasks := make(chan task)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		wg.Go(func() {
			for t := range tasks {
				values := w.table.Values(scopes[t.scope].keep, defs[t.def].Of)
				m := metrics.Describe(defs[t.def], scopes[t.scope].name, values, w.block(len(values)))
				w.caveats(&m, scopes[t.scope])
				out[t.scope][t.def] = m
			}
		})
	}
	for i := range scopes {
		out[i] = make([]archive.Metric, len(defs))
		for j := range defs {
			tasks <- task{i, j}
		}
	}
	close(tasks)
	wg.Wait()
	for i, s := range scopes {
		w.metrics = append(w.metrics, out[i]...)
		if s.gaps {
			w.gapMetrics(s)
		}
	}
	w.totals("all", w.windows)
	for _, win := range w.windows {
		w.totals("phase:"+win.Phase, []archive.Window{win})
	}
}

// minBlock is the least length of a block of the bootstrap, in seconds.
const minBlock = 10.0

// blockSeconds computes which share of the run neighbours in time are taken to depend on
// one another for: max(10 s, twice the P95 end-to-end latency) over all windows.
func (w *work) blockSeconds() {
	e2e := w.table.Values(nil, (*metrics.Row).E2EL)
	span := 0.0
	for _, win := range w.windows {
		span += float64(win.To-win.From) / 1e9
	}
	if len(e2e) == 0 || span <= 0 {
		return
	}
	slices.Sort(e2e)
	w.blockShare = max(minBlock, 2*stats.Quantile(e2e, 0.95)/1000) / span
}

// block returns the length of a block of n values.
func (w *work) block(n int) int { return int(math.Ceil(float64(n) * w.blockShare)) }

var (
	iclDef = metrics.Def{ID: "icl", Label: "Inter-chunk latency", Unit: "ms"}
	itlDef = metrics.Def{ID: "itl", Label: "Inter-token latency", Unit: "ms"}
)

func (w *work) gapMetrics(s scope) {
	g := w.table.Gaps(s.name)
	if g == nil {
		g = new(metrics.Gaps)
	}
	icl := metrics.DescribePool(iclDef, s.name, &g.ICL, &g.Clusters)
	itl := metrics.DescribePool(itlDef, s.name, &g.ITL, nil)
	if g.Known < g.Unknown {
		// Percentiles over the few requests that tell would stand for all.
		itl = metrics.Describe(itlDef, s.name, nil, 0)
		for k := range itl.Stats {
			itl.Stats[k] = metrics.Withheld(fmt.Sprintf("tokens per chunk are unknown for %d of %d requests; see icl", g.Unknown, g.Known+g.Unknown))
		}
	} else if g.Unknown > 0 {
		itl.Annotations = append(itl.Annotations, archive.Annotation{Code: "partial", Message: fmt.Sprintf("%d of %d requests are left out: their tokens per chunk are unknown", g.Unknown, g.Known+g.Unknown)})
	}
	w.metrics = append(w.metrics, icl, itl)
}

// caveats adds what makes a distribution doubtful.
func (w *work) caveats(m *archive.Metric, s scope) {
	if m.ID != "tpot" && m.ID != "output_speed" && m.ID != "ttft" {
		return
	}
	hidden, estimated := 0, 0
	w.table.Each(func(r *metrics.Row) {
		if r.Kind() == archive.KindLoad && r.OK() && (s.keep == nil || s.keep(r)) {
			if r.Hidden {
				hidden++
			}
			if r.Estimated {
				estimated++
			}
		}
	})
	if hidden > 0 {
		m.Annotations = append(m.Annotations, archive.Annotation{Code: "hidden_reasoning",
			Message: fmt.Sprintf("%d requests spent tokens on reasoning that was not streamed: their first token is the first visible one, and their speed counts visible tokens only", hidden)})
	}
	if estimated > 0 && m.ID != "ttft" {
		m.Annotations = append(m.Annotations, archive.Annotation{Code: "estimated_tokens",
			Message: fmt.Sprintf("the tokens of %d requests were counted here, not by the server", estimated)})
	}
	if m.ID == "ttft" {
		if a, ok := w.startWave(s); ok {
			m.Annotations = append(m.Annotations, a)
		}
	}
}

// startWave compares the first wave of each phase that had no warm-up with the rest: on
// a cold server it is the tail of the result.
func (w *work) startWave(s scope) (archive.Annotation, bool) {
	if s.name == "turn:later" {
		return archive.Annotation{}, false
	}
	cold := map[uint16]archive.Instant{} // the end of the first wave of a phase
	for _, win := range w.windows {
		i, ok := w.table.Phases.Index(win.Phase)
		c, closed := win.AskedConcurrency.Get()
		if !ok || !closed || w.time.phase(win.Phase).warmup || w.warmed(i) {
			continue
		}
		var at []float64
		w.table.Each(func(r *metrics.Row) {
			if r.Phase == i && r.Kind() != archive.KindWarmup && r.T.Intended.Known() {
				at = append(at, float64(r.T.Intended))
			}
		})
		if n := int(c); len(at) > n {
			cold[i] = archive.Instant(stats.Sorted(at)[n-1])
		}
	}
	if len(cold) == 0 {
		return archive.Annotation{}, false
	}
	var wave, rest []float64
	w.table.Each(func(r *metrics.Row) {
		v, ok := r.TTFT()
		if r.Kind() != archive.KindLoad || !r.OK() || !ok || (s.keep != nil && !s.keep(r)) {
			return
		}
		if end, ok := cold[r.Phase]; ok && r.T.Intended <= end {
			wave = append(wave, v)
		} else {
			rest = append(rest, v)
		}
	})
	if len(wave) == 0 || len(rest) == 0 {
		return archive.Annotation{}, false
	}
	all := stats.Quantile(stats.Sorted(append(append([]float64{}, wave...), rest...)), 0.95)
	without := stats.Quantile(stats.Sorted(rest), 0.95)
	if all < 1.2*without || stats.Mean(wave) < 1.5*stats.Mean(rest) {
		return archive.Annotation{}, false
	}
	return archive.Annotation{Code: "start_wave", Message: fmt.Sprintf("the first wave of %d requests met a cold server: P95 is %.0f ms with it and %.0f ms without; add a warm-up", len(wave), all, without)}, true
}

// warmed reports whether a phase has warm-up requests.
func (w *work) warmed(phase uint16) bool {
	found := false
	w.table.Each(func(r *metrics.Row) { found = found || (r.Phase == phase && r.Kind() == archive.KindWarmup) })
	return found
}

// totals computes the metrics that are one number over some windows.
func (w *work) totals(name string, wins []archive.Window) {
	member := map[uint16]archive.Window{}
	var span float64
	var tokens metrics.Tally
	for _, win := range wins {
		i, ok := w.table.Phases.Index(win.Phase)
		if !ok {
			continue
		}
		member[i] = win
		span += float64(win.To-win.From) / 1e9
		t := w.table.TallyOf(win.Phase)
		tokens.Inside += t.Inside
		tokens.Prompt += t.Prompt
		tokens.Cached += t.Cached
		tokens.Unknown += t.Unknown
		if w.drained[win.Phase] {
			tokens.Inside += t.After
			tokens.Prompt += t.PromptAfter
			tokens.Cached += t.CachedAfter
		}
	}
	var ok, failed, inside, input, cached, output int
	var unknownIn, unknownOut int
	w.table.Each(func(r *metrics.Row) {
		win, mine := member[r.Phase]
		if !mine || r.Kind() == archive.KindWarmup {
			return
		}
		switch r.Status() {
		case archive.StatusFailed:
			failed++
		case archive.StatusOK:
			ok++
			if r.T.Last <= win.To && r.T.Last >= win.From {
				inside++
			}
			if r.Prompt < 0 {
				unknownIn++
			}
			if r.Completion < 0 {
				unknownOut++
			}
			input += int(max(0, r.Prompt))
			cached += int(max(0, r.Cached))
			output += int(max(0, r.Completion))
		}
	})
	add := func(id, label, unit string, n int, e archive.Estimate) {
		w.metrics = append(w.metrics, metrics.Single(id, label, unit, name, n, e))
	}
	const noWindow = "no measured window"
	rate := func(v float64) archive.Estimate {
		if span <= 0 {
			return metrics.Withheld(noWindow)
		}
		return metrics.Value(v / span)
	}
	whole := func(v, unknown int) archive.Estimate {
		if unknown > 0 && unknown == ok {
			return metrics.Withheld("nobody reported token counts")
		}
		e := metrics.Value(float64(v))
		if unknown > 0 {
			e.Reason = fmt.Sprintf("a lower bound: the counts of %d requests are unknown", unknown)
		}
		return e
	}
	tokenRate := func(v float64, unknown int) archive.Estimate {
		if unknown > 0 && unknown == ok {
			return metrics.Withheld("nobody reported token counts")
		}
		return rate(v)
	}
	if span > 0 {
		add("duration", "Measured window", "s", 1, metrics.Value(span))
	} else {
		add("duration", "Measured window", "s", 0, metrics.Withheld(noWindow))
	}
	add("requests_ok", "Successful requests", "", ok, metrics.Value(float64(ok)))
	add("requests_failed", "Failed requests", "", failed, metrics.Value(float64(failed)))
	share := metrics.Withheld("no request ended")
	if lo, hi, known := stats.Wilson(failed, ok+failed, metrics.Level); known {
		share = archive.Estimate{Value: metrics.Number(float64(failed) / float64(ok+failed)), Low: metrics.Number(lo), High: metrics.Number(hi)}
	}
	add("error_rate", "Failed share", "ratio", ok+failed, share)
	add("input_tokens", "Input tokens", "tokens", ok, whole(input, unknownIn))
	add("cached_tokens", "Input tokens from a cache", "tokens", ok, whole(cached, unknownIn))
	add("output_tokens", "Output tokens", "tokens", ok, whole(output, unknownOut))
	add("request_rate", "Request throughput", "req/s", inside, rate(float64(inside)))
	add("output_rate", "Output throughput", "tok/s", ok, tokenRate(tokens.Inside, unknownOut))
	add("input_rate", "Input throughput, cached tokens left out", "tok/s", ok, tokenRate(max(0, tokens.Prompt-tokens.Cached), unknownIn))
	add("cached_rate", "Cached input throughput", "tok/s", ok, tokenRate(tokens.Cached, unknownIn))
	add("total_rate", "Total throughput, cached tokens left out", "tok/s", ok, tokenRate(tokens.Inside+max(0, tokens.Prompt-tokens.Cached), max(unknownIn, unknownOut)))
	peak, area := 0, 0.0
	for _, win := range wins {
		if win.To > win.From {
			p, mean := w.table.Peak(win.From, win.To)
			peak = max(peak, p)
			area += mean * float64(win.To-win.From) / 1e9
		}
	}
	add("effective_concurrency", "Requests open at once, mean", "requests", ok, rate(area))
	add("peak_concurrency", "Requests open at once, most", "requests", ok, metrics.Value(float64(peak)))
}

// value returns the single value of a metric, unknown when it is not there.
func (w *work) value(id, scope, stat string) (archive.Estimate, bool) {
	for i := range w.metrics {
		if w.metrics[i].ID == id && w.metrics[i].Scope == scope {
			e, ok := w.metrics[i].Stats[stat]
			return e, ok && e.Value.Known()
		}
	}
	return archive.Estimate{}, false
}
