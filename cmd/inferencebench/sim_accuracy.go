package main

import (
	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/sim/accuracy"
)

func newSimAccuracy() *cobra.Command {
	return &cobra.Command{
		Use:   "accuracy FILE",
		Short: "compare the simulator with a table of measured servers",
		Long: `Compares the simulator's time to first token and time per output token with a table of
measured servers (the silicon samples of AIConfigurator, as CSV), and prints error and bias
by model, engine and regime. docs/simulator.md says what follows from it.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, argv []string) error {
			if err := accuracy.Run(cmd.Context(), argv[0], cmd.OutOrStdout()); err != nil {
				return withCode(exitUsage, err)
			}
			return nil
		},
	}
}
