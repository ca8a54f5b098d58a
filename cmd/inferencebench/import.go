package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/analyst/imports"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
)

func newImport() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "turn another tool's results into run directories",
		Long: `Reads result files of vLLM's and SGLang's serving benchmarks, AIPerf and guidellm, or a
plain CSV of a sweep, and writes each run as a run directory that report, export, compare
and serve can open. It says what a file cannot support.`,
		Args: args(cobra.MinimumNArgs(1)),
	}
	cmd.Flags().StringVar(&out, "out", campaign.DefaultOut, "folder for run directories")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		o := newOutput(cmd, "text", false)
		analyze := func(run *archive.Run) (*archive.Analysis, error) {
			return analyst.Analyze(run, analyst.Options{})
		}
		var errs []error
		for _, path := range argv {
			runs, err := imports.Read(path)
			if err != nil {
				errs = append(errs, err) // the other files are still worth reading
				continue
			}
			for _, im := range runs {
				dir := filepath.Join(out, im.Manifest.ID)
				if err := im.Save(dir, analyze); err != nil {
					errs = append(errs, err)
					continue
				}
				fmt.Fprintf(o.out, "%s (%s): %s\n", path, im.Format, dir)
				for _, c := range im.Cannot {
					fmt.Fprintf(o.out, "  cannot: %s\n", c.Message)
				}
			}
		}
		if err := errors.Join(errs...); err != nil {
			return withCode(exitUsage, err)
		}
		return nil
	}
	return cmd
}
