package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/quantity"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Terminal writes the summary of a run: what qualifies it, the verdict, and the block of
// figures that users of vLLM's benchmark know, each with its 95 % interval or the reason
// why it is withheld. The error is that of the writer.
func Terminal(w io.Writer, run *archive.Run, a *archive.Analysis, o TerminalOptions) error {
	p := &paper{o: o}
	p.warnings(run, a)
	p.verdict(a)
	p.block(a)
	p.objectives(a)
	p.quality(a)
	p.notes(a)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// warnings come first: what makes the whole run doubtful.
func (p *paper) warnings(run *archive.Run, a *archive.Analysis) {
	n := p.b.Len()
	if a.Simulated {
		p.wrapped("SIMULATION", yellow, 12, "The server is the built-in simulated engine. Its numbers say nothing about real hardware.")
	}
	switch a.State {
	case archive.StateInterrupted:
		why := run.Manifest.Reason
		if why == "" {
			why = "The run did not come to its end."
		}
		p.wrapped("INTERRUPTED", yellow, 12, sentence(why)+" The figures cover what was recorded until then.")
	case archive.StateRunning:
		p.wrapped("RUNNING", yellow, 12, "The run has not ended. The figures cover what was recorded so far.")
	case archive.StateComplete:
	}
	for _, g := range failedGates(a) {
		label := "CHECK FAILED"
		if a.Verdict.State == archive.VerdictInvalid && analyst.Fatal(g.ID) {
			label = "NOT VALID"
		}
		p.wrapped(label, red, 13, g.Message+" ("+g.ID+": "+g.Observed+", limit "+g.Limit+")")
	}
	if p.b.Len() > n {
		p.line("")
	}
}

func (p *paper) verdict(a *archive.Analysis) {
	v := a.Verdict
	if v.Headline == "" {
		return
	}
	p.wrappedInk("Verdict", bold, 12, v.Headline, bold)
	if v.Why != "" {
		p.wrapped("Why", dim, 12, v.Why)
	}
	if v.Confidence != "" {
		p.wrapped("Confidence", dim, 12, v.Confidence+confidenceNote(a))
	}
	var causes []string
	for _, role := range []string{"primary", "contributing"} {
		for _, f := range findingsOf(a, role) {
			causes = append(causes, f.Title+" ("+role+", score "+quantity.Fixed(f.Score, 2)+", "+testedWord(f.Tested)+")")
		}
	}
	if len(causes) > 0 {
		p.wrapped("Limited by", dim, 12, strings.Join(causes, "; "))
	}
	if v.Next != "" {
		p.wrapped("Next step", cyan, 12, v.Next)
	}
	p.line("")
}

// confidenceNote says what the confidence of a bottleneck rests on.
func confidenceNote(a *archive.Analysis) string {
	primary := findingsOf(a, "primary")
	if len(primary) == 0 {
		return ""
	}
	f := primary[0]
	if len(f.Against) == 0 && len(f.Missing) == 0 {
		return " (" + plural(len(f.For), "fact") + " for, none against)"
	}
	return fmt.Sprintf(" (%s for, %s against, %s missing)", plural(len(f.For), "fact"), itoa(len(f.Against)), plural(len(f.Missing), "signal"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return itoa(n) + " " + noun + "s"
}

func testedWord(t string) string {
	if t == "" {
		return "untested"
	}
	return t
}

// rule writes a title in the middle of a rule.
func (p *paper) rule(title, fill string) {
	title = cut(title, p.width()-6)
	n := min(p.width(), 78) - utf8.RuneCountInString(title)
	if title != "" {
		title = " " + title + " "
		n -= 2
	}
	left := max(n/2, 2)
	p.line(p.paint(dim, strings.Repeat(fill, left)) + p.paint(bold, title) + p.paint(dim, strings.Repeat(fill, max(n-left, 2))))
}

// row writes a label, a figure in its column, and a remark beside it or, where that does
// not fit, below. A row without a figure is a withheld number: the remark says why.
func (p *paper) row(label, figure, remark string) {
	labelWidth, figureWidth := 34, 12
	if narrow := p.width() < labelWidth+figureWidth; narrow {
		labelWidth = p.width() - figureWidth
	}
	label = cut(label, labelWidth-1)
	l := label + strings.Repeat(" ", labelWidth-utf8.RuneCountInString(label))
	if figure == "" && remark != "" {
		p.beside(l, labelWidth, remark, yellow)
		return
	}
	f := strings.Repeat(" ", max(0, figureWidth-utf8.RuneCountInString(figure))) + figure
	p.beside(l+p.paint(bold, f), labelWidth+figureWidth, remark, dim)
}

// beside writes left, which is used columns wide, and a remark to its right, or wrapped
// below it when there is no room.
func (p *paper) beside(left string, used int, remark string, i ink) {
	if remark == "" || used+2+utf8.RuneCountInString(remark) <= p.width() {
		p.line(left + "  " + p.paint(i, remark))
		return
	}
	p.line(left)
	for _, l := range wrap(remark, p.width()-4) {
		p.line("    " + p.paint(i, l))
	}
}

// cut shortens s to n runes.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(n-3, 1)]) + "..."
}

func (p *paper) block(a *archive.Analysis) {
	p.rule("Benchmark result", "=")
	for _, r := range countLines(a) {
		p.row(r.Label+":", p.clean(r.Value), p.clean(r.Note))
	}
	for _, r := range []struct{ label, id string }{
		{"Benchmark duration (s):", "duration"},
		{"Total input tokens:", "input_tokens"},
		{"Total output tokens:", "output_tokens"},
		{"Request throughput (req/s):", "request_rate"},
		{"Output token throughput (tok/s):", "output_rate"},
		{"Total token throughput (tok/s):", "total_rate"},
		{"Goodput (req/s):", "goodput"},
	} {
		m, ok := metricOf(a, "all", r.id)
		if !ok && r.id == "goodput" {
			continue
		}
		e, dec := archive.Estimate{Reason: "not computed"}, 2
		if ok {
			e = stat1(m, "value")
			if m.Unit == "tokens" {
				dec = 0
			}
		}
		p.estimate(r.label, e, dec)
	}
	for _, n := range []string{rateNote, cacheNote} {
		for _, l := range wrap(p.clean(n), p.width()-2) {
			p.line("  " + p.paint(dim, l))
		}
	}
	p.latencies(a)
	p.rule("", "=")
}

// serverFailures leaves out what only ended with the run.
func serverFailures(failures map[string]int) map[string]int {
	out := map[string]int{}
	for k, n := range failures {
		if k != archive.FailEnded && k != archive.FailUnsent {
			out[k] = n
		}
	}
	return out
}

func kinds(by map[archive.Kind]int) string {
	var parts []string
	for _, k := range []archive.Kind{archive.KindWarmup, archive.KindCheckpoint, archive.KindProbe} {
		if n := by[k]; n > 0 {
			parts = append(parts, itoa(n)+" "+kindWord(k, n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

func kindWord(k archive.Kind, n int) string {
	s := "s"
	if n == 1 {
		s = ""
	}
	switch k {
	case archive.KindWarmup:
		return "warm-up"
	case archive.KindCheckpoint:
		return "checkpoint" + s
	case archive.KindProbe:
		return "probe" + s
	case archive.KindLoad:
		return "load"
	}
	return string(k)
}

func (p *paper) latencies(a *archive.Analysis) {
	gap, short, title := "icl", "ICL", "Inter-chunk latency (a chunk is not a token)"
	if m, ok := gapMetric(a); ok && m.ID == "itl" {
		gap, short, title = "itl", "ITL", "Inter-token latency"
	}
	for _, s := range []struct{ id, short, title string }{
		{"ttft", "TTFT", "Time to first token (from intended send)"},
		{"tpot", "TPOT", "Time per output token (first token left out)"},
		{gap, short, title},
		{"e2e", "E2EL", "End-to-end latency"},
	} {
		m, ok := metricOf(a, "all", s.id)
		t := s.title
		if ok {
			t += ", n=" + itoa(m.N)
		}
		p.rule(p.clean(t), "-")
		for _, st := range []struct{ name, stat string }{{"Mean", "mean"}, {"Median", "p50"}, {"P99", "p99"}} {
			e := archive.Estimate{Reason: "not computed"}
			if ok {
				e = stat1(m, st.stat)
			}
			p.estimate(st.name+" "+s.short+" (ms):", e, 2)
		}
	}
}

func (p *paper) estimate(label string, e archive.Estimate, dec int) {
	v, ok := e.Value.Get()
	if !ok {
		why := "withheld: " + e.Reason
		if x, ok := e.Sample.Get(); ok {
			why += " (observed " + strconv.FormatFloat(x, 'f', dec, 64) + ")"
		}
		p.row(label, "", p.clean(why))
		return
	}
	remark := ""
	lo, ok1 := e.Low.Get()
	hi, ok2 := e.High.Get()
	switch {
	case ok1 && ok2:
		remark = "[" + strconv.FormatFloat(lo, 'f', dec, 64) + ", " + strconv.FormatFloat(hi, 'f', dec, 64) + "]"
	case e.Reason != "":
		remark = p.clean(e.Reason)
	}
	p.row(label, strconv.FormatFloat(v, 'f', dec, 64), remark)
}

func (p *paper) objectives(a *archive.Analysis) {
	for i, s := range a.SLOs {
		if i == 0 {
			p.line("")
			p.line(p.paint(bold, "Objectives"))
		}
		met, known := s.Met.Get()
		t := p.clean(s.Expr + ": " + tidy(joinNonEmpty("; ", s.Observed, s.Reason)))
		for n, l := range wrap(t, p.width()-5) {
			if n == 0 {
				p.line("  " + p.mark(met, known) + " " + l)
			} else {
				p.line("     " + l)
			}
		}
	}
}

func joinNonEmpty(sep string, parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, sep)
}

func (p *paper) quality(a *archive.Analysis) {
	for i, q := range a.Quality {
		if i == 0 {
			p.line("")
		}
		p.wrapped("Quality", bold, 12, qualityLine(q))
	}
}

// qualityLine is "gsm8k (own-maths/1): 22 of 28 right, 78.6% [63%, 94%]; 2 unscored."
func qualityLine(q archive.Quality) string {
	s := q.Kind + " (" + q.Set + "): "
	if v, ok := q.Accuracy.Value.Get(); ok {
		s += itoa(q.Correct) + " of " + itoa(q.Scored) + " right, " + quantity.Format(v*100, "%")
		lo, ok1 := q.Accuracy.Low.Get()
		hi, ok2 := q.Accuracy.High.Get()
		if ok1 && ok2 {
			s += " [" + quantity.Format(lo*100, "%") + ", " + quantity.Format(hi*100, "%") + "]"
		}
	} else {
		s += "no accuracy: " + q.Accuracy.Reason
	}
	if q.Unscored > 0 {
		s += "; " + itoa(q.Unscored) + " not scored"
	}
	return joinNonEmpty(". ", s, q.Power)
}

func (p *paper) notes(a *archive.Analysis) {
	shown := 0
	for _, n := range a.Annotations {
		if shown == 0 {
			p.line("")
		}
		p.wrapped("Note", dim, 12, n.Message)
		shown++
	}
	for _, g := range a.Gates {
		if !g.Passed.Known() {
			p.wrapped("Unchecked", dim, 12, g.Message)
		}
	}
}
