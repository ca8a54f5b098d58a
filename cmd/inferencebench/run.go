package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/campaign"
)

const runLong = `Runs a campaign and writes a run directory with the report.

Without a target it runs the built-in campaign against a simulated engine inside this
program: a demonstration, not a measurement. With --url it loads that server.

A campaign file holds everything that a flag can say, and several phases besides;
` + "`inferencebench init`" + ` writes one with comments. Flags win over the file.`

func newRun() *cobra.Command {
	f := &runFlags{}
	var show shown
	var p probeFlags
	cmd := &cobra.Command{
		Use:   "run [campaign.yaml]",
		Short: "run a campaign and write the report",
		Long:  runLong,
		Example: `  inferencebench run
  inferencebench run --url http://localhost:8000 --concurrency 16 --duration 2m
  inferencebench run --url http://localhost:8000 --request-rate 4 --slo 'ttft_p99<500ms'
  inferencebench run campaign.yaml --out results`,
		Args: args(cobra.MaximumNArgs(1)),
	}
	f.register(cmd)
	show.register(cmd)
	cmd.Flags().DurationVar(&p.budget, "confirm", 0, "afterwards make experiments about what limits the server, for this long (see probe)")
	cmd.Flags().Lookup("confirm").NoOptDefVal = defaultBudget.String()
	p.leave(cmd)
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		o, err := show.output(cmd)
		if err != nil {
			return err
		}
		c, err := resolve(f, f.base(), argv)
		if err != nil {
			return withCode(exitUsage, err)
		}
		p.mark(c)
		if p.budget > 0 && c.Find == "" {
			return runAndProbe(cmd.Context(), c, &p, o)
		}
		return runCampaign(cmd.Context(), c, o)
	}
	return cmd
}

// resolve joins defaults, campaign file and flags into one valid configuration.
func resolve(f *runFlags, c *campaign.Config, argv []string) (*campaign.Config, error) {
	locate := func(err error) error { return err }
	if len(argv) == 1 {
		file, err := campaign.Load(argv[0], campaign.Default())
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("%w\nTry: inferencebench init %s", err, argv[0])
			}
			return nil, err
		}
		c, locate = file.Config, file.Locate
	}
	if err := f.apply(c); err != nil {
		return nil, err
	}
	c.Resolve()
	if err := c.Validate(); err != nil {
		return nil, locate(f.blame(err))
	}
	return c, nil
}
