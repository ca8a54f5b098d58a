package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/campaign"
)

func newReplay() *cobra.Command {
	f := &runFlags{}
	var format string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "replay FILE|RUN",
		Short: "send a frozen workload again, to compare servers or settings",
		Long: `Sends what an earlier run sent, at the times at which it was due then. The workload file
is refused when its content is not what its hash says. With --history same, the default,
every prompt is the same byte for byte, whatever the server answers now; with live the
present replies are the history.`,
		Example: "  inferencebench replay runs/RUN --url http://localhost:8000",
		Args:    args(cobra.ExactArgs(1)),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "what to print at the end: text, or json (analysis.json on standard output)")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no progress and no summary, only the report's path")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		path := argv[0]
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, campaign.WorkloadFile)
		}
		if err := cmd.Flags().Set("replay", path); err != nil {
			return err
		}
		if format != "text" && format != "json" {
			return withCode(exitUsage, fmt.Errorf("--format %q: use text or json", format))
		}
		c, err := resolve(f, f.base(), nil)
		if err != nil {
			return withCode(exitUsage, err)
		}
		return runCampaign(cmd.Context(), c, newOutput(cmd, format, quiet))
	}
	return cmd
}
