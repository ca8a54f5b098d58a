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

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "write a commented campaign file",
		Long:  "Writes a campaign file with every field, its default and its meaning. FILE defaults to campaign.yaml; - prints it.",
		Args:  args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, argv []string) error {
			path := "campaign.yaml"
			if len(argv) == 1 {
				path = argv[0]
			}
			if path == "-" {
				_, err := cmd.OutOrStdout().Write(campaignTemplate)
				return err
			}
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
			if errors.Is(err, fs.ErrExist) {
				return withCode(exitUsage, fmt.Errorf("%s exists, and is left as it is\nTry: inferencebench init other.yaml", path))
			}
			if err != nil {
				return withCode(exitUsage, err)
			}
			_, werr := f.Write(campaignTemplate)
			if err := errors.Join(werr, f.Close()); err != nil {
				return withCode(exitUsage, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s. Run it with: inferencebench run %s\n", path, path)
			return nil
		},
	}
}
