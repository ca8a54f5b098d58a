//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// The two shapes of a reply: one at a rate, and one that stays open so long that all of a
// closed loop's streams are open together.
var (
	atRate = null.Shape{Chunks: 50, Gap: 10 * time.Millisecond, First: 50 * time.Millisecond}
	atOnce = null.Shape{Chunks: 20, Gap: 150 * time.Millisecond, First: 150 * time.Millisecond}
)

// outcome is one run of one client.
type outcome struct {
	Tool   string
	Round  int // 0 is the run of many streams at once
	Truth  truth
	Said   reported
	Usage  usage
	Failed string // why there is nothing to compare
}

func compare(o *options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	begin := time.Now()
	dir := o.keep
	if dir == "" {
		temp, err := os.MkdirTemp("", "peers")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = temp
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	srv, err := startServer(ctx)
	if err != nil {
		return err
	}
	defer srv.stop()
	all := tools(o)
	var missing []string
	all = slices.DeleteFunc(all, func(t tool) bool {
		if len(o.only) > 0 && !slices.ContainsFunc(o.only, func(s string) bool { return strings.EqualFold(s, t.name) }) {
			return true
		}
		if _, err := os.Stat(t.program); err != nil {
			missing = append(missing, t.name)
			return true
		}
		return false
	})
	if len(all) == 0 {
		return errors.New("no client is there to run; scripts/bench-peers installs them")
	}
	for i := range all {
		all[i].version = versionOf(ctx, o, &all[i])
	}
	var done []outcome
	slowest := time.Duration(0)
	for round := range o.rounds + 1 { // the first is that of many streams
		from := time.Now()
		if round > 1 && time.Since(begin)+slowest > o.budget {
			fmt.Fprintf(os.Stderr, "%d rounds fit into %v\n", round-1, o.budget)
			break
		}
		order := slices.Clone(all)
		if round%2 == 0 {
			slices.Reverse(order)
		}
		for i := range order {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			l := &load{shape: atRate, requests: o.requests, rate: o.rate}
			if round == 0 {
				l = &load{shape: atOnce, requests: o.users, users: o.users}
			}
			out := once(ctx, srv, o, &order[i], l, filepath.Join(dir, fmt.Sprintf("%d-%d", round, i)))
			out.Round = round
			done = append(done, out)
			fmt.Fprintln(os.Stderr, out.line())
		}
		if round > 0 {
			slowest = max(slowest, time.Since(from))
		}
	}
	return publish(ctx, o, all, missing, done, begin)
}

// once runs a client and compares.
func once(ctx context.Context, srv *server, o *options, t *tool, l *load, dir string) outcome {
	out := outcome{Tool: t.name}
	fail := func(err error) outcome {
		out.Failed = err.Error()
		return out
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	l.url = srv.url + l.shape.Path()
	args, err := t.args(l, dir)
	if err != nil {
		return fail(err)
	}
	if err := srv.get(ctx, "/journal/start", nil); err != nil {
		return fail(err)
	}
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	used, runErr := execute(limited, t, args, dir, null.NewClock())
	entries, err := srv.journal(ctx)
	if err != nil {
		return fail(err)
	}
	out.Truth = truthOf(newest(entries, l.requests))
	if used != nil {
		out.Usage = *used
	}
	out.Said, err = t.read(dir)
	if err != nil {
		return fail(errors.Join(runErr, err))
	}
	return out // a client that says so when it is not content with its run still has a result
}

// newest leaves out what clients send before the load, such as a first request that tries
// the server, or a measurement of themselves: the load comes last.
func newest(entries []null.Entry, n int) []null.Entry {
	slices.SortFunc(entries, func(a, b null.Entry) int {
		if a.Arrived < b.Arrived {
			return -1
		}
		return 1
	})
	return entries[max(0, len(entries)-n):]
}

func (o *outcome) line() string {
	if o.Failed != "" {
		return fmt.Sprintf("round %d: %-27s failed after %v: %s", o.Round, o.Tool, o.Usage.Took.Round(time.Second), o.Failed)
	}
	return fmt.Sprintf("round %d: %-27s %4d requests, %.1f/s, gap CV %.2f, dispersion %.2f, most at once %d, TTFT P50 %.2f (true %.2f) P99 %.2f (true %.2f), ITL P99 %.2f (true %.2f), %.3f CPU s a 1,000 chunks, %.0f MiB, took %v",
		o.Round, o.Tool, o.Truth.Requests, o.Truth.Rate, o.Truth.GapCV, o.Truth.Dispersion, o.Truth.Open,
		o.Said.TTFT.P50, o.Truth.TTFT.P50, o.Said.TTFT.P99, o.Truth.TTFT.P99, o.Said.ITL.P99, o.gap().P99, o.cpu(), float64(o.Usage.Peak)/(1<<20), o.Usage.Took.Round(100*time.Millisecond))
}

// gap is what the client's inter-token latency is to be compared with.
func (o *outcome) gap() pair {
	if o.Said.Mean {
		return o.Truth.MeanGap
	}
	return o.Truth.Gap
}

// cpu is the processor time per 1,000 chunks while load was there, in seconds.
func (o *outcome) cpu() float64 {
	return 1000 * o.Usage.between(o.Truth.From, o.Truth.To) / float64(max(1, o.Truth.Chunks))
}
