package analyst

import (
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// The limits of the validity gates.
const (
	maxErrorShare = 0.01
	minLag        = 5.0  // ms
	lagShare      = 0.02 // of the median time to first token
	minAchieved   = 0.99
	maxClientCPU  = 0.7
	maxGCPause    = 2.0 // ms
	minOccupancy  = 0.9
	minRequests   = 10
	// A window shorter than the P95 latency holds hardly one generation of requests.
	windowLatencies = 1.0
)

// clientGates are the gates whose failure says that the run measured the client.
var clientGates = map[string]bool{"send_lag": true, "achieved_rate": true, "client_cpu": true, "client_resources": true, "littles_law": true}

// Fatal reports whether the failure of a gate makes the whole run not valid, so that
// nothing may be said of the server. The other gates limit what the verdict may say.
func Fatal(gate string) bool { return fatalGates[gate] }

// fatalGates are the gates whose failure forbids an attribution to the server.
var fatalGates = map[string]bool{"requests_ok": true, "error_rate": true, "send_lag": true, "achieved_rate": true, "client_cpu": true, "client_resources": true, "littles_law": true, "plausibility": true}

func (w *work) gate(id string, passed archive.Opt[bool], observed, limit, message string, facts ...evidence.Fact) {
	g := archive.Gate{ID: id, Passed: passed, Observed: observed, Limit: limit, Message: message}
	for _, f := range facts {
		if f.OK {
			g.Evidence = append(g.Evidence, f.ID)
		}
	}
	w.gates = append(w.gates, g)
}

func pass(ok bool) archive.Opt[bool] { return archive.Some(ok) }

// either returns a or b.
func either(ok bool, a, b string) string {
	if ok {
		return a
	}
	return b
}

// judge runs the validity gates. Facts that attribution needs too are added to f.
func (w *work) judge(win *archive.Window, f *attribute.Facts) {
	w.gateOutcome()
	if win == nil {
		w.gate("window_length", pass(false), "none", "a measured window", "Nothing was measured: no phase has a request.")
		return
	}
	w.gateLag(f)
	w.gateRate(win, f)
	w.gateClient(win, f)
	w.gateLittle(win, f)
	w.gateLength(win)
	w.gate("complete", pass(w.in.Manifest.State == archive.StateComplete), string(w.in.Manifest.State), "complete",
		either(w.in.Manifest.State == archive.StateComplete, "The run came to its end.", "The run did not come to its end: what follows covers the part that was recorded."))
	w.gatePlausible(f)
}

func (w *work) gateOutcome() {
	var ok, failed, client int
	w.table.Each(func(r *metrics.Row) {
		if r.Kind() == archive.KindWarmup {
			return
		}
		switch r.Status() {
		case archive.StatusOK:
			ok++
		case archive.StatusFailed:
			failed++
			if k := w.table.Fails.At(r.Fail); k == archive.FailClientPorts || k == archive.FailClientFiles || k == archive.FailInternal {
				client++
			}
		}
	})
	w.gate("requests_ok", pass(ok > 0), fmt.Sprintf("%d ok", ok), "at least 1",
		either(ok > 0, "Requests succeeded.", "No request succeeded, so there is nothing to measure."))
	if ok+failed == 0 {
		w.gate("error_rate", archive.Opt[bool]{}, "no request ended", "below 1 %", "No request ended, so there is no share of failures.")
		return
	}
	share := float64(failed) / float64(ok+failed)
	fact := w.book.Note(evidence.Client, "error_rate", "", share, "failed over ended requests, warm-up left out", fmt.Sprintf("%d of %d requests failed.", failed, ok+failed))
	w.gate("error_rate", pass(share < maxErrorShare), pct(share), "below 1 %",
		either(share < maxErrorShare, "Few enough requests failed.", "Too many requests failed: latencies of the rest do not describe what users get."), fact)
	if client > 0 {
		fact = w.book.Note(evidence.Client, "client_failures", "requests", float64(client), "failures of kind client_ports, client_files and internal", fmt.Sprintf("%d requests failed inside the load generator.", client))
	}
	w.gate("client_resources", pass(client == 0), fmt.Sprintf("%d failures", client), "0",
		either(client == 0, "No request failed for want of ports or files on this machine.", "Requests failed because this machine ran out of ports or file descriptors; that is not the server's fault."), fact)
}

func (w *work) gateLag(f *attribute.Facts) {
	if !f.Late99.OK || !f.TTFT50.OK {
		w.gate("send_lag", archive.Opt[bool]{}, "unknown", "P99 ≤ max(5 ms, 2 % of the median TTFT)", "No request has an intended and a send instant.")
		return
	}
	limit := math.Max(minLag, lagShare*f.TTFT50.V)
	ok := f.Late99.V <= limit
	w.gate("send_lag", pass(ok), "P99 "+ms(f.Late99.V), fmt.Sprintf("P99 ≤ %s (5 ms, or 2 %% of the median TTFT where that is more)", ms(limit)),
		either(ok, "Requests left when the plan wanted them to.", "Requests left late: this machine or the load generator did not keep up (or a bound on open requests, where one was set, held them back)."), f.Late99)
}

func (w *work) gateRate(win *archive.Window, f *attribute.Facts) {
	if !f.OpenLoop {
		return
	}
	if !f.Sent.OK {
		w.gate("achieved_rate", archive.Opt[bool]{}, "unknown", "at least 99 % of the due requests sent", "No request was due inside the window.")
		return
	}
	// One request of a short window may be due at its very end.
	n := f.Offered.V * float64(win.To-win.From) / 1e9
	ok := f.Sent.V >= minAchieved || (1-f.Sent.V)*n < 1.5
	w.gate("achieved_rate", pass(ok), pct(f.Sent.V), "at least 99 % of the due requests sent",
		either(ok, "The asked rate was sent.", "Fewer requests were sent than were due, so the server saw less than the asked load."), f.Sent)
}

func (w *work) gateClient(win *archive.Window, f *attribute.Facts) {
	cores := w.in.Manifest.Host.Cores
	used, ok := series.Average(w.series.Gauge(archive.SourceClient, "cpu_cores", series.Sum, win.From, win.To))
	switch {
	case !ok || cores <= 0:
		w.gate("client_cpu", archive.Opt[bool]{}, "unknown", "below 70 % of the machine", "The load generator's own CPU use was not recorded.")
	default:
		share := used / float64(cores)
		f.ClientCPU = w.book.Note(evidence.Client, "client_cpu", "", share, "cores used by this program over cores of the machine", fmt.Sprintf("The load generator uses %s of its machine's CPU.", pct(share)))
		if w.in.Manifest.Embedded {
			// The simulated engine lives in the same process.
			w.gate("client_cpu", archive.Opt[bool]{}, pct(share), "below 70 % of the machine", "The simulated engine runs in the same process, so its CPU use cannot be told from the load generator's.", f.ClientCPU)
			f.ClientCPU = evidence.Fact{}
			break
		}
		good := share < maxClientCPU
		w.gate("client_cpu", pass(good), pct(share), "below 70 % of the machine",
			either(good, "The load generator had CPU to spare.", "The load generator was short of CPU, so its own delays are in the latencies."), f.ClientCPU)
	}
	pauses := w.series.Gauge(archive.SourceClient, "gc_pause_max_seconds", series.Max, win.From, win.To)
	if p, ok := series.Percentile(pauses, 0.99); ok {
		f.GCPause = w.book.Note(evidence.Client, "gc_pause", "ms", 1000*p, "99th percentile of the longest pause of each reading", fmt.Sprintf("Garbage collection paused the load generator for at most %s.", ms(1000*p)))
		good := 1000*p < maxGCPause
		w.gate("client_gc", pass(good), ms(1000*p), "below 2 ms",
			either(good, "Garbage collection did not disturb the timing.", "Garbage collection paused the load generator long enough to show in single latencies."), f.GCPause)
	} else {
		w.gate("client_gc", archive.Opt[bool]{}, "unknown", "below 2 ms", "The load generator's garbage collection was not recorded.")
	}
}

func (w *work) gateLittle(win *archive.Window, f *attribute.Facts) {
	asked, closed := win.AskedConcurrency.Get()
	if !closed {
		return
	}
	alive := w.table.Occupancy(win.Phase, win.From, win.To)
	f.Occupancy = w.book.Note(evidence.Client, "occupancy", "", alive/asked, "mean sessions alive over the asked concurrency, by Little's law",
		fmt.Sprintf("%.1f of %.0f asked sessions were alive on average.", alive, asked))
	ok := alive >= minOccupancy*asked
	msg := "The asked concurrency was reached."
	if !ok {
		msg = fmt.Sprintf("The load generator asked for %.0f sessions at once but the requests add up to %.1f: the client, not the server, set the load.", asked, alive)
		if n := w.planned(win.Phase); float64(n) < asked {
			msg = fmt.Sprintf("Only %d requests were planned for a concurrency of %.0f, so it was never reached.", n, asked)
		}
	}
	w.gate("littles_law", pass(ok), fmt.Sprintf("%.1f alive", alive), fmt.Sprintf("at least 90 %% of %.0f", asked), msg, f.Occupancy)
}

func (w *work) planned(phase string) int {
	i, _ := w.table.Phases.Index(phase)
	n := 0
	w.table.Each(func(r *metrics.Row) {
		if r.Phase == i && r.Kind() != archive.KindWarmup {
			n++
		}
	})
	return n
}

func (w *work) gateLength(win *archive.Window) {
	e2e := w.table.Values(w.inPhase(win.Phase), (*metrics.Row).E2EL)
	span := float64(win.To-win.From) / 1e6
	limit := fmt.Sprintf("%d requests and the P95 latency", minRequests)
	if len(e2e) == 0 {
		w.gate("window_length", archive.Opt[bool]{}, "0 requests", limit, "No request of a load succeeded in the window, so its length says nothing.")
		return
	}
	if len(e2e) < minRequests {
		w.gate("window_length", pass(false), fmt.Sprintf("%d requests", len(e2e)), limit, fmt.Sprintf("Only %d requests succeeded: that is too few to say what limits the server.", len(e2e)))
		return
	}
	p95 := stats.Quantile(stats.Sorted(e2e), 0.95)
	ok := span >= windowLatencies*p95
	w.gate("window_length", pass(ok), fmt.Sprintf("%d requests in %s", len(e2e), ms(span)), limit,
		either(ok, "The window holds several generations of requests.", "The window is too short against the latency to hold a steady state: run longer."))
}

// The speeds above which a measurement is taken for wrong: hidden caching, wrong token
// counts, another model, or speculative decoding that nobody told of.
const (
	maxMFU = 0.9
	maxMBU = 1.05
)

func (w *work) gatePlausible(f *attribute.Facts) {
	limit := fmt.Sprintf("MFU ≤ %.1f and MBU ≤ %.2f", maxMFU, maxMBU)
	if !f.MFU.OK || !f.MBU.OK {
		w.gate("plausibility", archive.Opt[bool]{}, "not checked", limit, "Whether the speed is physically possible cannot be said without the device and the model's shape.")
		return
	}
	ok := f.MFU.V <= maxMFU && f.MBU.V <= maxMBU || f.Acceptance.OK && f.MFU.V <= maxMFU
	w.gate("plausibility", pass(ok), fmt.Sprintf("MFU %.2f, MBU %.2f", f.MFU.V, f.MBU.V), limit,
		either(ok, "The speed is physically possible on this device.", "The speed is more than this device can do with this model: look for hidden caching, wrong token counts, or another device or model than named."), f.MFU, f.MBU)
}
