package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/tasks/scenario"
)

func newScenarios() *cobra.Command {
	return &cobra.Command{
		Use:   "scenarios",
		Short: "list the built-in traffic that run --scenario sends",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tSESSIONS/S\tDURATION\tWHAT\tNUMBERS FROM")
			for _, s := range scenario.All() {
				fmt.Fprintf(w, "%s\t%g\t%v\t%s\t%s\n", s.Name, s.Rate, s.Duration, s.About, s.Source)
			}
			return w.Flush()
		},
	}
}
