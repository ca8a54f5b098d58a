package analyst

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// minStall is the least length of a stall, in milliseconds.
const minStall = 200

// gather computes the facts that attribution needs over one window.
func (w *work) gather(win archive.Window) attribute.Facts {
	f := attribute.Facts{Engine: w.in.Manifest.Server.Engine, OpenLoop: win.AskedRate.Known(), Local: local(w.in.Manifest.Server.URL), Simulated: w.in.Manifest.Simulated}
	w.book.Scope, w.book.From, w.book.To = "phase:"+win.Phase, win.From, win.To
	w.clientFacts(&f, win)
	w.engineFacts(&f, win)
	w.deviceFacts(&f, win)
	w.stepFacts(&f, win)
	w.floor(&f, win)
	w.decompose(&f)
	return f
}

func local(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	h := u.Hostname()
	return h == "localhost" || h == "::1" || strings.HasPrefix(h, "127.")
}

func (w *work) inPhase(name string) func(*metrics.Row) bool {
	i, ok := w.table.Phases.Index(name)
	return func(r *metrics.Row) bool { return ok && r.Phase == i }
}

func (w *work) clientFacts(f *attribute.Facts, win archive.Window) {
	b, keep := &w.book, w.inPhase(win.Phase)
	values := func(of func(*metrics.Row) (float64, bool)) []float64 { return w.table.Values(keep, of) }
	note := func(metric, unit string, v float64, method, text string) evidence.Fact {
		return b.Note(evidence.Client, metric, unit, v, method, text)
	}
	if ttft := values((*metrics.Row).TTFT); len(ttft) > 0 {
		mean, p50 := stats.Mean(ttft), stats.Quantile(stats.Sorted(ttft), 0.5)
		f.TTFT = note("ttft", "ms", mean, "mean over ok load requests, from the intended send", fmt.Sprintf("The mean time to first token is %s.", ms(mean)))
		f.TTFT50 = note("ttft", "ms", p50, "median over ok load requests", fmt.Sprintf("The median time to first token is %s.", ms(p50)))
	}
	if svc := values((*metrics.Row).TTFTService); len(svc) > 0 {
		v := stats.Mean(svc)
		f.Service = note("ttft_service", "ms", v, "mean over ok load requests, from the first request byte", fmt.Sprintf("From the send, the first token takes %s on average.", ms(v)))
	}
	if late := values((*metrics.Row).Lateness); len(late) > 0 {
		v, p99 := stats.Mean(late), stats.Quantile(stats.Sorted(late), 0.99)
		f.Late = note("send_lag", "ms", v, "mean of send minus intended, connecting left out", fmt.Sprintf("Requests leave %s after their intended instant on average.", ms(v)))
		f.Late99 = note("send_lag", "ms", p99, "99th percentile of send minus intended, connecting left out", fmt.Sprintf("One request in a hundred leaves more than %s late.", ms(p99)))
	}
	dial := w.table.Values(keep, func(r *metrics.Row) (float64, bool) { return float64(r.Dial) / 1000, r.Dial >= 0 })
	if len(dial) > 0 {
		v := stats.Quantile(stats.Sorted(dial), 0.5)
		f.RTT = note("tcp_connect", "ms", v, fmt.Sprintf("median connect time of %d new connections, one round trip each", len(dial)), fmt.Sprintf("A round trip to the server takes %s.", ms(v)))
	}
	if g := w.table.Gaps("phase:" + win.Phase); g != nil && g.ICL.N() >= 20 {
		p50, _ := g.ICL.Quantile(0.5)
		p99, _ := g.ICL.Quantile(0.99)
		f.GapMean = note("icl", "ms", g.ICL.Mean(), "mean gap between chunks", fmt.Sprintf("The mean gap between chunks is %s.", ms(g.ICL.Mean())))
		f.Gap50 = note("icl", "ms", p50, "median gap between chunks", fmt.Sprintf("Half of the gaps between chunks are below %s.", ms(p50)))
		stall := math.Max(3*p50, minStall)
		n, sum := g.ICL.Above(stall)
		f.Stalls = note("stalls", "", sum/math.Max(g.ICL.Sum(), 1e-9), fmt.Sprintf("sum of the %d gaps above %s over the sum of all gaps", n, ms(stall)), fmt.Sprintf("%s of the streaming time is spent in stalls of more than %s.", pct(sum/math.Max(g.ICL.Sum(), 1e-9)), ms(stall)))
		if _, med, _ := g.Line.Medians(win.From, win.To, 10); len(med) >= 20 {
			slices.Sort(med)
			swing := (stats.Quantile(med, 0.9) - stats.Quantile(med, 0.1)) / stats.Quantile(med, 0.5)
			f.GapSwing = note("icl_swing", "", swing, "P90 less P10 of the median gaps of single seconds, over their median", fmt.Sprintf("The median gap of single seconds varies by %s of its median.", pct(swing)))
		}
		f.Gap99 = note("icl", "ms", p99, "99th percentile of the gaps between chunks", fmt.Sprintf("One gap in a hundred is above %s.", ms(p99)))
	}
	if p := values((*metrics.Row).PromptTokens); len(p) > 1 {
		mean := stats.Mean(p)
		sd, _ := stats.Std(p)
		f.Prompt = note("prompt_length", "tokens", mean, "mean of the server's counts", fmt.Sprintf("Prompts hold %.0f tokens on average.", mean))
		if mean > 0 {
			f.PromptCV = note("prompt_length", "", sd/mean, "coefficient of variation of the prompt length", fmt.Sprintf("Prompt lengths vary by %.2f of their mean.", sd/mean))
		}
	}
	w.prefixFacts(f, keep)
	if tpc := values((*metrics.Row).TokensPerChunk); len(tpc) > 0 {
		v := stats.Quantile(stats.Sorted(tpc), 0.5)
		f.PerChunk = note("tokens_per_chunk", "tokens", v, "median over ok load requests", fmt.Sprintf("A chunk carries %.2f tokens.", v))
	}
	w.offered(f, win)
}

// prefixFacts computes which share of the prompts could have come from a prefix cache,
// by the plan, and which share did, by the server's usage.
func (w *work) prefixFacts(f *attribute.Facts, keep func(*metrics.Row) bool) {
	var shared, cached, prompt, promptCached float64
	w.table.Each(func(r *metrics.Row) {
		if r.Kind() != archive.KindLoad || !r.OK() || !keep(r) || r.Prompt <= 0 {
			return
		}
		if r.Shared >= 0 {
			shared += float64(min(r.Shared, r.Prompt))
			prompt += float64(r.Prompt)
		}
		if r.Cached >= 0 {
			cached += float64(min(r.Cached, r.Prompt))
			promptCached += float64(r.Prompt)
		}
	})
	if prompt > 0 {
		v := shared / prompt
		f.Potential = w.book.Note(evidence.Client, "prefix_potential", "", v, "prompt tokens that earlier requests of the plan share, over all prompt tokens", fmt.Sprintf("%s of the prompt tokens repeat the beginning of an earlier prompt.", pct(v)))
	}
	if promptCached > 0 {
		v := cached / promptCached
		f.Hit = w.book.Note(evidence.Client, "prefix_hit", "", v, "cached prompt tokens over prompt tokens, from usage", fmt.Sprintf("The server took %s of the prompt tokens from its prefix cache.", pct(v)))
	}
}

// offered compares what arrived in the window with what was answered.
func (w *work) offered(f *attribute.Facts, win archive.Window) {
	i, _ := w.table.Phases.Index(win.Phase)
	var arrived, sent, done int
	w.table.Each(func(r *metrics.Row) {
		if r.Phase != i {
			return
		}
		if in(r.T.Intended, win) {
			arrived++
			if in(r.T.Send, win) {
				sent++
			}
		}
		if r.OK() && in(r.T.Last, win) {
			done++
		}
	})
	t := float64(win.To-win.From) / 1e9
	if arrived == 0 || t <= 0 {
		return
	}
	f.Offered = w.book.Note(evidence.Client, "offered_rate", "req/s", float64(arrived)/t, "intended sends inside the window over its length", fmt.Sprintf("%.3g requests a second were due.", float64(arrived)/t))
	f.Served = w.book.Note(evidence.Client, "request_rate", "req/s", float64(done)/t, "answers completed inside the window over its length", fmt.Sprintf("%.3g requests a second were answered.", float64(done)/t))
	f.Sent = w.book.Note(evidence.Client, "sent_share", "", float64(sent)/float64(arrived), "sends over intended sends inside the window", fmt.Sprintf("%s of the due requests left inside the window.", pct(float64(sent)/float64(arrived))))
}

func in(t archive.Instant, w archive.Window) bool { return t.Known() && t >= w.From && t < w.To }

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

// setting returns an engine setting by its canonical name, however the engine spells it.
func (w *work) setting(name string) string {
	norm := strings.NewReplacer("-", "_", ".", "_")
	for k, v := range w.in.Manifest.Server.Settings {
		if strings.TrimLeft(norm.Replace(strings.ToLower(k)), "_") == name {
			return v
		}
	}
	return ""
}

func (w *work) deviceFacts(f *attribute.Facts, win archive.Window) {
	gpu := func(name string, fold series.Fold) []series.Point {
		return w.series.Gauge(archive.SourceGPU, name, fold, win.From, win.To)
	}
	note := func(metric, unit string, v float64, method, text string) evidence.Fact {
		return w.book.Note(evidence.GPU, metric, unit, v, method, text)
	}
	if v, ok := series.Average(gpu("util_percent", series.Max)); ok {
		f.Util = note("gpu_util", "%", v, "mean of the readings; the time in which any kernel ran", fmt.Sprintf("A GPU kernel was running %.0f %% of the time.", v))
	}
	clock, okc := series.Average(gpu("sm_clock_mhz", series.Mean))
	top, okm := series.Top(gpu("sm_clock_max_mhz", series.Max))
	if okc && okm && top > 0 {
		f.Clock = note("sm_clock", "", clock/top, "mean SM clock over the highest clock", fmt.Sprintf("The GPU clock is at %s of its maximum.", pct(clock/top)))
	}
	for _, n := range []string{"throttle_thermal", "throttle_power"} {
		if s, ok := series.Share(gpu(n, series.Max), func(v float64) bool { return v > 0 }); ok {
			x := note(n, "", s, "share of the readings with the reason set", fmt.Sprintf("The driver reports %s for %s of the time.", strings.ReplaceAll(n, "_", " "), pct(s)))
			if n == "throttle_thermal" {
				f.Thermal = x
			} else {
				f.Power = x
			}
		}
	}
	if !f.Local && !f.Simulated {
		return // the host that is watched is not the server's
	}
	if v, ok := series.Average(w.series.Gauge(archive.SourceHost, "cpu_percent", series.Max, win.From, win.To)); ok {
		f.HostCPU = w.book.Note(evidence.Host, "host_cpu", "%", v, "mean of the readings", fmt.Sprintf("The server's machine uses %.0f %% of its CPU.", v))
	}
	if v, ok := series.Average(w.series.Gauge(archive.SourceHost, "steal_percent", series.Max, win.From, win.To)); ok && v > 0 {
		f.Steal = w.book.Note(evidence.Host, "steal", "%", v, "mean of the readings", fmt.Sprintf("Other guests take %.1f %% of its CPU.", v))
	}
}

// floor bounds the round trip from above where no connection was timed: by the fastest
// first tokens, and by what the client waits beyond the engine's own measure.
func (w *work) floor(f *attribute.Facts, win archive.Window) {
	svc := w.table.Values(w.inPhase(win.Phase), (*metrics.Row).TTFTService)
	if f.RTT.OK || len(svc) < 50 || !f.Gap50.OK {
		return
	}
	v := stats.Quantile(stats.Sorted(svc), 0.02) - 1.5*math.Max(f.Gap50.V/math.Max(1, f.PerChunk.Or(1)), 1)
	method := "2nd percentile of the time to first token from the send, less a step and a half"
	if w.setupOK {
		// The least of the prompts had to be computed too.
		fresh := w.table.Values(w.inPhase(win.Phase), func(r *metrics.Row) (float64, bool) {
			return float64(r.Prompt - max(0, r.Cached)), r.Prompt > 0
		})
		if len(fresh) > 0 {
			v -= 1000 * w.setup.PrefillToken(f.Prompt.Or(0)/2) * stats.Quantile(stats.Sorted(fresh), 0.02)
			method += " and the modelled prefill of a short prompt"
		}
	}
	if f.EngineTTFT.OK && f.Service.OK && f.Service.V-f.EngineTTFT.V < v {
		v = f.Service.V - f.EngineTTFT.V
		method = "mean time to first token of the client less that of the engine"
	}
	v = math.Max(0, v)
	f.RTTBound = true
	f.RTT = w.book.Note(evidence.Client, "network_bound", "ms", v, method+": an upper bound of the round trip", fmt.Sprintf("A round trip to the server takes at most %s.", ms(v)))
}

// decompose splits the mean time to first token into its stages as shares.
func (w *work) decompose(f *attribute.Facts) {
	if !f.TTFT.OK || f.TTFT.V <= 0 {
		return
	}
	share := func(family, metric string, v float64, text string) evidence.Fact {
		v = math.Max(0, v/f.TTFT.V)
		return w.book.Note(family, metric, "", v, "stage over the mean time to first token", fmt.Sprintf(text, pct(v)))
	}
	if f.Late.OK {
		f.ShareSend = share(evidence.Client, "ttft_share_send", f.Late.V, "%s of the time to first token is this program sending late.")
	}
	if f.RTT.OK {
		f.ShareNet = share(evidence.Client, "ttft_share_network", f.RTT.V, "%s of the time to first token is one network round trip.")
	}
	if f.Queue.OK {
		f.ShareQueue = share(evidence.Engine, "ttft_share_queue", f.Queue.V, "%s of the time to first token is waiting in the engine's queue.")
	}
	if f.Prefill.OK {
		f.SharePrefill = share(evidence.Engine, "ttft_share_prefill", f.Prefill.V, "%s of the time to first token is prefill.")
	}
	if f.Queue.OK && f.Prefill.OK && f.Service.OK {
		rest := f.Service.V - f.Queue.V - f.Prefill.V - f.RTT.Or(0)
		f.ShareFront = share(evidence.Client, "ttft_share_frontend", rest, "%s of the time to first token lies between the client and the engine's scheduler: HTTP server, tokenizer, streaming.")
	}
}

func ms(v float64) string {
	switch {
	case v >= 10000:
		return fmt.Sprintf("%.1f s", v/1000)
	case v >= 100:
		return fmt.Sprintf("%.0f ms", v)
	case v >= 1:
		return fmt.Sprintf("%.1f ms", v)
	}
	return fmt.Sprintf("%.2f ms", v)
}

func pct(v float64) string {
	if v > 0 && v < 0.1 {
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}
