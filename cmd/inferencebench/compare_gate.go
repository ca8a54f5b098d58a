package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/analyst/compare"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/export"
)

// compareArgs asks for two runs or more before any --.
func compareArgs(cmd *cobra.Command, argv []string) error {
	runs, again := beforeDash(cmd, argv)
	if cmd.ArgsLenAtDash() >= 0 && len(again) == 0 {
		return errors.New("a command is missing behind --")
	}
	return cobra.MinimumNArgs(2)(cmd, runs)
}

// beforeDash parts the arguments at --.
func beforeDash(cmd *cobra.Command, argv []string) (before, after []string) {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return argv[:n], argv[n:]
	}
	return argv, nil
}

// maxCommandOutput bounds what is kept of a command's output.
const maxCommandOutput = 1 << 20

// again gates a second pair of runs, made by a command, where the first raised an alarm.
func (r *comparison) again(ctx context.Context, command []string, runs []comparable, rules []compare.Rule, opts compare.Options, o *output) error {
	h := &r.Heads[0]
	if h.Gate.State != compare.Fail {
		return nil
	}
	var second []comparable
	out, err := compare.TwoStage(ctx, runs[0].sample, runs[1].sample, rules, opts, func(ctx context.Context) (base, head *compare.Sample, err error) {
		fmt.Fprintf(o.msg, "The gate raises an alarm: %s\nA second pair of runs is made.\n", h.Gate.Reason)
		for _, which := range []string{"base", "head"} {
			dir, err := rerun(ctx, command, which, o.msg)
			if err != nil {
				return nil, nil, err
			}
			c, err := openComparable(dir, o)
			if err != nil {
				return nil, nil, err
			}
			second = append(second, c)
		}
		return second[0].sample, second[1].sample, nil
	})
	if err != nil {
		return withCode(exitUndecided, err)
	}
	h.Gate = out
	h.Gate = valid(h.Gate, second...)
	return nil
}

// rerun starts a command that makes one run, and returns the run directory that it prints.
func rerun(ctx context.Context, command []string, which string, msg io.Writer) (string, error) {
	argv := append(append([]string{}, command[1:]...), which)
	c := exec.CommandContext(ctx, command[0], argv...) //nolint:gosec // the user's own command
	var out outputTail
	c.Stdout, c.Stderr = &out, msg
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w", command[0], which, err)
	}
	lines := strings.Split(strings.TrimSpace(out.b.String()), "\n")
	dir := strings.TrimSpace(lines[len(lines)-1])
	if dir == "" {
		return "", fmt.Errorf("%s %s: its last line of output must be the run directory, and it printed nothing", command[0], which)
	}
	return dir, nil
}

// outputTail keeps the last bytes of what is written to it.
type outputTail struct{ b bytes.Buffer }

func (t *outputTail) Write(p []byte) (int, error) {
	t.b.Write(p)
	if extra := t.b.Len() - maxCommandOutput; extra > 0 {
		t.b.Next(extra)
	}
	return len(p), nil
}

// gateFiles writes what the gate says to the files that are named.
func (r *comparison) gateFiles(junit, markdown string) error {
	var gated []export.Gated
	for _, h := range r.Heads {
		gated = append(gated, export.Gated{Base: r.Base, Head: h.Run, Outcome: h.Gate, Differences: h.Differences, Quality: h.Quality})
	}
	for _, f := range []struct {
		path  string
		write func(io.Writer, []export.Gated) error
	}{{junit, export.GateJUnit}, {markdown, export.GateMarkdown}} {
		if f.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := f.write(&b, gated); err != nil {
			return err
		}
		if err := archive.WriteFileAtomic(f.path, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// valid makes a gate undecided where one of its runs is not valid.
func valid(g compare.Outcome, runs ...comparable) compare.Outcome {
	for _, c := range runs {
		if c.a.Verdict.State == archive.VerdictInvalid {
			g.State, g.Reason = compare.Undecided, c.run.Dir+" is not valid: "+c.a.Verdict.Headline
		}
	}
	return g
}
