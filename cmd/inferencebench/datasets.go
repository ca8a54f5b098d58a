package main

import (
	"errors"
	"fmt"
	"net/http"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/evals/datasets"
)

func newDatasets() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "datasets",
		Short: "list and fetch the public item sets that are not built in",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := datasets.Dir()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tLICENCE\tWHERE\tWHAT")
			for _, d := range datasets.Known() {
				path, ok := d.Cached(dir)
				if !ok {
					path = "not here: inferencebench datasets pull " + d.Name
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.Name, d.Licence, path, d.About)
			}
			return w.Flush()
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "pull NAME...",
		Short: "fetch item sets into the cache folder and check their checksums",
		Args:  args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, argv []string) error {
			dir, err := datasets.Dir()
			if err != nil {
				return err
			}
			for _, name := range argv {
				d, err := datasets.Lookup(name)
				if err != nil {
					return withCode(exitUsage, err)
				}
				path, err := datasets.Pull(cmd.Context(), http.DefaultClient, d, dir)
				if ue, ok := errors.AsType[*datasets.UnreachableError](err); ok {
					return withCode(exitUnreachable, ue)
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", d.Name, path)
			}
			return nil
		},
	})
	return cmd
}
