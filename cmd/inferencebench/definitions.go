package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/analyst/peers"
	"github.com/inferencebench/inferencebench/archive"
)

func newDefinitions() *cobra.Command {
	return &cobra.Command{
		Use:   "definitions RUN",
		Short: "what other tools would have printed for the same requests, and why it differs",
		Long: `Recomputes, from the raw records of a run, what other load generators would have printed:
where the clock starts and ends, what counts as a token or a gap, which requests are in.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, argv []string) error {
			run, err := archive.Open(argv[0])
			if err != nil {
				return withCode(exitUsage, err)
			}
			rows, err := peers.Compute(run.Requests())
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprint(w, "metric\t")
			for _, n := range peers.Names() {
				fmt.Fprintf(w, "%s\t", n)
			}
			fmt.Fprintln(w)
			for _, r := range rows {
				fmt.Fprintf(w, "%s (%s)\t", r.Metric, r.Unit)
				for _, n := range peers.Names() {
					cell := "-"
					if v, has := r.Values[n]; has {
						cell = "no sample"
						if x, ok := v.Get(); ok {
							cell = fmt.Sprintf("%.4g", x)
						}
					}
					fmt.Fprintf(w, "%s\t", cell)
				}
				fmt.Fprintln(w)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout())
			for _, r := range rows {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", r.Metric, r.Why)
			}
			return nil
		},
	}
}
