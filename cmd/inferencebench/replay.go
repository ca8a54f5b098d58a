package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/campaign"
)

func newReplay() *cobra.Command {
	f := &runFlags{}
	var show shown
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
	show.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		path := argv[0]
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, campaign.WorkloadFile)
		}
		if err := cmd.Flags().Set("replay", path); err != nil {
			return err
		}
		o, err := show.output(cmd)
		if err != nil {
			return err
		}
		c, err := resolve(f, f.base(), nil)
		if err != nil {
			return withCode(exitUsage, err)
		}
		return runCampaign(cmd.Context(), c, o)
	}
	return cmd
}
