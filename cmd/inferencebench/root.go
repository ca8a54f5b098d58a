package main

import (
	"io"

	"github.com/spf13/cobra"
)

const rootLong = `InferenceBench benchmarks LLM inference servers the way real users load them, says
what limits them, and shows its evidence.

  inferencebench run                              the built-in campaign, on a simulated engine
  inferencebench run --url http://localhost:8000  your server
  inferencebench report RUN                       open a run again`

// newRoot returns a fresh command tree that writes to the two writers.
func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "inferencebench",
		Short:         "benchmark and diagnose LLM inference servers",
		Long:          rootLong,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          args(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return withCode(exitUsage, usageError{cmd: cmd, err: err})
	})
	root.AddCommand(
		newRun(),
		newTune(),
		newProbe(),
		newEval(),
		newReplay(),
		newAnalyze(),
		newReport(),
		newCompare(),
		newBaseline(),
		newExport(),
		newDefinitions(),
		newImport(),
		newServe(),
		newInit(),
		newDoctor(),
		newEngines(),
		newDatasets(),
		newLearn(),
		newSim(),
		newScenarios(),
		newTrace(),
		newMCP(),
		&cobra.Command{
			Use:   "exit-codes",
			Short: "what each exit code means",
			Long:  "What each exit code means:\n\n" + exitCodesHelp,
		},
	)
	return root
}

// usageError adds the way out to a wrong command line.
type usageError struct {
	cmd *cobra.Command
	err error
}

func (e usageError) Error() string {
	return e.err.Error() + "\nTry: " + e.cmd.CommandPath() + " --help"
}

func (e usageError) Unwrap() error { return e.err }

// args wraps an argument check so that a wrong count is a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, a []string) error {
		if err := check(cmd, a); err != nil {
			return withCode(exitUsage, usageError{cmd: cmd, err: err})
		}
		return nil
	}
}
