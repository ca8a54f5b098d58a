package analyst

import (
	"fmt"
	"math"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

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
