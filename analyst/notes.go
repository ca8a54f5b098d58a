package analyst

import (
	"fmt"
	"maps"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/archive"
)

// notes gathers what makes the analysis doubtful.
type notes struct {
	codes map[string]int    // annotations of requests, counted by code
	first map[string]string // the first message of each code
	bad   []*archive.LineError
	badN  int
	list  []archive.Annotation
}

func newNotes() notes { return notes{codes: map[string]int{}, first: map[string]string{}} }

// maxCodes bounds the distinct annotation codes: they come from records.
const maxCodes = 1000

func (n *notes) request(r *archive.Request) {
	for _, a := range r.Annotations {
		if _, ok := n.codes[a.Code]; !ok {
			if len(n.codes) >= maxCodes {
				continue
			}
			n.first[a.Code] = a.Message
		}
		n.codes[a.Code]++
	}
}

func (n *notes) badLine(e *archive.LineError) {
	n.badN++
	if len(n.bad) < 10 {
		n.bad = append(n.bad, e)
	}
}

func (n *notes) add(code, format string, args ...any) {
	n.list = append(n.list, archive.Annotation{Code: code, Message: fmt.Sprintf(format, args...)})
}

// observations notes what is odd about the load or the server in the window.
func (w *work) observations(win *archive.Window, f *attribute.Facts) {
	if w.in.Manifest.Simulated {
		w.notes.add("simulated", "the server is a simulated engine: its numbers say nothing of real hardware")
	}
	if w.resets {
		w.notes.add("counter_reset", "a counter of the engine fell, so it restarted: growth across the restart is a lower bound")
	}
	if win == nil {
		return
	}
	if win.AskedRate.Known() && f.Offered.OK && f.Served.Below(0.95*f.Offered.V) {
		w.notes.add("overloaded", "offered %.3g requests/s, served %.3g requests/s", f.Offered.V, f.Served.V)
	}
	if asked, ok := win.AskedConcurrency.Get(); ok {
		if n := w.planned(win.Phase); float64(n) < asked {
			w.notes.add("reached_concurrency", "reached_concurrency: %d, not the asked %.0f, because only %d requests were planned", n, asked, n)
		}
	}
	if w.drained[win.Phase] {
		w.notes.add("window_includes_drain", "the sends of phase %s span less than half of its answers, so its window runs to the last answer", win.Phase)
	}
	w.lengthNotes()
	if f.Hit.Above(0.01) && f.Potential.OK && f.Potential.V == 0 {
		w.notes.add("warm_cache", "%s of the prompt tokens came from a prefix cache although no prompt repeats another: an earlier run warmed it", pct(f.Hit.V))
	}
	if f.EngineReads == 0 {
		if n := w.series.Errors[archive.SourceEngine]; n > 0 {
			w.notes.add("no_engine_metrics", "the engine's metrics page could not be read in %d attempts", n)
		} else {
			w.notes.add("no_engine_metrics", "the engine shows no metrics, so causes inside it can only be told from outside")
		}
	}
	if n := len(w.series.Gauge(archive.SourceEngine, "requests_running", series.Sum, win.From, win.To)); n > 0 && n < 5 {
		w.notes.add("few_readings", "only %d readings of the engine's metrics lie in the window; scrape more often or run longer", n)
	}
}

// lengthNotes compares the lengths that were asked for with those that came.
func (w *work) lengthNotes() {
	var asked, got, n float64
	ones, bounded := 0, 0
	w.table.Each(func(r *metrics.Row) {
		if r.Kind() != archive.KindLoad || !r.OK() {
			return
		}
		if r.AskedPrompt > 0 && r.Prompt > 0 {
			asked += float64(r.AskedPrompt)
			got += float64(r.Prompt)
			n++
		}
		if r.AskedMax > 1 && r.Completion >= 0 {
			bounded++
			if r.Completion == 1 {
				ones++
			}
		}
	})
	if n > 0 && asked > 0 {
		if d := got/asked - 1; d > 0.05 || d < -0.05 {
			w.notes.add("prompt_length", "prompts were asked for with %.0f tokens on average and hold %.0f by the server's count (%+.1f %%)", asked/n, got/n, 100*d)
		}
	}
	// loadgen.EOSNotIgnored, said with its share.
	if n := w.notes.codes["eos_not_ignored"]; n > 0 && bounded > 0 {
		delete(w.notes.codes, "eos_not_ignored")
		w.notes.add("eos_not_ignored", "%d of %d answers ended by themselves before their length although ignore_eos was asked for: compare such runs by tokens, not by requests", n, bounded)
	}
	if bounded > 0 && ones == bounded {
		w.notes.add("output_length_mismatch", "all answers hold 1 token although more was asked for")
	}
}

// annotations joins all notes in a fixed order.
func (w *work) annotations(windows []archive.Annotation) []archive.Annotation {
	var out []archive.Annotation
	out = append(out, w.in.Problems...)
	out = append(out, w.in.Manifest.Notes...)
	out = append(out, w.notes.list...)
	out = append(out, windows...)
	for _, e := range w.notes.bad {
		out = append(out, archive.Annotation{Code: "bad_line", Message: e.Error() + "; the line was skipped"})
	}
	if more := w.notes.badN - len(w.notes.bad); more > 0 {
		out = append(out, archive.Annotation{Code: "bad_line", Message: fmt.Sprintf("%d more lines were skipped", more)})
	}
	for _, e := range w.time.other {
		if slices.ContainsFunc(out, func(a archive.Annotation) bool { return a.Code == e.Kind }) {
			continue
		}
		out = append(out, archive.Annotation{Code: e.Kind, Message: e.Message})
	}
	for _, code := range slices.Sorted(maps.Keys(w.notes.codes)) {
		out = append(out, archive.Annotation{Code: code, Message: fmt.Sprintf("%d requests: %s", w.notes.codes[code], w.notes.first[code])})
	}
	return out
}
