package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/charmbracelet/log"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/report/mcp"
)

const mcpLong = `Serves run, analyze, compare, probe, trial and tune as tools of the Model Context Protocol
on standard input and output, so that a coding agent can measure and tune servers under the
same protocol and budgets as people.

The agent names targets that are given here, and no others. One given as NAME=URL, or as
NAME=campaign.yaml for headers, key and certificates, may be measured and is never changed.
One given with --study may also be restarted with other settings, of the study file's knobs
and within its protocol, and is restored at the end. Without either, the simulated engine in
this program is the target.

Add it to a coding agent as a server that is started with this command line.`

type mcpFlags struct {
	targets, studies []string
	runs             string
	limits           mcp.Limits
}

func newMCP() *cobra.Command {
	f := &mcpFlags{limits: mcp.DefaultLimits()}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "offer the program to a coding agent, as tools with allow-lists and budgets",
		Long:  mcpLong,
		Example: `  inferencebench mcp
  inferencebench mcp --target staging=http://10.0.0.7:8000 --budget 1h --max-concurrency 32
  inferencebench mcp --study lab=study.yaml --target prod=campaign.yaml`,
		Args: args(cobra.NoArgs),
	}
	s := cmd.Flags()
	s.SortFlags = false
	s.StringArrayVar(&f.targets, "target", nil, "server that may be measured: NAME=URL, or NAME=campaign.yaml; repeatable")
	s.StringArrayVar(&f.studies, "study", nil, "server that may also be tuned, as a study file with a launch command says: NAME=study.yaml; repeatable")
	s.StringVar(&f.runs, "runs", "runs", "folder of run directories; none outside it can be read")
	s.DurationVar(&f.limits.Time, "budget", f.limits.Time, "time that tools may work in this session")
	s.IntVar(&f.limits.Requests, "requests", f.limits.Requests, "requests that may be sent in this session")
	s.IntVar(&f.limits.Concurrency, "max-concurrency", f.limits.Concurrency, "most users of a run")
	s.Float64Var(&f.limits.Rate, "max-request-rate", f.limits.Rate, "most sessions a second of a run")
	s.DurationVar(&f.limits.Duration, "max-duration", f.limits.Duration, "longest run")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return serveMCP(cmd.Context(), f, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// serveMCP serves one session until the client leaves or ctx ends.
func serveMCP(ctx context.Context, f *mcpFlags, in io.Reader, out, msg io.Writer) error {
	logger := slog.New(log.NewWithOptions(msg, log.Options{Level: log.WarnLevel}))
	targets, err := f.open()
	if err != nil {
		return withCode(exitUsage, err)
	}
	srv, err := mcp.New(mcp.Config{
		Targets: targets, Runs: f.runs, Limits: f.limits, Version: version, Now: time.Now,
		Actions: &mcpActions{runs: f.runs, log: logger},
	})
	if err != nil {
		return withCode(exitUsage, err)
	}
	fmt.Fprintf(msg, "inferencebench mcp: %d target(s), %v and %d requests; waiting for a client\n", len(targets), f.limits.Time, f.limits.Requests)
	err = srv.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: 1 << 20})
	if ctx.Err() != nil {
		return withCode(exitInterrupted, fmt.Errorf("mcp: %w", context.Cause(ctx)))
	}
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}

// unclosed keeps standard output open when a transport closes.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
