package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/narrative"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report"
	"github.com/inferencebench/inferencebench/report/quantity"
)

// Markdown writes a summary in GitHub's dialect: verdict and next step first, then the
// figures with intervals, what failed, the findings with their evidence, and quality.
func Markdown(w io.Writer, run *archive.Run, a *archive.Analysis) error {
	var b strings.Builder
	m := run.Manifest
	fmt.Fprintf(&b, "## %s\n\n", esc(a.Verdict.Headline))
	if a.Simulated {
		b.WriteString("> **Simulation.** The server is the built-in simulated engine; its numbers say nothing about real hardware.\n\n")
	}
	if a.State != archive.StateComplete {
		why := strings.TrimSuffix(m.Reason, ".")
		if why == "" {
			why = "The run has not come to its end"
		}
		fmt.Fprintf(&b, "> **%s.** %s. The figures cover what was recorded until then.\n\n", esc(string(a.State)), esc(why))
	}
	for _, g := range a.Gates {
		if ok, known := g.Passed.Get(); known && !ok {
			fmt.Fprintf(&b, "> **Check failed: %s.** %s Observed %s, limit %s.\n\n", esc(g.ID), esc(g.Message), esc(g.Observed), esc(g.Limit))
		}
	}
	if a.Verdict.Why != "" {
		fmt.Fprintf(&b, "%s\n\n", esc(a.Verdict.Why))
	}
	if a.Verdict.Confidence != "" {
		fmt.Fprintf(&b, "Confidence: %s. ", esc(a.Verdict.Confidence))
	}
	fmt.Fprintf(&b, "**Next:** %s\n\n", esc(a.Verdict.Next))
	fmt.Fprintf(&b, "%s on %s %s, %s\n\n", esc(m.Server.Model), esc(m.Server.Engine), esc(m.Server.Version), m.Epoch.UTC().Format("2006-01-02 15:04 UTC"))
	figures(&b, a)
	objectives(&b, a)
	prose(&b, a)
	findings(&b, a)
	for i, n := range a.Annotations {
		if i == 0 {
			b.WriteString("### Notes\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", esc(n.Message))
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func figures(b *strings.Builder, a *archive.Analysis) {
	c := a.Counts
	fmt.Fprintf(b, "| | |\n|---|---:|\n| Successful requests | %s of %s |\n| Failed | %s |\n", quantity.Int(c.OK), quantity.Int(c.Planned), quantity.Int(c.Failed))
	if c.Cancelled > 0 {
		fmt.Fprintf(b, "| Cancelled | %s |\n", quantity.Int(c.Cancelled))
	}
	for _, id := range []string{"duration", "input_tokens", "output_tokens", "request_rate", "output_rate", "total_rate", "goodput"} {
		if m, ok := metric(a, "all", id); ok {
			fmt.Fprintf(b, "| %s | %s |\n", esc(m.Label), estimate(m.Stats["value"], m.Unit))
		}
	}
	b.WriteString("\n| Latency | Mean | Median | P95 | P99 | n |\n|---|---:|---:|---:|---:|---:|\n")
	for _, id := range []string{"ttft", "tpot", "itl", "icl", "e2e"} {
		m, ok := metric(a, "all", id)
		if !ok || m.N == 0 {
			continue
		}
		fmt.Fprintf(b, "| %s (`%s`)", esc(m.Label), id)
		for _, st := range []string{"mean", "p50", "p95", "p99"} {
			fmt.Fprintf(b, " | %s", estimate(m.Stats[st], m.Unit))
		}
		fmt.Fprintf(b, " | %s |\n", quantity.Int(m.N))
	}
	for _, q := range a.Quality {
		if v, ok := q.Accuracy.Value.Get(); ok {
			fmt.Fprintf(b, "\nQuality, %s: %d of %d right, %s.\n", esc(q.Kind), q.Correct, q.Scored, quantity.Format(100*v, "%"))
		} else {
			fmt.Fprintf(b, "\nQuality, %s: no accuracy, %s.\n", esc(q.Kind), esc(q.Accuracy.Reason))
		}
	}
	b.WriteString("\n")
}

func estimate(e archive.Estimate, unit string) string {
	v, ok := e.Value.Get()
	if !ok {
		return "withheld: " + esc(e.Reason)
	}
	s := quantity.Format(v, unit)
	lo, ok1 := e.Low.Get()
	hi, ok2 := e.High.Get()
	if ok1 && ok2 {
		s += " <sub>" + quantity.Range(lo, hi, unit) + "</sub>"
	}
	return s
}

func objectives(b *strings.Builder, a *archive.Analysis) {
	for i, s := range a.SLOs {
		if i == 0 {
			b.WriteString("### Objectives\n\n")
		}
		mark := "❔ undecided"
		if ok, known := s.Met.Get(); known && ok {
			mark = "✅ met"
		} else if known {
			mark = "❌ missed"
		}
		fmt.Fprintf(b, "- %s: %s, %s", mark, esc(s.Expr), esc(s.Observed))
		if s.Reason != "" {
			fmt.Fprintf(b, " (%s)", esc(s.Reason))
		}
		b.WriteString("\n")
	}
	if len(a.SLOs) > 0 {
		b.WriteString("\n")
	}
}

// prose tells the analysis in words, where every claim passes the check.
func prose(b *strings.Builder, a *archive.Analysis) {
	if claims := narrative.Write(a, narrative.English); len(narrative.Verify(claims, a)) == 0 {
		fmt.Fprintf(b, "%s\n\n", esc(narrative.Text(claims)))
	}
}

func findings(b *strings.Builder, a *archive.Analysis) {
	text := map[string]string{}
	for _, e := range a.Evidence {
		text[e.ID] = e.Text
	}
	list := func(sign string, ids []string) {
		for _, id := range ids {
			fmt.Fprintf(b, "- %s %s (%s)\n", sign, esc(text[id]), esc(id))
		}
	}
	for _, f := range a.Findings {
		fmt.Fprintf(b, "### %s\n\n%s, score %.2f, %s confidence, %s. %s\n\n", esc(f.Title), esc(f.Role), f.Score, esc(f.Confidence), esc(f.Tested), esc(f.Summary))
		list("for:", f.For)
		list("against:", f.Against)
		for _, s := range f.Missing {
			fmt.Fprintf(b, "- missing: %s\n", esc(s))
		}
		if f.Falsifier != "" {
			fmt.Fprintf(b, "- would be wrong if: %s\n", esc(f.Falsifier))
		}
		for _, r := range a.Recommendations {
			if r.Finding == f.ID {
				fmt.Fprintf(b, "- **%s** %s %s\n", esc(r.Action), code(r.Knob), esc(r.Predicted))
			}
		}
		b.WriteString("\n")
	}
}

// esc makes text inert in Markdown and in the HTML that Markdown may hold.
func esc(s string) string {
	return mdEscaper.Replace(report.OneLine(s))
}

var mdEscaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "|", `\|`, "#", `\#`, "!", `\!`, "~", `\~`, "@", "@\u200b", "://", ":\u200b//",
)

// code is a code span, or nothing.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.NewReplacer("`", "'", "|", `\|`).Replace(report.OneLine(s)) + "`"
}
