package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/tasks/learn"
)

func newLearn() *cobra.Command {
	var o learn.Options
	var out string
	cmd := &cobra.Command{
		Use:   "learn LOG...",
		Short: "learn a private workload model from your own access logs",
		Long: `Reads access logs (OpenAI-style JSONL, vLLM request logs, LiteLLM, OTLP, CSV) and writes a
workload model: lengths, turns, think times, task mix, burstiness, prefix sharing.
Names, mail addresses, phone numbers, keys, cards, addresses, URLs and ids are replaced by
typed placeholders; with --no-text no text is kept at all.`,
		Example: "  inferencebench learn access.jsonl -o mine.json\n  inferencebench run --url $URL --workload mine.json --request-rate 4",
		Args:    args(cobra.MinimumNArgs(1)),
	}
	cmd.Flags().StringVarP(&out, "output", "o", "workload.json", "file to write; - is standard output")
	cmd.Flags().BoolVar(&o.NoText, "no-text", false, "keep no text at all")
	cmd.Flags().BoolVar(&o.Raw, "raw", false, "keep texts as they are: only for logs that are known to hold nothing personal")
	cmd.Flags().IntVar(&o.Examples, "examples", 20, "cleaned prompts to keep of each task kind")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of the choice of examples")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		l := learn.New(o)
		for _, path := range argv {
			if err := learnFile(l, path, cmd.ErrOrStderr()); err != nil {
				return withCode(exitUsage, err)
			}
		}
		m, err := l.Model()
		if err != nil {
			return withCode(exitUsage, err)
		}
		if out == "-" {
			return m.Write(cmd.OutOrStdout())
		}
		f, err := os.Create(out)
		if err != nil {
			return withCode(exitUsage, err)
		}
		if err := errors.Join(m.Write(f), f.Close()); err != nil {
			return err
		}
		printLearned(cmd.OutOrStdout(), m, out)
		return nil
	}
	return cmd
}

func learnFile(l *learn.Learner, path string, msg io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const shown = 5
	bad := 0
	for r, err := range learn.Records(path, f) {
		if err == nil {
			l.Add(r)
			continue
		}
		if _, ok := errors.AsType[*learn.LineError](err); !ok {
			return err
		}
		l.Skip()
		if bad++; bad <= shown {
			fmt.Fprintf(msg, "skipped: %v\n", err)
		}
	}
	if bad > shown {
		fmt.Fprintf(msg, "skipped: %d more lines of %s\n", bad-shown, path)
	}
	return nil
}

func printLearned(w io.Writer, m *learn.Model, path string) {
	fmt.Fprintf(w, "Wrote %s: %d requests, %d sessions, %.2f sessions/s, %.1f turns a session\n", path, m.Rows, m.Sessions, m.Rate, m.MeanTurns)
	kinds := make([]string, 0, len(m.Removed))
	for k := range m.Removed {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		fmt.Fprintf(w, "  replaced %d of kind %s\n", m.Removed[k], k)
	}
	for _, n := range m.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
}
