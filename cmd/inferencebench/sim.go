package main

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/faults"
	"github.com/inferencebench/inferencebench/sim/server"
)

const simLong = `Serves the simulated engine over HTTP until it is stopped. It speaks the OpenAI API and
prints metrics in the words of an engine, and says in every reply that it is a simulation.

What follows -- is a launch command under vLLM's names; one that would not start there,
such as one that is out of memory, does not start here. Two flags are ours: --sim-gpu NAME
and --sim-acceptance A, the acceptance of drafted tokens.`

func newSim() *cobra.Command {
	var c server.Config
	var listen string
	var seed uint64
	var startUp bool
	cmd := &cobra.Command{
		Use:   "sim [flags] [-- MODEL [vLLM flags]]",
		Short: "serve the simulated engine, or play its faults",
		Long:  simLong,
		Example: `  inferencebench sim
  inferencebench sim --listen 127.0.0.1:9000 -- Llama-3.1-8B-Instruct --sim-gpu l4 --max-num-seqs 16
  inferencebench sim --dialect sglang --speed 2
  inferencebench sim faults list`,
	}
	s := cmd.Flags()
	s.StringVar(&listen, "listen", "127.0.0.1:8000", "address to listen on; --host and --port behind -- win")
	s.StringVar(&c.Dialect, "dialect", "", "whose metrics page to show: vllm, sglang, tgi, trtllm or llamacpp; default vllm")
	s.Float64Var(&c.Speed, "speed", 1, "simulated seconds a second")
	s.Float64Var(&c.Accuracy, "accuracy", simAccuracy, "share of the built-in checkpoint items that replies get right")
	s.Uint64Var(&seed, "seed", 1, "seed of replies and noise")
	s.BoolVar(&startUp, "start-up", false, "take the time to start that the real engine would")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		l, err := sim.ParseFlags(argv)
		if err != nil {
			return withCode(exitUsage, usageError{cmd: cmd, err: err})
		}
		l.Config.Seed = seed
		c.Sim, c.ModelName, c.Key, c.Replicas, c.Frontend = l.Config, l.ModelName, l.Key, l.Replicas, l.Frontend()
		c.Answers = evals.Own(seed).Answer
		if startUp {
			c.StartUp = l.Config.StartUp()
		}
		srv, err := server.New(c)
		if err != nil {
			return withCode(exitUsage, err)
		}
		url, err := srv.Start(simAddress(listen, argv, l))
		if err != nil {
			return withCode(exitUsage, err)
		}
		for _, f := range l.Ignored {
			fmt.Fprintf(cmd.ErrOrStderr(), "ignored: %s changes nothing here\n", f)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "ready %s (a simulation)\n", url)
		<-cmd.Context().Done()
		return srv.Close()
	}
	cmd.AddCommand(newFaults(), newSimAccuracy())
	return cmd
}

// simAccuracy is the share of checkpoint items that the served simulation gets right.
const simAccuracy = 0.9

// simAddress is where to listen: the launch command's host and port, where it gives them.
func simAddress(listen string, argv []string, l sim.Launch) string {
	given := func(flag string) bool {
		return slices.ContainsFunc(argv, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") })
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if given("--host") {
		host = l.Host
	}
	if given("--port") {
		port = strconv.Itoa(l.Port)
	}
	return net.JoinHostPort(host, port)
}

func newFaults() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "faults",
		Short: "conditions with a known cause, to test a diagnosis on",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFaultsList(), newFaultsRun(), newFaultsServe())
	return cmd
}

func newFaultsList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list the conditions, each with its true cause",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tCAUSE\tCONDITION")
			for _, c := range faults.Conditions() {
				cause := c.Cause
				if cause == "" {
					cause = "(healthy)"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", c.ID, cause, c.Name)
			}
			for _, id := range faults.Pairs() {
				a, b, _ := strings.Cut(id, "+")
				fmt.Fprintf(w, "%s\t%s\t%s\n", id, causeOf(a)+", "+causeOf(b), "both at once")
			}
			return w.Flush()
		},
	}
}

// causeOf is the cause of a condition of the suite.
func causeOf(id string) string {
	c, err := faults.Lookup(id)
	if err != nil {
		return ""
	}
	return c.Cause
}

func newFaultsRun() *cobra.Command {
	var out, severity string
	var seed uint64
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "run ID",
		Short: "play a condition offline into a run directory, and diagnose it",
		Args:  args(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVar(&out, "out", "runs", "folder for the run directory")
	cmd.Flags().StringVar(&severity, "severity", "mid", "low, mid or high")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed")
	cmd.Flags().DurationVar(&duration, "duration", 90*time.Second, "simulated time")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		s, ok := severities()[severity]
		if !ok {
			return withCode(exitUsage, fmt.Errorf("--severity %q: use low, mid or high", severity))
		}
		run, err := faults.Play(cmd.Context(), argv[0], faults.Options{Severity: s, Seed: seed, Duration: duration})
		if err != nil {
			return withCode(exitUsage, fmt.Errorf("%w\nTry: inferencebench sim faults list", err))
		}
		dir := filepath.Join(out, fmt.Sprintf("fault-%s-%s-%d", argv[0], severity, seed))
		if err := run.Write(dir); err != nil {
			return withCode(exitUsage, err)
		}
		truth, err := json.MarshalIndent(run.Truth, "", "  ")
		if err != nil {
			return err
		}
		o := newOutput(cmd, "text", false)
		if _, err := finish(dir, nil, o); err != nil {
			return err
		}
		fmt.Fprintf(o.out, "Truth:  %s\n", truth)
		return nil
	}
	return cmd
}
