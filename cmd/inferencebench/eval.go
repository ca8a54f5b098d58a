package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/campaign"
)

const evalLong = `Sends nothing but scored items, each once, and reports how many answers are right. The
items are the built-in ones, or GSM8K and HumanEval from a file. The answers of two runs
with the same seed are to the same items, so that they can be compared item by item.`

func newEval() *cobra.Command {
	f := &runFlags{}
	var format string
	var quiet bool
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
	cmd.Flags().StringVar(&format, "format", "text", "what to print at the end: text, or json (analysis.json on standard output)")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no progress and no summary, only the report's path")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		if format != "text" && format != "json" {
			return withCode(exitUsage, fmt.Errorf("--format %q: use text or json", format))
		}
		c, err := resolve(f, campaign.Eval(), argv)
		if err != nil {
			return withCode(exitUsage, err)
		}
		return runCampaign(cmd.Context(), c, newOutput(cmd, format, quiet))
	}
	return cmd
}
