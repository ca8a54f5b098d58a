package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/monitor/doctor"
)

func newDoctor() *cobra.Command {
	f := &runFlags{}
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "look at a server and at this machine before a run",
		Long: `Says what a server can be seen to do, what of that is switched off and how to switch it
on, and what on this machine would disturb a measurement. It sends no load and changes
nothing. Without --url it looks at this machine alone.`,
		Example: "  inferencebench doctor --url http://localhost:8000",
		Args:    args(cobra.NoArgs),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "what to print: text or json")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		if err := checkFormat(format); err != nil {
			return err
		}
		c, err := resolve(f, campaign.Default(), argv)
		if err != nil {
			return withCode(exitUsage, err)
		}
		r, err := campaign.Examine(cmd.Context(), c, campaign.Options{})
		if err != nil {
			return err
		}
		if format == "json" {
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetIndent("", "  ")
			err = e.Encode(r)
		} else {
			err = r.Write(cmd.OutOrStdout())
		}
		if err != nil {
			return err
		}
		if r.Worst() == doctor.Fail {
			return withCode(exitUnreachable, fmt.Errorf("a run makes no sense like this: see the failed checks"))
		}
		return nil
	}
	return cmd
}
