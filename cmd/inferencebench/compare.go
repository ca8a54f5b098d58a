package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/analyst/compare"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/quality"
	"github.com/inferencebench/inferencebench/evals/stats"
	"github.com/inferencebench/inferencebench/report"
)

// Tolerances of a comparison.
const (
	sameWithin    = 0.01 // a change within ± this counts as none
	qualityMargin = 0.05 // the loss of accuracy that quality must rule out
)

// comparable is one run with everything that a comparison reads of it.
type comparable struct {
	run    *archive.Run
	a      *archive.Analysis
	sample *compare.Sample
	checks []archive.Checkpoint
}

func openComparable(dir string, o *output) (comparable, error) {
	run, err := archive.Open(dir)
	if err != nil {
		return comparable{}, withCode(exitUsage, err)
	}
	c := comparable{run: run}
	if c.a, err = run.Analysis(); err != nil {
		if c.a, err = analyst.Analyze(run, analysisOptions(run, recordedSLOs(run), o.log)); err != nil {
			return c, err
		}
	}
	if c.sample, err = compare.Collect(run); err != nil {
		return c, err
	}
	c.sample.Measured(c.a)
	for cp, err := range run.Checkpoints() {
		if err == nil { // a bad line is named by report; it pairs with nothing here
			c.checks = append(c.checks, *cp)
		}
	}
	return c, nil
}

func newCompare() *cobra.Command {
	var rules, html, format, junit, markdown, db string
	var gated bool
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD [MORE...] [-- COMMAND [ARG...]]",
		Short: "say whether runs differ, by how much, and how sure that is",
		Long: `Compares runs with the first one: every latency and rate with an interval, paired where the
runs sent the same requests (see replay), and the answers to scored items one by one.

With --gate the exit code is 1 when a run is worse than the first by more than a tolerance,
by more than chance explains; 2 when that cannot be decided. The default rules are few,
because every further one costs sensitivity; --rules gives others. --junit and --markdown
write what the gate says for a CI job and for a pull request.

A command behind -- is started when the gate raises an alarm, once with "base" and once with
"head" as its last argument, to make a second pair of runs; its last line of output is the
run directory. The gate then fails only where both pairs raise an alarm for the same rule.
With --baselines the noise between runs of this machine comes from the baseline database
(see: inferencebench baseline).

Exit codes of a gate: 0 passed, 1 worse, 2 undecided (a run is invalid, a rule cannot be
checked, or the two pairs disagree), 3 usage.`,
		Example: `  inferencebench compare runs/A runs/B
  inferencebench compare runs/A runs/B --html compare.html
  inferencebench compare runs/A runs/B --gate --rules 'ttft_p99:5%, tpot_mean:2%, output_rate:3%'
  inferencebench compare runs/A runs/B --gate --junit gate.xml --markdown gate.md -- ./measure`,
		Args: args(compareArgs),
	}
	cmd.Flags().StringVar(&html, "html", "", "write the comparison as a page")
	cmd.Flags().BoolVar(&gated, "gate", false, "gate: exit 1 when a run is worse than the first")
	cmd.Flags().StringVar(&junit, "junit", "", "write what the gate says as JUnit XML to this file; implies --gate")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write what the gate says as Markdown to this file, for a pull request; implies --gate")
	cmd.Flags().StringVar(&db, "baselines", "", "baseline database that tells the noise between runs of this machine")
	cmd.Flags().StringVar(&rules, "rules", "", "rules of the gate, such as 'ttft_p99:5%, output_rate:3%'")
	cmd.Flags().StringVar(&format, "format", "text", "what to print: text or json")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		if err := checkFormat(format); err != nil {
			return err
		}
		o := newOutput(cmd, format, false)
		gate := compare.Rules()
		if rules != "" {
			var err error
			if gate, err = compare.ParseRules(rules); err != nil {
				return withCode(exitUsage, fmt.Errorf("--rules: %w", err))
			}
		}
		gated = gated || junit != "" || markdown != ""
		argv, again := beforeDash(cmd, argv)
		if len(again) > 0 && (!gated || len(argv) != 2) {
			return withCode(exitUsage, errors.New("a command behind -- needs --gate and exactly two runs"))
		}
		runs := make([]comparable, len(argv))
		for i, dir := range argv {
			var err error
			if runs[i], err = openComparable(dir, o); err != nil {
				return err
			}
		}
		opts, err := gateOptions(cmd.Context(), db, runs[0].run, o)
		if err != nil {
			return err
		}
		r := compareRuns(runs, gate, opts)
		r.gated = gated
		if len(again) > 0 {
			if err := r.again(cmd.Context(), again, runs, gate, opts, o); err != nil {
				return err
			}
		}
		if html != "" {
			if err := writeComparison(html, runs, r); err != nil {
				return withCode(exitUsage, err)
			}
		}
		if format == "json" {
			e := json.NewEncoder(o.out)
			e.SetIndent("", "  ")
			if err := e.Encode(r); err != nil {
				return err
			}
		} else {
			r.write(o.out, runs)
		}
		if err := r.gateFiles(junit, markdown); err != nil {
			return withCode(exitUsage, err)
		}
		if html != "" {
			fmt.Fprintf(o.msg, "Comparison: %s\n", html)
		}
		if gated {
			return r.code()
		}
		return nil
	}
	return cmd
}

// comparison is what compare prints: one entry for each run after the first.
type comparison struct {
	Base  string         `json:"base"`
	Heads []headCompared `json:"heads"`
	gated bool
}

type headCompared struct {
	Run         string               `json:"run"`
	Differences []compare.Difference `json:"differences"`
	Quality     []quality.Comparison `json:"quality"`
	Gate        compare.Outcome      `json:"gate"`
}

func compareRuns(runs []comparable, rules []compare.Rule, opts compare.Options) comparison {
	r := comparison{Base: runs[0].run.Dir}
	for _, head := range runs[1:] {
		h := headCompared{
			Run:         head.run.Dir,
			Differences: compare.Compare(runs[0].sample, head.sample),
			Quality:     quality.Compare(runs[0].checks, head.checks, qualityMargin),
			Gate:        compare.Gate(runs[0].sample, head.sample, rules, opts),
		}
		h.Gate = valid(h.Gate, runs[0], head)
		r.Heads = append(r.Heads, h)
	}
	return r
}

func (r *comparison) write(w io.Writer, runs []comparable) {
	fmt.Fprintf(w, "Base: %s\n      %s\n", r.Base, runs[0].a.Verdict.Headline)
	for i := range r.Heads {
		h := &r.Heads[i]
		fmt.Fprintf(w, "\nHead: %s\n      %s\n\n", h.Run, runs[i+1].a.Verdict.Headline)
		if len(h.Differences) > 0 && !h.Differences[0].Paired {
			fmt.Fprintln(w, "The measured requests of the two runs are not the same, so they are not paired (see: inferencebench replay).")
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "metric\tbase\thead\tchange\t95 % interval\tverdict\t")
		for _, d := range h.Differences {
			fmt.Fprintf(t, "%s %s\t%.4g\t%.4g\t%s\t%s to %s\t%s\t\n", d.Metric, d.Stat, d.Base, d.Head,
				compare.Percent(d.Change), compare.Percent(d.Low), compare.Percent(d.High), d.Verdict(sameWithin))
		}
		_ = t.Flush() // of a writer that returns no errors here
		for _, q := range h.Quality {
			fmt.Fprintf(w, "Quality %s (%s): %s\n", q.Kind, q.Set, q.Gate)
			for _, c := range q.Regressions {
				fmt.Fprintf(w, "  lost: %s: expected %s, answered %s\n", c.Item, c.Candidate.Expected, orNone(c.Candidate.Extracted.Or("")))
			}
		}
		if r.gated || h.Gate.State == compare.Undecided {
			fmt.Fprintf(w, "Gate: %s. %s\n", h.Gate.State, h.Gate.Reason)
		}
	}
}

// code is the exit code of a gate: the worst of the runs.
func (r *comparison) code() error {
	for _, h := range r.Heads {
		if h.Gate.State == compare.Fail {
			return withCode(exitGate, fmt.Errorf("%s is worse: %s", h.Run, h.Gate.Reason))
		}
		for _, q := range h.Quality {
			if q.Gate.Verdict == stats.GateFail {
				return withCode(exitGate, fmt.Errorf("%s answers worse: %s", h.Run, q.Gate))
			}
		}
	}
	for _, h := range r.Heads {
		if h.Gate.State != compare.Pass {
			return withCode(exitUndecided, fmt.Errorf("%s: %s", h.Run, h.Gate.Reason))
		}
	}
	return nil
}

func writeComparison(path string, runs []comparable, r comparison) error {
	shown := make([]report.Compared, len(runs))
	for i, c := range runs {
		shown[i] = report.Compared{Run: c.run, Analysis: c.a}
	}
	var ds []report.Difference
	for i := range r.Heads {
		for _, d := range r.Heads[i].Differences {
			ds = append(ds, report.Difference{Metric: d.Metric, Stat: d.Stat, Run: i + 1, Text: d.String(), Verdict: d.Verdict(sameWithin)})
		}
	}
	var b bytes.Buffer
	if err := report.CompareHTML(&b, shown, ds, report.PageOptions{}); err != nil {
		return err
	}
	return archive.WriteFileAtomic(path, b.Bytes())
}
