package analyst

import (
	"fmt"
	"math"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/archive"
)

// verdict says in one line what the run shows. Validity comes first, then the objectives,
// then the causes.
func (w *work) verdict(a *archive.Analysis, win *archive.Window, f *attribute.Facts, r *attribute.Result) archive.Verdict {
	prefix := ""
	if a.State == archive.StateInterrupted || a.State == archive.StateRunning {
		prefix = "The run was interrupted; of what was recorded: "
		if a.State == archive.StateRunning {
			prefix = "The run goes on; of what was recorded so far: "
		}
	}
	v := w.decide(a, win, f, r)
	if found := w.found(); found != "" && v.State != archive.VerdictInvalid {
		// Objectives are missed on purpose on the way to the answer.
		v.Headline = found
		v.Next = "Run for long at four fifths of this rate to confirm it; what limits the server beyond it stands below."
	}
	if prefix != "" {
		v.Headline = prefix + lowerFirst(v.Headline)
	}
	return v
}

// found is what a search for the largest rate found, in a sentence; "" without a search.
func (w *work) found() string {
	for _, n := range w.in.Manifest.Notes {
		if n.Code == "search_answer" {
			return n.Message
		}
	}
	return ""
}

// qualityAlone is the verdict on a run of scored items without a load beside them.
func qualityAlone(a *archive.Analysis) archive.Verdict {
	var parts []string
	for _, q := range a.Quality {
		if q.Scored > 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d right", q.Kind, q.Correct, q.Scored))
		} else {
			parts = append(parts, q.Kind+" not scored")
		}
	}
	return archive.Verdict{
		State:    archive.VerdictInconclusive,
		Headline: "Scored items alone, no load was measured: " + strings.Join(parts, ", ") + ".",
		Next:     "Compare with a run of the same items on the reference, or run a load with checkpoints to see quality under it.",
	}
}

func (w *work) decide(a *archive.Analysis, win *archive.Window, f *attribute.Facts, r *attribute.Result) archive.Verdict {
	if a.Counts.Planned == 0 {
		return archive.Verdict{State: archive.VerdictInvalid, Headline: "The run holds no request.", Next: "Check that the campaign has a phase with requests or a duration, and run it again."}
	}
	failed := map[string]archive.Gate{}
	for _, g := range w.gates {
		if ok, known := g.Passed.Get(); known && !ok {
			failed[g.ID] = g
		}
	}
	switch kinds := a.Counts.ByKind; {
	case kinds[archive.KindLoad] > 0:
	case kinds[archive.KindCheckpoint] > 0 && a.Counts.OK > 0:
		return qualityAlone(a)
	case kinds[archive.KindWarmup] > 0 && a.Counts.OK > 0:
		return archive.Verdict{State: archive.VerdictInvalid,
			Headline: "The run ended during its warm-up, so nothing was measured.", Next: "Let it run past the warm-up, or shorten that."}
	}
	if _, bad := failed["requests_ok"]; bad {
		return archive.Verdict{State: archive.VerdictInvalid,
			Headline: fmt.Sprintf("No request succeeded: %s.", w.failures()), Next: "Send one request by hand to the same address and model, mend what it shows, and run again."}
	}
	for _, g := range w.gates {
		if _, bad := failed[g.ID]; !bad || !fatalGates[g.ID] {
			continue
		}
		v := archive.Verdict{State: archive.VerdictInvalid}
		switch {
		case clientGates[g.ID]:
			v.Headline = "This run measured the load generator, not the server: " + lowerFirst(g.Message)
			v.Next = "Use a larger or less busy client machine, more of them, or a smaller load, and run again."
		case g.ID == "error_rate":
			v.Headline = fmt.Sprintf("%s of the requests failed (%s), so the latencies of the rest are not what users get.", g.Observed, w.failures())
			v.Next = "Find out why requests fail, starting with the most frequent kind, before looking at latency."
		default:
			v.Headline = g.Message
			v.Next = "Mend this and run again."
		}
		return v
	}
	if g, bad := failed["window_length"]; bad {
		return archive.Verdict{State: archive.VerdictInconclusive, Headline: g.Message, Next: w.longer(win)}
	}
	met, missed := objectivesMet(a.SLOs)
	strained := resources(f)
	if met && len(strained) == 0 && !attribute.Defect(r.Cause) {
		return archive.Verdict{State: archive.VerdictNone, Confidence: w.noneConfidence(f),
			Headline: fmt.Sprintf("Every objective is met at %s and no resource is above 85 %%: nothing limits the server at this load.", loadWords(win)),
			Next:     "Raise the load step by step to find where the first objective breaks."}
	}
	if r.Cause != "" {
		return w.bottleneck(a, win, r, missed)
	}
	if calm(f) && !missed {
		return archive.Verdict{State: archive.VerdictNone, Confidence: w.noneConfidence(f),
			Headline: fmt.Sprintf("Nothing limits the server at %s: no request waits for another, and latency is the server's own working time.", loadWords(win)),
			Next:     "Raise the load step by step to find where latency starts to grow."}
	}
	return w.inconclusive(f, r, win, missed)
}

func (w *work) bottleneck(a *archive.Analysis, win *archive.Window, r *attribute.Result, missed bool) archive.Verdict {
	v := archive.Verdict{State: archive.VerdictBottleneck, Cause: r.Cause, Confidence: r.Confidence}
	v.Headline = fmt.Sprintf("%s at %s.", r.Title, loadWords(win))
	v.Why = upperFirst(w.because(r.Findings[0]))
	if missed {
		v.Headline += " An objective is missed."
	}
	v.Next = r.Probe
	if len(r.Recommendations) > 0 {
		rec := r.Recommendations[0]
		v.Next = rec.Action
		if rec.Knob != "" && rec.From == "" {
			v.Next = strings.TrimSuffix(rec.Action, ".") + fmt.Sprintf(" (%s).", rec.Knob)
		}
	}
	return v
}

// because joins the first two facts for a finding into one sentence.
func (w *work) because(f archive.Finding) string {
	var parts []string
	for _, id := range f.For {
		if row, ok := w.book.Row(id); ok && len(parts) < 2 {
			parts = append(parts, lowerFirst(strings.TrimSuffix(row.Text, ".")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", and ") + "."
}

func (w *work) inconclusive(f *attribute.Facts, r *attribute.Result, win *archive.Window, missed bool) archive.Verdict {
	v := archive.Verdict{State: archive.VerdictInconclusive}
	what := "the signals do not single out a cause"
	if f.BlackBox() {
		what = "the engine shows no metrics, and from outside no cause stands out"
	}
	v.Headline = fmt.Sprintf("What limits the server at %s is undecided: %s.", loadWords(win), what)
	if f.Overloaded() {
		v.Headline = fmt.Sprintf("The server is overloaded at %s: %.3g requests a second are due and %.3g are answered. What inside it is short is undecided: %s.", loadWords(win), f.Offered.V, f.Served.V, what)
	}
	if missed {
		v.Headline += " An objective is missed."
	}
	switch {
	case len(r.Missing) > 0:
		v.Next = "Most would be gained from " + r.Missing[0] + "."
	case r.Probe != "":
		v.Next = r.Probe
	default:
		v.Next = "Run at one request at a time and at twice this load, and compare."
	}
	return v
}

// calm reports whether the facts say that no request waits for another. Without the
// engine's metrics it is not known.
func calm(f *attribute.Facts) bool {
	if !f.Waiting.OK {
		return false
	}
	return f.Waiting.V < 0.5 && (!f.KV.OK || f.KV.V < 0.85) && f.Preempt.Or(0) == 0 &&
		f.QueueExcess() < 0.25 && !f.Pinned.Above(0.5) || f.Waiting.V < 0.05 && f.KV.Below(0.85)
}

// resources names what is used to more than 85 %.
func resources(f *attribute.Facts) []string {
	var out []string
	if f.KV.Above(0.85) {
		out = append(out, "KV cache")
	}
	if f.Cap.OK && f.RunningMax.OK && f.Cap.V > 0 && f.Running.Or(0)/f.Cap.V > 0.85 {
		out = append(out, "running requests")
	}
	// Memory bandwidth is in full use as soon as one request decodes; it is scarce when the
	// batch makes a step much longer than a single request would.
	if f.StreamShare > 0 && f.MBU.Above(0.8*f.StreamShare) && f.Inflation.Above(1.5) {
		out = append(out, "memory bandwidth")
	}
	if f.MatmulShare > 0 && f.MFU.Above(0.85*f.MatmulShare) {
		out = append(out, "arithmetic units")
	}
	return out
}

// noneConfidence grades a verdict of "none": engine facts and client facts agree, or the
// client's stand alone.
func (w *work) noneConfidence(f *attribute.Facts) string {
	if f.BlackBox() {
		return "low"
	}
	return "medium"
}

func loadWords(win *archive.Window) string {
	if win == nil {
		return "this load"
	}
	if win.Load != "" {
		return win.Load
	}
	if c, ok := win.EffectiveConcurrency.Get(); ok {
		return fmt.Sprintf("%.1f requests at once", c)
	}
	return "this load"
}

// failures lists the failure kinds by how often they came.
func (w *work) failures() string {
	kinds := sortedCounts(w.counts.Failures)
	if len(kinds) == 0 {
		return "all were cancelled or never sent"
	}
	var parts []string
	for i, k := range kinds {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("%d more kinds", len(kinds)-3))
			break
		}
		parts = append(parts, fmt.Sprintf("%s: %d", k, w.counts.Failures[k]))
	}
	return strings.Join(parts, ", ")
}

// objectivesMet reports whether there are objectives and all are met, and whether one is
// missed.
func objectivesMet(slos []archive.SLO) (met, missed bool) {
	met = len(slos) > 0
	for _, s := range slos {
		ok, known := s.Met.Get()
		met = met && known && ok
		missed = missed || known && !ok
	}
	return met, missed
}

// demote turns findings into considered ones: a run that nothing limits has no primary
// cause, and nothing to change.
func demote(r *attribute.Result) {
	for i := range r.Findings {
		r.Findings[i].Role = "considered"
	}
	r.Recommendations = nil
}

// onlyClient keeps what may be said of an invalid run: nothing about the server.
func onlyClient(r attribute.Result) attribute.Result {
	var out attribute.Result
	for _, f := range r.Findings {
		if f.Cause == attribute.Client && f.Score >= attribute.Threshold {
			f.Role = "primary"
			out.Findings = append(out.Findings, f)
			for _, rec := range r.Recommendations {
				if rec.Finding == f.ID {
					out.Recommendations = append(out.Recommendations, rec)
				}
			}
		}
	}
	return out
}

// longer says for how long to run, from the pace of the requests so far.
func (w *work) longer(win *archive.Window) string {
	const plenty = 100 // requests that support a P99
	rate, _ := w.value("request_rate", "all", "value")
	if r, ok := rate.Value.Get(); ok && r > 0 && win != nil {
		minutes := math.Ceil(plenty / r / 60)
		if minutes <= 120 {
			return fmt.Sprintf("Run for %.0f min or more (--duration %.0fm): at this pace that is %d requests.", minutes, minutes, plenty)
		}
	}
	return "Run longer, or with more requests."
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && (s[1] < 'A' || s[1] > 'Z') {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
