package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/sim/faults"
	"github.com/inferencebench/inferencebench/sim/server"
)

// severities are the grades of a condition by their names.
func severities() map[string]faults.Severity {
	return map[string]faults.Severity{"low": faults.Low, "mid": faults.Mid, "high": faults.High}
}

// newFaultsServe serves a condition over HTTP and says which load brings it out.
func newFaultsServe() *cobra.Command {
	var listen, severity string
	var seed uint64
	var speed float64
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "serve ID",
		Short: "serve a server in a condition over HTTP, and say which load brings it out",
		Args:  args(cobra.ExactArgs(1)),
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8000", "address to listen on")
	f.StringVar(&severity, "severity", "mid", "low, mid or high")
	f.Uint64Var(&seed, "seed", 1, "seed")
	f.DurationVar(&duration, "duration", 15*time.Minute, "simulated time that the condition lasts, and over which one that grows does so")
	f.Float64Var(&speed, "speed", 1, "simulated seconds a second")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		s, ok := severities()[severity]
		if !ok {
			return withCode(exitUsage, fmt.Errorf("--severity %q: use low, mid or high", severity))
		}
		l, err := faults.Prepare(cmd.Context(), argv[0], faults.Options{Severity: s, Seed: seed, Duration: duration})
		if err != nil {
			return withCode(exitUsage, fmt.Errorf("%w\nTry: inferencebench sim faults list", err))
		}
		l.Server.Speed = speed
		srv, err := server.New(l.Server)
		if err != nil {
			return withCode(exitUsage, err)
		}
		url, err := srv.Start(listen)
		if err != nil {
			return withCode(exitUsage, err)
		}
		truth, err := json.Marshal(l.Truth)
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		fmt.Fprintf(out, "ready %s (a simulation in condition %s: %s)\n", url, l.Truth.Condition, l.Truth.Name)
		fmt.Fprintf(out, "Truth: %s\n", truth)
		fmt.Fprintf(out, "Load:  %s\n", faultLoad(url, l, speed))
		<-cmd.Context().Done()
		return srv.Close()
	}
	return cmd
}

// faultLoad is the command whose load brings a condition out: the means of its lengths, and
// its rate or its users.
func faultLoad(url string, l *faults.Live, speed float64) string {
	const n = 400
	in, out, turns := 0, 0, 0
	for range n {
		s, ok := l.Sessions.Next()
		if !ok {
			break
		}
		for _, t := range s.Turns {
			in += t.Prompt
			out += t.Output
			turns++
		}
	}
	turns = max(turns, 1)
	load := fmt.Sprintf("--concurrency %d", l.Concurrency)
	if l.Concurrency == 0 {
		load = fmt.Sprintf("--request-rate %.3g", l.Rate*speed)
	}
	return fmt.Sprintf("inferencebench run --url %s %s --isl %d --osl %d --duration 90s --no-checkpoints", url, load, max(1, in/turns), max(1, out/turns))
}
