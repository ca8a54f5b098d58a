package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/charmbracelet/log"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/inferencebench/inferencebench/agents/director"
	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/report"
)

// output is where a command's words go: the result to out, everything else to msg.
type output struct {
	out, msg io.Writer
	json     bool
	quiet    bool
	log      *slog.Logger
}

// shown are the flags that say what a campaign's command prints.
type shown struct {
	format string
	quiet  bool
}

func (s *shown) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.format, "format", "text", "what to print at the end: text, or json (analysis.json on standard output)")
	cmd.Flags().BoolVarP(&s.quiet, "quiet", "q", false, "print no progress and no summary, only the report's path")
}

// output checks the flags and opens the output that they ask for.
func (s *shown) output(cmd *cobra.Command) (*output, error) {
	if err := checkFormat(s.format); err != nil {
		return nil, err
	}
	return newOutput(cmd, s.format, s.quiet), nil
}

// checkFormat accepts text and json.
func checkFormat(format string) error {
	if format != "text" && format != "json" {
		return withCode(exitUsage, fmt.Errorf("--format %q: use text or json", format))
	}
	return nil
}

func newOutput(cmd *cobra.Command, format string, quiet bool) *output {
	o := &output{out: cmd.OutOrStdout(), msg: cmd.ErrOrStderr(), json: format == "json", quiet: quiet}
	level := log.InfoLevel
	if quiet {
		level = log.ErrorLevel
	}
	o.log = slog.New(log.NewWithOptions(o.msg, log.Options{Level: level}))
	return o
}

// runCampaign runs c, then analyses and reports what it left.
func runCampaign(ctx context.Context, c *campaign.Config, o *output) error {
	progress := newProgress(o)
	res, err := campaign.Run(ctx, c, campaign.Options{
		Log: o.log, Tool: archive.Tool{Version: version}, Started: progress.start, Searching: progress.note,
	})
	progress.stop()
	if err != nil {
		return err
	}
	a, err := finish(res.Dir, c.SLO, o)
	if err != nil {
		return err
	}
	if res.Interrupted {
		return withCode(exitInterrupted, fmt.Errorf("the run was interrupted (%s); what was recorded is in %s", res.Reason, res.Dir))
	}
	if m := res.Weak; m != nil {
		if !o.json {
			printWeaknesses(o.out, m)
		}
		return nil
	}
	if f := res.Found; f != nil {
		if !o.json {
			fmt.Fprintln(o.out, campaign.Found(f))
		}
		if a.Verdict.State == archive.VerdictInvalid && c.Target.URL != "" {
			return withCode(exitUndecided, fmt.Errorf("the run is invalid, and so is the answer: %s", a.Verdict.Headline))
		}
		if !f.Known {
			return withCode(exitUndecided, fmt.Errorf("the search did not find a rate: %s", f.Reason))
		}
		return nil // objectives are missed on purpose, on the way to the answer
	}
	return gate(a, c)
}

// printWeaknesses prints the map of a search for weaknesses.
func printWeaknesses(w io.Writer, m *director.Map) {
	if len(m.Weaknesses) == 0 {
		fmt.Fprintf(w, "No weakness was found within %d phases of traffic.\n", m.Explored)
	}
	for i := range m.Weaknesses {
		fmt.Fprintf(w, "Weakness %d: %s\n", i+1, campaign.Weakness(&m.Weaknesses[i]))
	}
	for i := range m.Unconfirmed {
		fmt.Fprintf(w, "Not confirmed: %s\n", campaign.Weakness(&m.Unconfirmed[i]))
	}
}

// finish analyses the run in dir, writes analysis.json and report.html into it, and
// prints the summary.
func finish(dir string, slos []string, o *output) (*archive.Analysis, error) {
	run, err := archive.Open(dir)
	if err != nil {
		return nil, withCode(exitUsage, err)
	}
	a, err := analyst.Analyze(run, analysisOptions(run, slos, o.log))
	if err != nil {
		return nil, fmt.Errorf("analyse %s: %w", dir, err)
	}
	page := filepath.Join(dir, archive.ReportFile)
	werr := archive.WriteAnalysis(dir, a)
	if werr == nil {
		werr = writeReport(page, run, a)
	}
	if werr != nil { // the numbers are still worth printing
		o.log.Warn("the report could not be written", "err", werr)
		page = ""
	}
	if err := o.summary(run, a, page); err != nil {
		return nil, err
	}
	return a, nil
}

// analysisOptions are the objectives, and what the user told of hardware and model when
// the run was made.
func analysisOptions(run *archive.Run, slos []string, log *slog.Logger) analyst.Options {
	opts := analyst.Options{SLO: slos}
	var cfg struct {
		Target struct {
			GPU            string  `json:"gpu"`
			TensorParallel int     `json:"tensor_parallel"`
			ModelConfig    string  `json:"model_config"`
			Price          float64 `json:"price"`
			Carbon         float64 `json:"carbon_intensity"`
		} `json:"target"`
	}
	if err := json.Unmarshal(run.Manifest.Config, &cfg); err != nil {
		return opts // a run without a manifest: nothing was told
	}
	opts.Device, opts.TP, opts.USDHour = cfg.Target.GPU, cfg.Target.TensorParallel, cfg.Target.Price
	opts.GramsKWh = cfg.Target.Carbon
	if path := cfg.Target.ModelConfig; path != "" {
		m, err := campaign.ReadModel(path)
		if err != nil {
			log.Warn("the model's shape is unknown", "err", err)
		}
		opts.Model = m
	}
	return opts
}

func (o *output) summary(run *archive.Run, a *archive.Analysis, page string) error {
	if o.json {
		e := json.NewEncoder(o.out)
		e.SetIndent("", "  ")
		return e.Encode(a)
	}
	if !o.quiet {
		if err := report.Terminal(o.out, run, a, terminalOptions(o.out)); err != nil {
			return err
		}
	}
	if page != "" {
		fmt.Fprintf(o.out, "Report: %s\n", page)
	}
	return nil
}

func writeReport(path string, run *archive.Run, a *archive.Analysis) error {
	var b bytes.Buffer
	if err := report.HTML(&b, run, a); err != nil {
		return err
	}
	return archive.WriteFileAtomic(path, b.Bytes())
}

// terminalOptions fits the summary to where it goes.
func terminalOptions(w io.Writer) report.TerminalOptions {
	f, ok := w.(*os.File)
	if !ok {
		return report.TerminalOptions{}
	}
	return report.OptionsFor(f, os.Getenv)
}

// gate turns the analysis of a complete run into the exit code. The simulated engine
// shares this process with the load generator, so a busy machine makes a demonstration
// invalid as a measurement; that is said in its report, and is no failure as long as
// requests succeeded. Nor is it one that a run of scored items measured no load.
func gate(a *archive.Analysis, c *campaign.Config) error {
	sound := a.Counts.Failed == 0 && a.Counts.OK > 0 && (c.Target.URL == "" || c.Checkpoints.Only)
	if a.Verdict.State == archive.VerdictInvalid && !sound {
		return withCode(exitUndecided, fmt.Errorf("the run is invalid: %s", a.Verdict.Headline))
	}
	err := objectives(a)
	if exitCode(err) == exitGate {
		return err
	}
	if limit := c.MaxErrorRate; limit != nil {
		if n := a.Counts.OK + a.Counts.Failed; n > 0 && float64(a.Counts.Failed)/float64(n) > *limit {
			return withCode(exitGate, fmt.Errorf("%d of %d requests failed, more than --max-error-rate %g allows", a.Counts.Failed, n, *limit))
		}
	}
	return err
}

// objectives turns the objectives of an analysis into an exit code: a missed one wins over
// one that cannot be decided.
func objectives(a *archive.Analysis) error {
	var undecided error
	for _, s := range a.SLOs {
		met, known := s.Met.Get()
		switch {
		case known && !met:
			return withCode(exitGate, fmt.Errorf("SLO missed: %s (observed %s)", s.Expr, s.Observed))
		case !known && undecided == nil:
			undecided = withCode(exitUndecided, fmt.Errorf("SLO undecided: %s: %s", s.Expr, s.Reason))
		}
	}
	return undecided
}

// isTerminal returns the width of w when it is a terminal.
func isTerminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// progressEvery is how often the progress of a run is shown.
const progressEvery = 250 * time.Millisecond
