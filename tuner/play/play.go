// Package play answers what a server would do under a workload, by the simulator, in the
// figures that a study optimises and limits. The truth of landscapes and the tuner's prior
// are both made of such answers, from different constants.
package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// Server is what is launched.
type Server struct {
	Engine   sim.Config
	Replicas int // 0: 1
	Frontend sim.FrontendCost
}

// Load is the workload and how it is offered: at a rate of sessions, or by users that each
// send one session after another.
type Load struct {
	Shape offline.Shape // its rate and seed are set from below
	Rate  float64       // sessions a second; 0 with users
	Users int
	Time  time.Duration // that is played; 0: 75 s. The first fifth does not count.
	Seed  uint64
	// TTFT and TPOT are limits on each request, in seconds, for goodput; 0: no limit.
	TTFT, TPOT float64
	// Samples keeps each request in the figures.
	Samples bool
}

// Request is what a client saw of one request, in seconds; TPOT is 0 of an answer of one token.
type Request struct{ TTFT, TPOT, E2E float64 }

// Figures are what the client saw after the warm-up.
type Figures struct {
	Throughput float64 // output tokens of finished requests, a second
	Goodput    float64 // requests that met both limits, a second
	E2E        float64 // mean time of a request, s
	TTFT, TPOT float64 // 95th percentiles, s
	Done       float64 // share of the planned requests that ended; 1 with users
	Requests   int     // that the figures rest on
	Rate       float64 // finished requests a second
	Input      float64 // prompt tokens of finished requests, a second
	Each       []Request
}

// Run plays a load on a server. The error wraps sim.ErrOutOfMemory where the server would not
// start for memory, says what else it would refuse, or that ctx ended.
func Run(ctx context.Context, s Server, l Load) (Figures, error) {
	if l.Time == 0 {
		l.Time = 75 * time.Second
	}
	shape := l.Shape
	shape.Rate, shape.Seed = l.Rate, l.Seed+1000
	s.Engine.Seed = l.Seed
	var got []offline.Ended
	cfg := offline.Config{
		Engine: s.Engine, Replicas: s.Replicas, Frontend: s.Frontend, Source: shape.Source(), Concurrency: l.Users,
		Duration: l.Time, Drain: 30 * time.Second, Seed: l.Seed,
		Ended: func(e offline.Ended) { got = append(got, e) },
	}
	if l.Users > 0 {
		cfg.Drain = time.Nanosecond
	}
	res, err := offline.Run(ctx, cfg)
	if err != nil {
		return Figures{}, fmt.Errorf("play: %w", err)
	}
	f := l.count(got)
	f.Done = 1
	if l.Users == 0 {
		f.Done = float64(res.OK) / float64(max(res.Planned, 1))
	}
	return f, nil
}

// Refused reports whether an error of Run is the server's: it would not start. Others are
// those of a context.
func Refused(err error) bool {
	return err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

func (l *Load) count(got []offline.Ended) Figures {
	var f Figures
	var ttft, tpot []float64
	warm := l.Time / 5
	window := (l.Time - warm).Seconds()
	for _, e := range got {
		if e.Done > warm && e.Done <= l.Time {
			f.Throughput += float64(e.Output) / window
			f.Input += float64(e.Prompt) / window
			f.Rate += 1 / window
		}
		if e.Intended < warm {
			continue
		}
		first, each := (e.First - e.Intended).Seconds(), 0.0
		if e.Output > 1 {
			each = (e.Done - e.First).Seconds() / float64(e.Output-1)
			tpot = append(tpot, each)
		}
		ttft = append(ttft, first)
		whole := (e.Done - e.Intended).Seconds()
		f.E2E += whole
		if l.Samples {
			f.Each = append(f.Each, Request{first, each, whole})
		}
		if (l.TTFT == 0 || first <= l.TTFT) && (l.TPOT == 0 || each <= l.TPOT) {
			f.Goodput += 1 / window
		}
	}
	f.Requests = len(ttft)
	f.E2E /= float64(max(f.Requests, 1))
	f.TTFT, f.TPOT = percentile(ttft), percentile(tpot)
	return f
}

// percentile is the 95th, 0 of nothing.
func percentile(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(int(0.95*float64(len(v))), len(v)-1)]
}
