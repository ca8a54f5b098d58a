package main

import (
	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/campaign"
)

const evalLong = `Sends nothing but scored items, each once, and reports how many answers are right. The
items are the built-in ones, or GSM8K and HumanEval from a file. The answers of two runs
with the same seed are to the same items, so that they can be compared item by item.`

func newEval() *cobra.Command {
	f := &runFlags{}
	var show shown
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "score a server's answers, without a load beside them",
		Long:  evalLong,
		Example: `  inferencebench eval --url http://localhost:8000
  inferencebench eval --url http://localhost:8000 --checkpoint-kinds all --determinism 4
  inferencebench eval --url http://localhost:8000 --gsm8k test.jsonl --checkpoint-items 250`,
		Args: args(cobra.NoArgs),
	}
	f.register(cmd)
	show.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		o, err := show.output(cmd)
		if err != nil {
			return err
		}
		c, err := resolve(f, campaign.Eval(), argv)
		if err != nil {
			return withCode(exitUsage, err)
		}
		return runCampaign(cmd.Context(), c, o)
	}
	return cmd
}
