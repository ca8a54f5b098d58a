package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
)

func newReport() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "print a run's summary and write its report.html again",
		Long: `Prints the summary of a run directory and writes report.html into it. A run that was
interrupted or killed at any moment opens with what it had recorded. Without an argument it
takes the latest run in the folder runs.`,
		Args: args(cobra.MaximumNArgs(1)),
	}
	cmd.Flags().StringVar(&format, "format", "text", "what to print: text or json")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		if len(argv) == 0 {
			dir, err := latestRun(campaign.DefaultOut)
			if err != nil {
				return withCode(exitUsage, usageError{cmd: cmd, err: err})
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "Latest run: %s\n", dir)
			argv = []string{dir}
		}
		return reopen(cmd, argv[0], format, false, nil)
	}
	return cmd
}

func newAnalyze() *cobra.Command {
	var slos []string
	var format string
	cmd := &cobra.Command{
		Use:     "analyze RUN",
		Aliases: []string{"analyse"},
		Short:   "compute a run's analysis again from its raw records",
		Long: `Computes analysis.json and report.html again from the raw records of a run directory,
for example with other objectives. The records are never changed. With --slo the exit code
is that of a gate: 1 when an objective is missed, 2 when it cannot be decided.`,
		Args: args(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVar(&format, "format", "text", "what to print: text or json")
	cmd.Flags().StringArrayVar(&slos, "slo", nil, "objective such as 'ttft_p99<500ms', in place of the run's own; repeatable")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		return reopen(cmd, argv[0], format, true, slos)
	}
	return cmd
}

// latestRun is the run directory in root that was made last.
func latestRun(root string) (string, error) {
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	latest, when := "", time.Time{}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(root, e.Name(), archive.ManifestFile))
		if err == nil && info.ModTime().After(when) {
			latest, when = filepath.Join(root, e.Name()), info.ModTime()
		}
	}
	if latest == "" {
		return "", fmt.Errorf("no run is named, and the folder %s holds none", root)
	}
	return latest, nil
}

// reopen renders the run in dir. It computes the analysis when told to, or when the run
// has none.
func reopen(cmd *cobra.Command, dir, format string, compute bool, slos []string) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	o := newOutput(cmd, format, false)
	run, err := archive.Open(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, archive.ErrNotARun) {
			err = fmt.Errorf("%w\nTry: the folder of one run, such as runs/20260101T120000Z-demo-1a2b3c4d", err)
		}
		return withCode(exitUsage, err)
	}
	gated := len(slos) > 0
	if !gated {
		slos = recordedSLOs(run)
	}
	a, err := run.Analysis()
	if compute || err != nil {
		a, err := finish(dir, slos, o)
		if err != nil || !gated {
			return err
		}
		return objectives(a)
	}
	page := filepath.Join(dir, archive.ReportFile)
	if err := writeReport(page, run, a); err != nil {
		if !errors.Is(err, os.ErrPermission) {
			return err
		}
		o.log.Warn("the report could not be written", "err", err)
		page = ""
	}
	return o.summary(run, a, page)
}

// recordedSLOs are the objectives that the run was made with.
func recordedSLOs(run *archive.Run) []string {
	var cfg struct {
		SLO []string `json:"slo"`
	}
	if json.Unmarshal(run.Manifest.Config, &cfg) != nil {
		return nil
	}
	return cfg.SLO
}
