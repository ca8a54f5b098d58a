package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/engines"
)

func newEngines() *cobra.Command {
	return &cobra.Command{
		Use:   "engines [NAME]",
		Short: "what each engine can be seen to do",
		Long: `Lists the engines that InferenceBench knows, and how much of each can be seen. With a
name: its signals, its settings, and what to switch on to see more.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, argv []string) error {
			if len(argv) == 0 {
				return listEngines(cmd)
			}
			a, ok := engines.Lookup(argv[0])
			if !ok {
				return withCode(exitUsage, fmt.Errorf("no engine %q\nTry: inferencebench engines", argv[0]))
			}
			return showEngine(cmd, a)
		},
	}
}

func listEngines(cmd *cobra.Command) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tENGINE\tSEEN\tSIGNALS\tKNOBS\tMETRICS PAGE")
	for _, a := range engines.Table() {
		page := "none"
		if len(a.Metrics.Paths) > 0 {
			page = strings.Join(a.Metrics.Paths, " ")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d of %d\t%d\t%s\n", a.Name, a.Title, strings.ReplaceAll(a.Tier, "_", " "),
			len(a.Sources), len(engines.Canonical()), len(a.Knobs), page)
	}
	return w.Flush()
}

func showEngine(cmd *cobra.Command, a *engines.Adapter) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s (%s)\n%s\n\nSignals\n", a.Title, a.Name, a.About)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range engines.Canonical() {
		from := "not exposed"
		if c := a.Sources[s.Name]; len(c) > 0 {
			from = c[0].Metric
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", s.Name, from, s.Means)
	}
	if len(a.Knobs) > 0 {
		fmt.Fprintln(w, "\nSettings\t\t")
		for _, k := range a.Knobs {
			fmt.Fprintf(w, "  %s\tdefault %s\t%s\n", k.Name, orNone(k.Default), k.Effect)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(a.Advice) > 0 {
		fmt.Fprintln(out, "\nTo see more")
		for _, d := range a.Advice {
			fmt.Fprintf(out, "  %s: %s\n", d.Missing, d.Do)
		}
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
