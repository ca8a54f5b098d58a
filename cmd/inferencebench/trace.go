package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/tasks/trace"
)

func newTrace() *cobra.Command {
	return &cobra.Command{
		Use:   "trace FILE",
		Short: "say what a recorded trace holds: rows, rates, burstiness, lengths",
		Long: `Reads a trace (Azure, Mooncake, BurstGPT, Bailian, etalon or JSONL) and says what it holds,
and what would go wrong in a replay. ` + "`run --trace FILE`" + ` replays it.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, argv []string) error {
			t, err := trace.Load(argv[0])
			if err != nil {
				return withCode(exitUsage, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), trace.Inspect(t))
			return nil
		},
	}
}
