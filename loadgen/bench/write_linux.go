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

// atWrite returns a quantile of how late requests are written, in microseconds: from the
// planned instant to the write, at 1,000 requests a second of even gaps for three seconds,
// through the load engine as a campaign uses it. What the machine does to a thread that
// only sleeps stands beside it on standard error, since nobody's pacer wakes before its
// machine lets it.
func atWrite(q float64) func() (float64, error) {
	return func() (float64, error) {
		srv, err := startServer()
		if err != nil {
			return 0, err
		}
		defer srv.stop()
		before := overshoot()
		clock := archive.NewRunClock()
		c, err := wire.New(wire.Config{BaseURL: srv.url + "/c1-g0-f0-b1", Model: "null", Clock: clock})
		if err != nil {
			return 0, err
		}
		defer c.Close()
		pacer, closePacer := newPacer(clock)
		defer closePacer()
		var mu sync.Mutex
		var late []time.Duration
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
				case archive.StatusFailed:
					failed++
					return
				default: // open when the load ended
					return
				}
				late = append(late, rec.T.Send.Sub(rec.T.Intended))
			},
		}, []loadgen.Phase{{Name: "write", Source: source, Rate: 1000, Arrival: arrival.Constant{Rate: 1000}, Duration: 3 * time.Second, Warmup: loadgen.Warmup{Duration: 500 * time.Millisecond}}})
		if err != nil {
			return 0, err
		}
		if failed > 0 || len(late) < 1500 {
			return 0, fmt.Errorf("%d requests came, %d failed", len(late), failed)
		}
		slices.Sort(late)
		got := late[int(q*float64(len(late)-1))]
		after := overshoot()
		fmt.Fprintf(os.Stderr, "pacing at the write: P%g %v; a thread that only sleeps overshoots by %v before and %v after (P%g)%s\n",
			100*q, got, before.at(q), after.at(q), 100*q, overshooting(max(before.at(q), after.at(q)), q))
		return float64(got) / 1e3, nil
	}
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
