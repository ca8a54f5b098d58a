package analyst

import (
	"fmt"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// The limits of the check for a steady state.
const (
	minSteady    = 20   // seconds and values below which it is not checked
	risePValue   = 1e-3 // one-sided chance of a rise without a trend
	riseOpen     = 0.25 // growth of the open requests over the window that counts
	riseTTFT     = 0.5  // growth of the time to first token
	leastSegment = 20   // stretches between two change points
)

// steady checks whether the window was in a steady state: whether the number of open
// requests or the time to first token rises, from when on it has settled, and whether the
// gap between chunks changes its level. A change is evidence, not noise.
func (w *work) steady(win *archive.Window) {
	limit := fmt.Sprintf("open requests grow by less than %.0f %%, the time to first token by less than %.0f %%", 100*riseOpen, 100*riseTTFT)
	if win == nil {
		return
	}
	span := float64(win.To-win.From) / 1e9
	open := w.openPerSecond(*win)
	var at, ttft []float64
	keep := w.inPhase(win.Phase)
	w.table.Each(func(r *metrics.Row) {
		if v, ok := r.TTFT(); ok && r.Kind() == archive.KindLoad && r.OK() && keep(r) {
			at, ttft = append(at, float64(r.T.Intended)/1e9), append(ttft, v)
		}
	})
	if len(open) < minSteady || len(ttft) < minSteady {
		w.gate("steady", archive.Opt[bool]{}, fmt.Sprintf("%.0f s, %d requests", span, len(ttft)), limit, "The window is too short to tell whether the run was in a steady state.")
		return
	}
	seconds := make([]float64, len(open))
	for i := range seconds {
		seconds[i] = float64(i)
	}
	w.book.Scope, w.book.From, w.book.To = "phase:"+win.Phase, win.From, win.To
	grow := func(metric string, xs, ys []float64, what string) (evidence.Fact, float64) {
		slope, p, ok := stats.TheilSen(xs, ys)
		mean := stats.Mean(ys)
		if !ok || mean <= 0 {
			return evidence.Fact{}, 0
		}
		v := slope * span / mean
		f := w.book.Note(evidence.Client, metric, "", v, fmt.Sprintf("Theil-Sen slope over the window by the mean; one-sided p of a rise %.2g", p), fmt.Sprintf("%s by %.0f %% of its mean over the window.", what, 100*v))
		if p > risePValue {
			return f, 0
		}
		return f, v
	}
	fo, ro := grow("open_requests_growth", seconds, open, "The number of open requests changes")
	ft, rt := grow("ttft_growth", at, ttft, "The time to first token changes")
	ok := ro < riseOpen && rt < riseTTFT
	w.gate("steady", pass(ok), fmt.Sprintf("open requests %+.0f %%, time to first token %+.0f %%", 100*fo.V, 100*ft.V), limit,
		either(ok, "Neither the open requests nor the time to first token rise over the window.", "The run was not in a steady state: load or latency rises over the window, so its averages depend on its length."), fo, ft)
	if drop, settled := stats.MSER5(open); !settled {
		w.notes.add("not_settled", "the number of open requests does not settle within the first half of the window (MSER-5)")
	} else if float64(drop) > 0.1*span {
		w.notes.add("warm_up", "the number of open requests settles only after %d s of the window (MSER-5): a longer warm-up would leave them out", drop)
	}
	w.changes(*win)
}

// openPerSecond returns the mean number of open requests of each whole second.
func (w *work) openPerSecond(win archive.Window) []float64 {
	n := int((win.To - win.From) / 1e9)
	if n < 1 || n > 1<<20 {
		return nil
	}
	out := make([]float64, n)
	w.table.Each(func(r *metrics.Row) {
		if !r.T.Send.Known() || r.T.Done <= win.From || r.T.Send >= win.To {
			return
		}
		a, b := max(r.T.Send, win.From)-win.From, min(r.T.Done, win.To)-win.From
		for k := int(a / 1e9); k < n && archive.Instant(k)*1e9 < b; k++ {
			lo, hi := max(a, archive.Instant(k)*1e9), min(b, archive.Instant(k+1)*1e9)
			out[k] += float64(hi-lo) / 1e9
		}
	})
	return out
}

// changes looks for instants at which the median gap between chunks changes its level.
func (w *work) changes(win archive.Window) {
	g := w.table.Gaps("phase:" + win.Phase)
	if g == nil {
		return
	}
	at, med, width := g.Line.Medians(win.From, win.To, 10)
	for _, i := range stats.ChangePoints(med, leastSegment) {
		before, after := stats.Mean(med[max(0, i-leastSegment):i]), stats.Mean(med[i:min(len(med), i+leastSegment)])
		if before <= 0 || math.Abs(after/before-1) < 0.1 {
			continue // too small to matter
		}
		w.book.Add(archive.Evidence{Family: evidence.Client, Metric: "icl_change", Value: archive.Some(after/before - 1), From: at[i], To: at[i],
			Method: fmt.Sprintf("change point (PELT) of the median gap of stretches of %.0f s", width),
			Text:   fmt.Sprintf("At %.0f s into the window the median gap between chunks changes from %s to %s.", float64(at[i]-win.From)/1e9, ms(before), ms(after))})
		w.notes.add("change_point", "at %.0f s into phase %s the median gap between chunks changes from %s to %s", float64(at[i]-win.From)/1e9, win.Phase, ms(before), ms(after))
	}
}

// censored says what the latency is with timeouts counted: a request that timed out
// would have taken at least so long.
func (w *work) censored() {
	var ended, open []float64
	w.table.Each(func(r *metrics.Row) {
		if r.Kind() != archive.KindLoad {
			return
		}
		if v, ok := r.E2EL(); ok && r.OK() {
			ended = append(ended, v)
			return
		}
		switch w.table.Fails.At(r.Fail) {
		case archive.FailTimeoutFirst, archive.FailTimeoutIdle, archive.FailTimeoutTotal:
			if r.T.Intended.Known() && r.T.Done > r.T.Intended {
				open = append(open, float64(r.T.Done-r.T.Intended)/1e6)
			}
		}
	})
	if len(open) == 0 || len(ended) == 0 {
		return
	}
	steps := stats.KaplanMeier(ended, open)
	p95, ok := stats.SurvivalQuantile(steps, 0.95)
	more := ""
	if !ok {
		more = "more than "
		slices.Sort(open)
		p95 = math.Max(p95, open[0])
	}
	w.notes.add("censored", "%d requests timed out; counted as at least that long, the P95 end-to-end latency is %s%s (Kaplan-Meier)", len(open), more, ms(p95))
}

// recoveryFactor and recoveryRun say when a server has recovered: recoveryRun requests in
// a row are within recoveryFactor of the median before the flood.
const (
	recoveryFactor = 1.2
	recoveryRun    = 5
)

// recovery measures how long the time to first token takes to come back after a phase of
// more load than the one before and the one behind it.
func (w *work) recovery() {
	for i := 2; i < len(w.windows); i++ {
		before, flood, after := w.windows[i-2], w.windows[i-1], w.windows[i]
		l0, l1, l2 := before.EffectiveConcurrency.Or(0), flood.EffectiveConcurrency.Or(0), after.EffectiveConcurrency.Or(0)
		if l0 <= 0 || l1 < 1.5*l0 || l1 < 1.5*l2 {
			continue
		}
		base := w.table.Values(w.inPhase(before.Phase), (*metrics.Row).TTFT)
		if len(base) < recoveryRun {
			continue
		}
		limit := recoveryFactor * stats.Quantile(stats.Sorted(base), 0.5)
		type one struct {
			at archive.Instant
			ok bool
		}
		var rs []one
		keep := w.inPhase(after.Phase)
		w.table.Each(func(r *metrics.Row) {
			if v, ok := r.TTFT(); ok && r.OK() && keep(r) {
				rs = append(rs, one{r.T.Intended, v <= limit})
			}
		})
		slices.SortFunc(rs, func(a, b one) int { return int(a.at - b.at) })
		e := metrics.Withheld("the time to first token did not come back within the phase")
		run := 0
		for k, r := range rs {
			if run++; !r.ok {
				run = 0
			}
			if run == recoveryRun {
				e = metrics.Value(math.Max(0, float64(rs[k-recoveryRun+1].at-flood.To)/1e9))
				break
			}
		}
		w.metrics = append(w.metrics, metrics.Single("recovery_time", "Time to recover after phase "+flood.Phase, "s", "phase:"+after.Phase, len(rs), e))
	}
}
