package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/compare"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/quality"
	evalstats "github.com/inferencebench/inferencebench/evals/stats"
	"github.com/inferencebench/inferencebench/report"
)

// Gated is one run that was compared with a base, and what the gate says of it.
type Gated struct {
	Base, Head  string // run directories
	Outcome     compare.Outcome
	Differences []compare.Difference
	Quality     []quality.Comparison
}

// GateJUnit writes the outcome of a gate as JUnit XML: one suite a compared run, one case
// a rule, one for its whole outcome, and one for each family of scored items. An alarm of
// the pair that decides is a failure only where the gate fails; a rule that could not be
// checked is skipped with the reason. The error is that of the writer.
func GateJUnit(w io.Writer, gated []Gated) error {
	var all suites
	for _, g := range gated {
		s := suite{Name: "inferencebench compare " + report.OneLine(g.Head), Properties: []property{
			{"base", report.OneLine(g.Base)}, {"head", report.OneLine(g.Head)}, {"pairs", fmt.Sprint(g.Outcome.Stages)},
		}}
		passed := archive.Opt[bool]{}
		if g.Outcome.State != compare.Undecided {
			passed = archive.Some(g.Outcome.State == compare.Pass)
		}
		s.add(checked("gate", "outcome", passed, g.Outcome.Reason))
		for _, c := range g.Outcome.Checks {
			passed := archive.Opt[bool]{}
			if c.Difference != nil {
				passed = archive.Some(!c.Alarm || g.Outcome.State != compare.Fail)
			}
			s.add(checked("rule", ruleName(c.Rule), passed, c.Message))
		}
		for _, q := range g.Quality {
			passed := archive.Opt[bool]{}
			switch q.Gate.Verdict {
			case evalstats.GateFail:
				passed = archive.Some(false)
			case evalstats.GatePass:
				passed = archive.Some(true)
			}
			s.add(checked("quality", q.Kind, passed, q.Gate.String()))
		}
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func ruleName(r compare.Rule) string {
	return fmt.Sprintf("%s at most %g %% worse", statOf(r.Metric, r.Stat), 100*r.Tolerance)
}

func statOf(metric, stat string) string {
	if stat == "value" {
		return metric
	}
	return metric + " " + stat
}

// GateMarkdown writes the outcome of a gate for a pull request, in GitHub's dialect: the
// state and its reason first, then every statistic with its interval, and the scored items
// that were lost. The error is that of the writer.
func GateMarkdown(w io.Writer, gated []Gated) error {
	var b strings.Builder
	for i, g := range gated {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## Performance gate: %s\n\n%s\n\n", g.Outcome.State, esc(strings.TrimSuffix(g.Outcome.Reason, ".")+"."))
		pairs := "one pair of runs"
		if g.Outcome.Stages == 2 {
			pairs = "a second pair of runs, made because the first raised an alarm"
		}
		fmt.Fprintf(&b, "Base %s, head %s; decided on %s.\n\n", esc(g.Base), esc(g.Head), pairs)
		if len(g.Differences) > 0 {
			b.WriteString("| metric | base | head | change | 95 % interval | rule | |\n|---|---:|---:|---:|---:|---:|---|\n")
		}
		for _, d := range g.Differences {
			rule, mark := "", ""
			for _, c := range g.Outcome.Checks {
				if c.Rule.Metric == d.Metric && c.Rule.Stat == d.Stat {
					rule = fmt.Sprintf("%g %%", 100*c.Rule.Tolerance)
					if mark = "ok"; c.Alarm {
						mark = "**worse**"
					}
				}
			}
			fmt.Fprintf(&b, "| %s (%s) | %.4g | %.4g | %s | %s to %s | %s | %s |\n", esc(statOf(d.Metric, d.Stat)), d.Unit(), d.Base, d.Head,
				compare.Percent(d.Change), compare.Percent(d.Low), compare.Percent(d.High), rule, mark)
		}
		for _, c := range g.Outcome.Checks {
			if c.Difference == nil {
				fmt.Fprintf(&b, "\n- not checked: %s", esc(c.Message))
			}
		}
		for _, q := range g.Quality {
			fmt.Fprintf(&b, "\nQuality, %s: %s\n", esc(q.Kind), esc(q.Gate.String()))
			for k, c := range q.Regressions {
				if k == maxLost {
					fmt.Fprintf(&b, "- and %d more\n", len(q.Regressions)-k)
					break
				}
				fmt.Fprintf(&b, "- lost: %s\n", esc(c.Item))
			}
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// maxLost bounds the lost items that a pull request shows.
const maxLost = 10
