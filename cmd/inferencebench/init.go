package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

// campaignTemplate is the commented file that `init` writes. A test loads it, so that it
// stays valid.
//
//go:embed campaign.yaml
var campaignTemplate []byte

// studyTemplate is what `init --study` writes.
//
//go:embed study.yaml
var studyTemplate []byte

func newInit() *cobra.Command {
	var study bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "write a commented campaign file, or a study file",
		Long: "Writes a campaign file with every field, its default and its meaning, or with --study a study file. " +
			"FILE defaults to campaign.yaml or study.yaml; - prints it.",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, argv []string) error {
			path, text, verb := "campaign.yaml", campaignTemplate, "run"
			if study {
				path, text, verb = "study.yaml", studyTemplate, "tune"
			}
			if len(argv) == 1 {
				path = argv[0]
			}
			if path == "-" {
				_, err := cmd.OutOrStdout().Write(text)
				return err
			}
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
			if errors.Is(err, fs.ErrExist) {
				return withCode(exitUsage, fmt.Errorf("%s exists, and is left as it is\nTry: inferencebench init other.yaml", path))
			}
			if err != nil {
				return withCode(exitUsage, err)
			}
			_, werr := f.Write(text)
			if err := errors.Join(werr, f.Close()); err != nil {
				return withCode(exitUsage, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s. Run it with: inferencebench %s %s\n", path, verb, path)
			return nil
		},
	}
	cmd.Flags().BoolVar(&study, "study", false, "write a study file, for tune")
	return cmd
}
