package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/campaign/probe"
)

const probeLong = `Makes short experiments that confirm or refute what a run points at, and fits what a step
and a prompt cost on this server. Without --run a run is made first: of the server of
--url, or of the simulated engine inside this program.

Experiments are chosen by what they are expected to tell about the best three findings. No
one offers more load than the run did. Those that need a change of the server are printed
as instructions. The results are in the run directory, and its report shows them.`

// probeFlags are the flags of the experiments themselves.
type probeFlags struct {
	budget     time.Duration
	only       []string
	allowLoad  bool
	production bool
}

// defaultBudget is the time that experiments may take together.
const defaultBudget = 2 * time.Minute

func newProbe() *cobra.Command {
	f := &runFlags{}
	var p probeFlags
	var show shown
	var dir string
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "confirm or refute what a run points at, by experiment",
		Long:  probeLong,
		Example: `  inferencebench probe
  inferencebench probe --url http://localhost:8000 --budget 3m
  inferencebench probe --run runs/RUN --only P0,P10`,
		Args: args(cobra.NoArgs),
	}
	f.register(cmd)
	show.register(cmd)
	cmd.Flags().StringVar(&dir, "run", "", "directory of the run whose findings to test; default: make a run first")
	cmd.Flags().DurationVar(&p.budget, "budget", defaultBudget, "time that the experiments may take together")
	cmd.Flags().StringSliceVar(&p.only, "only", nil, "make these experiments, such as P0,P10; default: chosen by what they tell")
	p.leave(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := show.output(cmd)
		if err != nil {
			return err
		}
		if dir == "" {
			c, err := resolve(f, f.base(), nil)
			if err != nil {
				return withCode(exitUsage, err)
			}
			p.mark(c)
			return runAndProbe(cmd.Context(), c, &p, o)
		}
		run, err := archive.Open(dir)
		if err != nil {
			return withCode(exitUsage, err)
		}
		c := campaign.Default()
		if err := json.Unmarshal(run.Manifest.Config, c); err != nil {
			return withCode(exitUsage, fmt.Errorf("%s: the run's configuration cannot be read: %w", dir, err))
		}
		if !run.Manifest.Embedded && c.Target.URL == "" && !f.changed("url") {
			return withCode(exitUsage, fmt.Errorf("%s tells no server: name it with --url", dir))
		}
		if err := f.apply(c); err != nil {
			return withCode(exitUsage, err)
		}
		p.mark(c)
		return probeRun(cmd.Context(), run, c, &p, o)
	}
	return cmd
}

// leave registers the flags about production servers.
func (p *probeFlags) leave(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.production, "production", false, "users depend on this server: make no experiments without --allow-load")
	cmd.Flags().BoolVar(&p.allowLoad, "allow-load", false, "make experiments on a server that is marked as production")
}

func (p *probeFlags) mark(c *campaign.Config) {
	c.Target.Production = c.Target.Production || p.production
}

// runAndProbe makes a run and then experiments on what it points at.
func runAndProbe(ctx context.Context, c *campaign.Config, p *probeFlags, o *output) error {
	if c.Target.Production && !p.allowLoad {
		return withCode(exitUsage, probe.ErrProduction)
	}
	progress := newProgress(o)
	res, err := campaign.Run(ctx, c, campaign.Options{Log: o.log, Tool: archive.Tool{Version: version}, Started: progress.start, Searching: progress.note})
	progress.stop()
	if err != nil {
		return err
	}
	if res.Interrupted {
		if _, err := finish(res.Dir, c.SLO, o); err != nil {
			return err
		}
		return withCode(exitInterrupted, fmt.Errorf("the run was interrupted (%s); what was recorded is in %s", res.Reason, res.Dir))
	}
	run, err := archive.Open(res.Dir)
	if err != nil {
		return err
	}
	return probeRun(ctx, run, c, p, o)
}

// probeRun experiments on what a run points at, and reports the run again.
func probeRun(ctx context.Context, run *archive.Run, c *campaign.Config, p *probeFlags, o *output) error {
	before, err := finish(run.Dir, recordedSLOs(run), &output{out: io.Discard, msg: io.Discard, quiet: true, log: o.log})
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		self = "" // what needs it says so
	}
	done, err := probe.Run(ctx, probe.Request{
		Run: run, Analysis: before, Config: c, Budget: p.budget, Only: p.only, AllowLoad: p.allowLoad, Self: self,
		Log: o.log, Tool: archive.Tool{Version: version}, Said: func(s string) {
			if !o.quiet {
				fmt.Fprintln(o.msg, s)
			}
		},
	})
	if err != nil {
		return withCode(exitUsage, err)
	}
	if _, err := finish(run.Dir, recordedSLOs(run), o); err != nil {
		return err
	}
	if !o.json && !o.quiet {
		printExperiments(o.out, done)
	}
	if ctx.Err() != nil {
		return withCode(exitInterrupted, fmt.Errorf("the experiments were interrupted; what they said until then is in %s", filepath.Join(run.Dir, archive.ExperimentsFile)))
	}
	if done.Reason != "" {
		return withCode(exitUndecided, errors.New("the experiments ended early: "+done.Reason))
	}
	return nil
}

// printExperiments prints what was expected and what was seen.
func printExperiments(w io.Writer, e *archive.Experiments) {
	fmt.Fprintf(w, "\nExperiments (%.0f s of %.0f s)\n", e.Spent, e.Budget)
	for _, x := range e.Probes {
		head := x.Probe + " " + x.Title
		if x.Cause != "" {
			head += ", about " + x.Cause + ": " + x.Answer
		}
		fmt.Fprintf(w, "  %s\n    expected: %s\n    seen:     %s\n", head, x.Expected, x.Observed)
	}
	for _, f := range e.Fits {
		v, ok := f.Value.Get()
		if !ok {
			fmt.Fprintf(w, "  %s: unknown, %s\n", f.Label, f.Reason)
			continue
		}
		fmt.Fprintf(w, "  %s: %.3g %s", f.Label, v, f.Unit)
		if lo, ok := f.Low.Get(); ok {
			fmt.Fprintf(w, " [%.3g, %.3g]", lo, f.High.Or(v))
		}
		fmt.Fprintln(w)
	}
}
