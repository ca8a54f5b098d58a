package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// writes holds the measurements of pacing at the write, so that the figures of a repeat
// are from one. It belongs to one goroutine.
type writes []delays

// at returns a quantile of the next measurement, in microseconds, each time it is called.
func (w *writes) at(q float64) func() (float64, error) {
	n := 0
	return func() (float64, error) {
		if n == len(*w) {
			late, err := atWrite()
			if err != nil {
				return 0, err
			}
			*w = append(*w, late)
		}
		n++
		return float64((*w)[n-1].at(q)) / 1e3, nil
	}
}

// atWrite measures how late requests are written: from the
// planned instant to the write, at 1,000 requests a second of even gaps for three seconds,
// through the load engine as a campaign uses it. What the machine does to a thread that
// only sleeps stands beside it on standard error, since nobody's pacer wakes before its
// machine lets it.
func atWrite() (delays, error) {
	srv, err := startServer()
	if err != nil {
		return nil, err
	}
	defer srv.stop()
	before := overshoot()
	clock := archive.NewRunClock()
	c, err := wire.New(wire.Config{BaseURL: srv.url + "/c1-g0-f0-b1", Model: "null", Clock: clock})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	pacer, closePacer := newPacer(clock)
	defer closePacer()
	var mu sync.Mutex
	var late delays
	failed, id := 0, 0
	source := tasks.SourceFunc(func(uint64) tasks.Session { return &oneTurn{} })
	err = loadgen.Run(context.Background(), loadgen.Config{
		Sender: c, Clock: clock, Pacer: pacer, Event: func(archive.Event) {},
		NewID: func() string { mu.Lock(); defer mu.Unlock(); id++; return strconv.Itoa(id) },
		Record: func(rec *archive.Request) {
			mu.Lock()
			defer mu.Unlock()
			switch rec.Status {
			case archive.StatusOK:
				late = append(late, rec.T.Send.Sub(rec.T.Intended))
			case archive.StatusFailed:
				failed++
			default: // open when the load ended
			}
		},
	}, []loadgen.Phase{{Name: "write", Source: source, Rate: 1000, Arrival: arrival.Constant{Rate: 1000}, Duration: 3 * time.Second, Warmup: loadgen.Warmup{Duration: 500 * time.Millisecond}}})
	if err != nil {
		return nil, err
	}
	if failed > 0 || len(late) < 1500 {
		return nil, fmt.Errorf("%d requests came, %d failed", len(late), failed)
	}
	slices.Sort(late)
	after := overshoot()
	for _, q := range []float64{0.5, 0.99} {
		machine := max(before.at(q), after.at(q))
		fmt.Fprintf(os.Stderr, "pacing at the write: P%g %v; a thread that only sleeps overshoots by up to %v%s\n", 100*q, late.at(q), machine, overshooting(machine, q))
	}
	return late, nil
}

// overshooting says so where the machine alone does not keep the goal.
func overshooting(d time.Duration, q float64) string {
	goal := 50 * time.Microsecond
	if q > 0.5 {
		goal = time.Millisecond
	}
	if d > goal {
		return fmt.Sprintf(": this machine overshoots the goal of %v by itself", goal)
	}
	return ""
}

type delays []time.Duration

func (d delays) at(q float64) time.Duration { return d[int(q*float64(len(d)-1))] }

// overshoot is how late the machine wakes a thread that asks for a millisecond of sleep,
// with no Go scheduler and no timer slack in between.
func overshoot() delays {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	d := make(delays, 400)
	for i := range d {
		from := time.Now()
		ts := unix.NsecToTimespec(int64(time.Millisecond))
		_ = unix.Nanosleep(&ts, nil)
		d[i] = max(0, time.Since(from)-time.Millisecond)
	}
	slices.Sort(d)
	return d
}
