package analyst

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// minStall is the least length of a stall, in milliseconds.
const minStall = 200

// gather computes the facts that attribution needs over one window.
func (w *work) gather(win archive.Window) attribute.Facts {
	f := attribute.Facts{Engine: w.in.Manifest.Server.Engine, OpenLoop: win.AskedRate.Known(), Local: local(w.in.Manifest.Server.URL), Simulated: w.in.Manifest.Simulated}
	f.Settings = w.settings()
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
