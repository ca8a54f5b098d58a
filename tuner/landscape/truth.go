package landscape

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/play"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Truth is what a configuration does, without noise.
type Truth struct {
	Outcome tuner.Outcome `json:"outcome"`
	Reason  string        `json:"reason,omitempty"`
	Value   float64       `json:"value,omitempty"` // 0 unless Outcome is OK
	// TTFT and TPOT are 95th percentiles in seconds; Done is the share of requests that ended.
	TTFT    float64       `json:"ttft,omitempty"`
	TPOT    float64       `json:"tpot,omitempty"`
	Done    float64       `json:"done,omitempty"`
	StartUp time.Duration `json:"start_up_ns"`
}

// minDone is the share of requests that must end where requests arrive at a rate.
const minDone = 0.97

// refusal is how long a server takes to find that it does not like its flags.
const refusal = 12 * time.Second

// value is the landscape's objective.
func (s *Spec) value(f play.Figures) float64 {
	switch s.Objective {
	case Goodput:
		return f.Goodput
	case Latency:
		return f.E2E
	}
	return f.Throughput
}

// load is the landscape's frozen workload.
func (s *Spec) load() play.Load {
	l := play.Load{Shape: s.Shape, Rate: s.Rate, Users: s.Users, Time: s.Time, Seed: 1}
	if s.Objective == Goodput {
		l.TTFT, l.TPOT = s.TTFT, s.TPOT
	}
	return l
}

// play plays an assignment as it is: step times vary, and the host stops now and then. The
// error says that ctx ended.
func (s *Spec) play(ctx context.Context, a space.Assignment) (Truth, error) {
	srv, err := s.Server(a)
	if err != nil {
		return Truth{Outcome: tuner.StartFailure, Reason: err.Error(), StartUp: refusal}, nil
	}
	t := Truth{Outcome: tuner.OK, StartUp: srv.Engine.StartUp()}
	srv.Engine.StepNoise, srv.Engine.PauseEvery = 0.03, 4000
	f, err := play.Run(ctx, srv, s.load())
	switch {
	case errors.Is(err, sim.ErrOutOfMemory):
		return Truth{Outcome: tuner.OOM, Reason: err.Error(), StartUp: t.StartUp * 6 / 10}, nil
	case play.Refused(err):
		return Truth{Outcome: tuner.StartFailure, Reason: err.Error(), StartUp: refusal}, nil
	case err != nil:
		return Truth{}, err
	}
	t.Value, t.TTFT, t.TPOT, t.Done = s.value(f), f.TTFT, f.TPOT, f.Done
	if !(t.Value > 0) || (f.Requests < 10 && s.limited()) {
		t.Value, t.Outcome, t.Reason = 0, tuner.Crash, "nearly no request ended in time"
	}
	return t, nil
}

// limited reports whether percentiles decide.
func (s *Spec) limited() bool { return s.TTFT > 0 || s.TPOT > 0 }

// percentiles is how many of the constraints limit a percentile; they come first.
func (s *Spec) percentiles() int {
	n := 0
	for _, limit := range []float64{s.TTFT, s.TPOT} {
		if limit > 0 && s.Objective != Goodput {
			n++
		}
	}
	return n
}

// slack is ln(metric/limit) of the landscape's constraints, the default's metrics given.
func (s *Spec) slack(t, def *Truth) []float64 {
	var out []float64
	if s.Objective != Goodput {
		if s.TTFT > 0 {
			out = append(out, math.Log(t.TTFT/(s.TTFT*def.TTFT)))
		}
		if s.TPOT > 0 {
			out = append(out, math.Log(t.TPOT/(s.TPOT*def.TPOT)))
		}
	}
	if s.Objective == Latency {
		out = append(out, math.Log(minDone/max(t.Done, 1e-3)))
	}
	return out
}

// table plays every assignment of a space, equal ones once, on so many goroutines.
func (s *Spec) table(ctx context.Context, sp *space.Space, workers int) (map[string]Truth, error) {
	byRun := map[string]space.Assignment{}
	var runs []string
	for _, p := range sp.All() {
		a := sp.At(p)
		k := s.Same(a)
		if _, ok := byRun[k]; !ok {
			byRun[k] = a
			runs = append(runs, k)
		}
	}
	out := make([]Truth, len(runs))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for k := i; k < len(runs) && errs[i] == nil; k += workers {
				out[k], errs[i] = s.play(ctx, byRun[runs[k]])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	table := make(map[string]Truth, len(runs))
	for i, k := range runs {
		table[k] = out[i]
	}
	return table, nil
}
