package search_test

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/search"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// oneTurn is a source of single turns that remembers which sessions it was asked for.
type oneTurn struct {
	mu   sync.Mutex
	seen map[uint64]int
}

func (s *oneTurn) Session(i uint64) tasks.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[i]++
	return &single{}
}

type single struct{ asked bool }

func (s *single) Next(string) (tasks.Turn, bool) {
	first := !s.asked
	s.asked = true
	return tasks.Turn{User: "x"}, first
}

// Through the real driver, in virtual time: a station of four servers of 100 ms with a
// limit of 300 ms, whose capacity the simulated queue tells.
func TestDriveThroughTheLoadDriver(t *testing.T) {
	q := queue{servers: 4, service: func(r *rand.Rand) float64 { return 0.05 + 0.1*r.Float64() }, limit: 0.3, rng: rand.New(rand.NewPCG(5, 5))}
	truth := q.capacity(0.01, 10, 40)
	synctest.Test(t, func(t *testing.T) {
		clock := archive.NewRunClock()
		rng := rand.New(rand.NewPCG(6, 6))
		var mu sync.Mutex
		slots := make(chan struct{}, 4)
		sender := loadgen.SenderFunc(func(ctx context.Context, _ *wire.Call, rec *archive.Request) {
			rec.T.Send = clock.Now()
			rec.Status = archive.StatusCancelled
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			mu.Lock()
			d := time.Duration((0.05 + 0.1*rng.Float64()) * 1e9)
			mu.Unlock()
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
				rec.Status, rec.T.Done = archive.StatusOK, clock.Now()
			case <-ctx.Done():
			}
		})
		source := &oneTurn{seen: map[uint64]int{}}
		m, err := search.New(search.Config{
			Limits: []search.Limit{{Name: "e2e < 300ms", Allowed: 0.01}}, Concurrency: 8, MaxConcurrency: 32,
			RefineRequests: 300, Budget: 12_000,
		})
		if err != nil {
			t.Fatal(err)
		}
		load := &search.Load{
			Config: loadgen.Config{Sender: sender, Clock: clock, Record: func(*archive.Request) {}, Seed: 3},
			Phase:  loadgen.Phase{Source: source},
			Misses: func(r *archive.Request) uint64 {
				if r.T.Done.Sub(r.T.Intended) > 300*time.Millisecond {
					return 1
				}
				return 0
			},
		}
		probes := 0
		a, err := search.Drive(t.Context(), m, load, func(search.Probe, search.Result) { probes++ })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%.2f [%.2f, %.2f] of %.2f after %d probes and %d requests; saturation %.2f", a.Rate, a.Low, a.High, truth, probes, a.Requests, a.Saturation)
		if !a.Known || math.Abs(a.Rate/truth-1) > 0.1 || a.Low > truth || a.High < truth {
			t.Errorf("%.2f [%.2f, %.2f]; want %.2f within 10 %%, and inside the interval", a.Rate, a.Low, a.High, truth)
		}
		if math.Abs(a.Saturation/40-1) > 0.05 {
			t.Errorf("saturation %.2f; want 40 within 5 %%", a.Saturation)
		}
		for i, n := range source.seen {
			if n > 1 {
				t.Fatalf("session %d was sent %d times; probes must not repeat prompts", i, n)
			}
		}
	})
}

// An interrupted search ends with the cause.
func TestDriveStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, err := search.New(search.Config{Limits: []search.Limit{{Name: "x", Allowed: 0.01}}})
	if err != nil {
		t.Fatal(err)
	}
	load := &search.Load{
		Config: loadgen.Config{Sender: loadgen.SenderFunc(func(context.Context, *wire.Call, *archive.Request) {}), Clock: archive.NewRunClock(), Record: func(*archive.Request) {}},
		Phase:  loadgen.Phase{Source: &oneTurn{seen: map[uint64]int{}}},
	}
	if _, err := search.Drive(ctx, m, load, nil); err == nil {
		t.Error("Drive = nil after the context ended")
	}
}
