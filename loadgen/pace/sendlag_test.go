package pace_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/loadgen/pace"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// once is a session of one turn.
type once struct{ asked bool }

func (s *once) Next(string) (tasks.Turn, bool) {
	first := !s.asked
	s.asked = true
	return tasks.Turn{User: "x"}, first
}

// lags drives n constant arrivals a second for a second through the load driver, and
// returns how late each was at the sender, in order of size; those that a stall of the
// machine at the end kept from being sent are left out.
func lags(ctx context.Context, clock archive.Clock, pacer loadgen.Pacer, rate float64) ([]time.Duration, error) {
	var mu sync.Mutex
	var out []time.Duration
	unsent := 0
	err := loadgen.Run(ctx, loadgen.Config{
		Clock: clock, Pacer: pacer,
		Sender: loadgen.SenderFunc(func(_ context.Context, _ *wire.Call, rec *archive.Request) {
			rec.T.Send = clock.Now()
			rec.T.Done, rec.Status = rec.T.Send, archive.StatusOK
		}),
		Record: func(r *archive.Request) {
			mu.Lock()
			defer mu.Unlock()
			if !r.T.Send.Known() {
				unsent++
				return
			}
			out = append(out, r.T.Send.Sub(r.T.Intended))
		},
	}, []loadgen.Phase{{
		Name: "p", Source: tasks.SourceFunc(func(uint64) tasks.Session { return new(once) }),
		Rate: rate, Arrival: arrival.Constant{Rate: rate}, Duration: time.Second,
	}})
	slices.Sort(out)
	if n := len(out) + unsent; err == nil && n != int(rate) {
		err = fmt.Errorf("%d requests are accounted for; want %g", n, rate)
	}
	return out, err
}

// The driver paced by the thread sends every request, and none of them early.
func TestDriverWithThePacer(t *testing.T) {
	clock := archive.NewRunClock()
	p := pace.New(clock)
	defer p.Close()
	got, err := lags(t.Context(), clock, p, 500)
	if err != nil || len(got) == 0 || got[0] < 0 {
		t.Fatalf("%d requests sent, %v; want all 500 accounted for, and none early", len(got), err)
	}
	t.Logf("%d sent, late by %v (P50), %v (P99); pacer %+v", len(got), got[len(got)/2], got[len(got)*99/100], p.Stats())
}

// BenchmarkSendLag reports how late requests reach the sender at 1,000 a second, through
// the whole driver: with the thread and with timers.
func BenchmarkSendLag(b *testing.B) {
	clock := archive.NewRunClock()
	for name, thread := range map[string]bool{"thread": true, "timer": false} {
		b.Run(name, func(b *testing.B) {
			var pacer loadgen.Pacer
			if thread {
				p := pace.New(clock)
				defer p.Close()
				pacer = p
			}
			var all []time.Duration
			for b.Loop() {
				got, err := lags(b.Context(), clock, pacer, 1000)
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, got...)
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2])/1e3, "p50-us")
			b.ReportMetric(float64(all[len(all)*99/100])/1e3, "p99-us")
		})
	}
}
