package loadgen_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/loadgen/pace"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// B48: a loop that sleeps gaps drifts; this one follows the schedule to the instant.
func TestB48RateDoesNotDrift(t *testing.T) {
	s := &server{serve: always(0)}
	p := arrival.Poisson{Rate: 200, Seed: 1}
	l := drive(t, s, loadgen.Phase{Name: "p", Source: once(), Rate: 200, Arrival: p, Requests: 10_000})
	want := arrival.Times(p, 10_000)
	got := l.byIntended()
	if len(got) != len(want) {
		t.Fatalf("%d requests; want %d", len(got), len(want))
	}
	start := got[0].T.Intended.Add(-want[0])
	for i, r := range got {
		if due := start.Add(want[i]); r.T.Intended != due || r.T.Send != due {
			t.Fatalf("request %d was intended at %v and sent at %v; want both at %v", i, r.T.Intended, r.T.Send, due)
		}
	}
}

// B50: the wait for a slot is in the record, and latency counts from the intended instant.
func TestB50WaitForASlotIsSeen(t *testing.T) {
	s := &server{serve: always(500 * time.Millisecond)}
	l := drive(t, s, loadgen.Phase{
		Name: "p", Source: once(), Rate: 10, Arrival: arrival.Constant{Rate: 10}, Requests: 8, MaxInFlight: 1,
	})
	var service, queue, user, worst float64
	for k, r := range l.byIntended() {
		wait := time.Duration(r.Conn.Wait.Or(-1))
		if want := time.Duration(k) * 400 * time.Millisecond; wait != want {
			t.Errorf("request %d waited %v; want %v", k, wait, want)
		}
		service += ms(r.T.Last.Sub(r.T.Send)) / 8
		queue += ms(wait) / 8
		user += ms(r.T.Last.Sub(r.T.Intended)) / 8
		worst = max(worst, ms(r.T.Last.Sub(r.T.Intended)))
	}
	got := []float64{service, queue, user, worst}
	if want := []float64{500, 1400, 1900, 3300}; !slices.Equal(got, want) {
		t.Errorf("service mean, queue mean, user mean, user max = %v ms; want %v", got, want)
	}
	if s.max != 1 {
		t.Errorf("the server saw %d requests at once; want 1", s.max)
	}
}

// B52: the cap is a cap, and it is reached.
func TestB52ConcurrencyIsExact(t *testing.T) {
	s := &server{serve: func(n int) time.Duration { return time.Duration(50+n*37%100) * time.Millisecond }}
	l := drive(t, s, loadgen.Phase{Name: "p", Source: once(), Concurrency: 45, Requests: 2700})
	if s.max != 45 || s.n != 2700 || len(l.requests) != 2700 {
		t.Errorf("most open at once %d, served %d, recorded %d; want 45, 2700, 2700", s.max, s.n, len(l.requests))
	}
	var all, full time.Duration
	for open, d := range s.busy {
		all += d
		if open >= 44 {
			full += d
		}
	}
	if share := float64(full) / float64(all); share < 0.95 {
		t.Errorf("at least 44 were open in %.1f %% of the time; want most of it", 100*share)
	}
	done, _ := l.find(loadgen.EventPhaseDone)
	if got := done.Fields["reached_concurrency"]; got != 45 {
		t.Errorf("reached_concurrency = %v; want 45", got)
	}
}

// B53: a request count below the concurrency is warned of, and the label is what was
// reached.
func TestB53ReachedConcurrencyIsReported(t *testing.T) {
	s := &server{serve: always(time.Second)}
	l := drive(t, s, loadgen.Phase{Name: "p", Source: once(), Concurrency: 64, Requests: 10})
	warning, ok := l.find(loadgen.EventConcurrency)
	if !ok || warning.Severity != archive.SeverityWarning || warning.Fields["reached_concurrency"] != 10 {
		t.Errorf("warning = %+v, %v; want one with reached_concurrency 10", warning, ok)
	}
	done, _ := l.find(loadgen.EventPhaseDone)
	if got := done.Fields["reached_concurrency"]; got != 10 {
		t.Errorf("reached_concurrency = %v; want 10", got)
	}
	if len(l.requests) != 10 {
		t.Errorf("%d requests; want 10", len(l.requests))
	}
}

// B55: under overload the schedule-based latency shows the queue, and the run says so.
func TestB55OverloadIsSeenFromTheSchedule(t *testing.T) {
	s := &server{serve: always(100 * time.Millisecond), lanes: 1}
	l := drive(t, s, loadgen.Phase{
		Name: "p", Source: once(), Rate: 20, Arrival: arrival.Constant{Rate: 20}, Duration: 5 * time.Second,
	})
	requests := l.byIntended()
	if len(requests) != 100 {
		t.Fatalf("%d requests; want 100", len(requests))
	}
	for k, r := range requests {
		if got, want := r.T.Last.Sub(r.T.Intended), time.Duration(100+50*k)*time.Millisecond; got != want {
			t.Fatalf("latency of request %d = %v; want %v", k, got, want)
		}
	}
	e, ok := l.find(loadgen.EventOverloaded)
	if want := "overloaded: offered 20 requests/s, served 10 requests/s"; !ok || e.Message != want {
		t.Errorf("event = %q; want %q", e.Message, want)
	}
}

// A server that is slow but keeps up is not called overloaded.
func TestSlowIsNotOverloaded(t *testing.T) {
	for _, latency := range []time.Duration{100 * time.Millisecond, 2 * time.Second, 4 * time.Second} {
		l := drive(t, &server{serve: always(latency)}, loadgen.Phase{
			Name: "p", Source: once(), Rate: 20, Arrival: arrival.Constant{Rate: 20}, Duration: 5 * time.Second,
		})
		if e, ok := l.find(loadgen.EventOverloaded); ok {
			t.Errorf("with latency %v: %q; want no such event", latency, e.Message)
		}
	}
}

func TestWarmupByCount(t *testing.T) {
	l := drive(t, &server{serve: always(100 * time.Millisecond)}, loadgen.Phase{
		Name: "p", Source: once(), Concurrency: 2, Requests: 6, Warmup: loadgen.Warmup{Requests: 5},
	})
	kinds := map[archive.Kind]int{}
	e, _ := l.find(archive.EventMeasureStart)
	for _, r := range l.requests {
		kinds[r.Kind]++
		if (r.Kind == archive.KindWarmup) != (r.T.Intended < e.T) && r.T.Intended != e.T {
			t.Errorf("%s request intended at %v; measuring began at %v", r.Kind, r.T.Intended, e.T)
		}
	}
	if want := map[archive.Kind]int{archive.KindWarmup: 5, archive.KindLoad: 6}; !cmp.Equal(kinds, want) {
		t.Errorf("kinds = %v; want %v", kinds, want)
	}
}

func TestWarmupByDurationThenMeasuredDuration(t *testing.T) {
	l := drive(t, &server{serve: always(100 * time.Millisecond)}, loadgen.Phase{
		Name: "p", Source: once(), Rate: 10, Arrival: arrival.Constant{Rate: 10},
		Warmup: loadgen.Warmup{Duration: time.Second}, Duration: 2 * time.Second,
	})
	kinds := map[archive.Kind]int{}
	for _, r := range l.requests {
		kinds[r.Kind]++
	}
	if want := map[archive.Kind]int{archive.KindWarmup: 10, archive.KindLoad: 20}; !cmp.Equal(kinds, want) {
		t.Errorf("kinds = %v; want %v", kinds, want)
	}
	begin, _ := l.find(archive.EventPhaseStart)
	from, _ := l.find(archive.EventMeasureStart)
	to, _ := l.find(archive.EventPhaseEnd)
	if from.T.Sub(begin.T) != time.Second || to.T.Sub(from.T) != 2*time.Second {
		t.Errorf("warm-up took %v and the window %v; want 1s and 2s", from.T.Sub(begin.T), to.T.Sub(from.T))
	}
}

// Whichever of count and duration comes first ends the phase.
func TestCountOrDurationWhicheverFirst(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests int
		duration time.Duration
		want     int
	}{
		{"the count comes first", 5, 10 * time.Second, 5},
		{"the duration comes first", 500, time.Second, 10},
	} {
		l := drive(t, &server{serve: always(100 * time.Millisecond)}, loadgen.Phase{
			Name: "p", Source: once(), Concurrency: 1, Requests: c.requests, Duration: c.duration,
		})
		if len(l.requests) != c.want {
			t.Errorf("%s: %d requests; want %d", c.name, len(l.requests), c.want)
		}
	}
}

// Requests open at the end of the window get the drain time, and are cancelled after it.
func TestDrain(t *testing.T) {
	for _, c := range []struct {
		name  string
		drain time.Duration
		want  map[string]int
		took  time.Duration
	}{
		{"long enough for all", 20 * time.Second, map[string]int{"ok": 4}, 10 * time.Second},
		{"long enough for two", 8 * time.Second, map[string]int{"ok": 2, "cancelled ended": 2}, 9 * time.Second},
		{"none", -1, map[string]int{"cancelled ended": 4}, time.Second},
	} {
		s := &server{serve: func(n int) time.Duration { return time.Duration(8+n/2*2) * time.Second }}
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			l, err := start(t.Context(), s, loadgen.Config{}, loadgen.Phase{
				Name: "p", Source: once(), Concurrency: 4, Duration: time.Second, Drain: c.drain,
			})
			if got := l.count(); err != nil || !cmp.Equal(got, c.want) {
				t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
			}
			if took := time.Since(began); took != c.took {
				t.Errorf("%s: took %v; want %v", c.name, took, c.took)
			}
		})
	}
}

// Planned requests that the window's end finds waiting for a slot are recorded as unsent.
func TestUnsentAreAccountedFor(t *testing.T) {
	l := drive(t, &server{serve: always(700 * time.Millisecond)}, loadgen.Phase{
		Name: "p", Source: once(), Rate: 10, Arrival: arrival.Constant{Rate: 10}, Duration: time.Second, MaxInFlight: 2,
	})
	// Ten came due; two were sent at 0 and 0.1 s, two at 0.7 and 0.8 s.
	if got, want := l.count(), (map[string]int{"ok": 4, "cancelled unsent": 6}); !cmp.Equal(got, want) {
		t.Errorf("records = %v; want %v", got, want)
	}
	for _, r := range l.requests {
		if sent := r.Error == nil; r.T.Send.Known() != sent || r.InFlight.Known() != sent {
			t.Errorf("%s request: sent at %v, in flight %v", r.Status, r.T.Send, r.InFlight)
		}
	}
}

func TestBacklogIsBounded(t *testing.T) {
	l := drive(t, &server{serve: always(time.Hour)}, loadgen.Phase{
		Name: "p", Source: once(), Rate: 10, Arrival: arrival.Constant{Rate: 10}, Duration: 2 * time.Second,
		MaxBacklog: 5, Drain: -1,
	})
	if got, want := l.count(), (map[string]int{"cancelled ended": 5, "cancelled unsent": 15}); !cmp.Equal(got, want) {
		t.Errorf("records = %v; want %v", got, want)
	}
	if _, ok := l.find(loadgen.EventBacklog); !ok {
		t.Error("no event says that the backlog was full")
	}
}

// Cancelling the context ends sends, cuts what is open, and accounts for everything.
func TestInterrupt(t *testing.T) {
	interrupt := errors.New("the user pressed Ctrl-C")
	for _, c := range []struct {
		name  string
		phase loadgen.Phase
		want  map[string]int
	}{
		{"closed loop", loadgen.Phase{Concurrency: 4, Requests: 200}, map[string]int{"ok": 48, "cancelled ended": 4}},
		{"open loop", loadgen.Phase{Rate: 20, Arrival: arrival.Constant{Rate: 20}, Requests: 200}, map[string]int{"ok": 23, "cancelled ended": 2}},
		{"open loop with a cap", loadgen.Phase{Rate: 20, Arrival: arrival.Constant{Rate: 20}, Requests: 200, MaxInFlight: 1},
			map[string]int{"ok": 12, "cancelled ended": 1, "cancelled unsent": 12}},
		{"during warm-up", loadgen.Phase{Concurrency: 4, Requests: 200, Warmup: loadgen.Warmup{Requests: 1000}}, map[string]int{"ok": 48, "cancelled ended": 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				timer := time.AfterFunc(1_249*time.Millisecond, func() { cancel(interrupt) })
				defer timer.Stop()
				live := new(loadgen.Live)
				c.phase.Name, c.phase.Source = "p", once()
				second := c.phase
				second.Name = "never"
				l, err := start(ctx, &server{serve: always(100 * time.Millisecond)}, loadgen.Config{Live: live}, c.phase, second)
				if !errors.Is(err, interrupt) {
					t.Errorf("Run = %v; want the cause %v", err, interrupt)
				}
				if got := l.count(); !cmp.Equal(got, c.want) {
					t.Errorf("records = %v; want %v", got, c.want)
				}
				if n := live.Planned.Load(); n != int64(len(l.requests)) || live.InFlight.Load() != 0 || live.Waiting.Load() != 0 {
					t.Errorf("planned %d, in flight %d, waiting %d; want %d, 0, 0", n, live.InFlight.Load(), live.Waiting.Load(), len(l.requests))
				}
				if sum := live.OK.Load() + live.Failed.Load() + live.Cancelled.Load(); sum != live.Planned.Load() {
					t.Errorf("ok, failed and cancelled add up to %d of %d planned", sum, live.Planned.Load())
				}
			})
		})
	}
}

// The phases of a run follow each other, and no two send the same session.
func TestPhasesInOrder(t *testing.T) {
	var numbers []uint64
	source := tasks.SourceFunc(func(i uint64) tasks.Session {
		numbers = append(numbers, i)
		return once().Session(i)
	})
	l := drive(t, &server{serve: always(100 * time.Millisecond)},
		loadgen.Phase{Name: "a", Source: source, Concurrency: 1, Requests: 3},
		loadgen.Phase{Name: "b", Source: source, Rate: 10, Arrival: arrival.Constant{Rate: 10}, Requests: 3},
	)
	var phases, kinds []string
	for _, r := range l.byIntended() {
		phases = append(phases, r.Phase)
	}
	for _, e := range l.events {
		kinds = append(kinds, e.Kind)
	}
	if want := []string{"a", "a", "a", "b", "b", "b"}; !slices.Equal(phases, want) {
		t.Errorf("phases = %v; want %v", phases, want)
	}
	one := []string{archive.EventPhaseStart, archive.EventMeasureStart, archive.EventPhaseEnd, loadgen.EventPhaseDone}
	if want := slices.Concat(one, one); !slices.Equal(kinds, want) {
		t.Errorf("events = %v; want %v", kinds, want)
	}
	slices.Sort(numbers)
	if len(slices.Compact(numbers)) != len(numbers) || len(numbers) < 6 {
		t.Errorf("sessions = %v; want at least six different ones", numbers)
	}
}

// Users of a closed loop start evenly over the ramp.
func TestRampUp(t *testing.T) {
	l := drive(t, &server{serve: always(10 * time.Second)}, loadgen.Phase{
		Name: "p", Source: once(), Concurrency: 4, RampUp: 2 * time.Second, Requests: 4,
	})
	begin, _ := l.find(archive.EventPhaseStart)
	for u, r := range l.byIntended() {
		if got, want := r.T.Send.Sub(begin.T), time.Duration(u)*500*time.Millisecond; got != want {
			t.Errorf("user %d began after %v; want %v", u, got, want)
		}
	}
}

// A user whose request could not reach the server pauses before the next one.
func TestDeadServerIsNotHammered(t *testing.T) {
	s := &server{serve: always(0), reply: func(_ int, _ *wire.Call, rec *archive.Request) {
		rec.Status = archive.StatusFailed
		rec.Error = &archive.Failure{Kind: archive.FailConnect, Message: "connection refused"}
	}}
	l := drive(t, s, loadgen.Phase{Name: "p", Source: once(), Concurrency: 2, Duration: time.Second})
	if got, want := l.count(), (map[string]int{"failed connect": 20}); !cmp.Equal(got, want) {
		t.Errorf("records = %v; want %v", got, want)
	}
}

func TestSourceWithoutTurnsIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := start(t.Context(), &server{serve: always(0)}, loadgen.Config{},
			loadgen.Phase{Name: "p", Source: script(), Concurrency: 2, Requests: 10})
		if err == nil || !strings.Contains(err.Error(), "without a turn") {
			t.Errorf("Run = %v; want an error that says that the source gave no turn", err)
		}
	})
}

func TestValidateNamesEveryFault(t *testing.T) {
	good := loadgen.Phase{Name: "p", Source: once(), Concurrency: 1, Requests: 1}
	for _, c := range []struct {
		name   string
		change func(*loadgen.Phase)
		want   string
	}{
		{"no source", func(p *loadgen.Phase) { p.Source = nil }, "no source"},
		{"negative concurrency", func(p *loadgen.Phase) { p.Concurrency = -1 }, "concurrency -1"},
		{"huge concurrency", func(p *loadgen.Phase) { p.Concurrency = 1 << 30 }, "concurrency 1073741824"},
		{"negative rate", func(p *loadgen.Phase) { p.Concurrency, p.Rate = 0, -5 }, "rate -5"},
		{"rate that is no number", func(p *loadgen.Phase) { p.Concurrency, p.Rate = 0, math.NaN() }, "rate NaN"},
		{"arrivals with a bad rate", func(p *loadgen.Phase) { p.Concurrency, p.Arrival = 0, arrival.Constant{} }, "rate 0"},
		{"two shapes", func(p *loadgen.Phase) { p.Rate = 3 }, "both set"},
		{"no shape", func(p *loadgen.Phase) { p.Concurrency = 0 }, "neither"},
		{"no end", func(p *loadgen.Phase) { p.Requests = 0 }, "nothing ends it"},
		{"negative duration", func(p *loadgen.Phase) { p.Duration = -1 }, "negative"},
	} {
		p := good
		c.change(&p)
		err := loadgen.Validate(loadgen.Config{Sender: &server{}, Clock: archive.NewRunClock(), Record: func(*archive.Request) {}}, []loadgen.Phase{p})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"p"`) {
			t.Errorf("%s: Validate = %v; want an error about phase \"p\" with %q", c.name, err, c.want)
		}
	}
	err := loadgen.Run(t.Context(), loadgen.Config{}, []loadgen.Phase{{Name: "a"}, {Name: "a"}})
	for _, want := range []string{"sender, clock and record", `phase "a": the name is taken`, `phase "a": there is no source`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run = %v; want it to say %q", err, want)
		}
	}
}

// fixedPacer is a pacer with figures of its own.
type fixedPacer struct {
	clock archive.Clock
	stats pace.Stats
}

func (p fixedPacer) Stats() pace.Stats { return p.stats }

func (p fixedPacer) Until(ctx context.Context, at archive.Instant) error {
	timer := time.NewTimer(at.Sub(p.clock.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// latePacer sleeps through the end of the phase once, as a stalled machine does.
type latePacer struct {
	fixedPacer
	from, until archive.Instant
}

func (p latePacer) Until(ctx context.Context, at archive.Instant) error {
	if at >= p.from && p.clock.Now() < p.until {
		timer := time.NewTimer(p.until.Sub(p.clock.Now()))
		<-timer.C
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.fixedPacer.Until(ctx, at)
}

// Arrivals that came due while the machine stalled over the end of the window are recorded
// as unsent.
func TestArrivalsDueInAStallAreAccountedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := archive.NewRunClock()
		now := clock.Now()
		p := latePacer{fixedPacer{clock: clock}, now.Add(1500 * time.Millisecond), now.Add(2300 * time.Millisecond)}
		l, err := start(t.Context(), &server{serve: always(10 * time.Millisecond)}, loadgen.Config{Pacer: p}, loadgen.Phase{
			Name: "p", Source: once(), Rate: 10, Arrival: arrival.Constant{Rate: 10}, Duration: 2 * time.Second,
		})
		if got, want := l.count(), (map[string]int{"ok": 15, "cancelled unsent": 5}); err != nil || !cmp.Equal(got, want) {
			t.Errorf("records = %v, %v; want %v", got, err, want)
		}
	})
}

// A machine that overshoots is said to.
func TestPacingIsReported(t *testing.T) {
	for _, c := range []struct {
		p99  time.Duration
		want archive.Severity
	}{{100 * time.Microsecond, archive.SeverityInfo}, {3 * time.Millisecond, archive.SeverityWarning}} {
		synctest.Test(t, func(t *testing.T) {
			p := fixedPacer{archive.NewRunClock(), pace.Stats{Method: pace.MethodThread, Waits: 9, P50: time.Microsecond, P99: c.p99, Max: c.p99}}
			l, err := start(t.Context(), &server{serve: always(0)}, loadgen.Config{Pacer: p}, loadgen.Phase{Name: "p", Source: once(), Rate: 1, Requests: 2})
			e, ok := l.find(loadgen.EventPacing)
			if err != nil || !ok || e.Severity != c.want || e.Fields["p99_ns"] != int64(c.p99) {
				t.Errorf("P99 %v: %+v, %v, %v; want severity %s", c.p99, e, ok, err, c.want)
			}
		})
	}
}

// The ids that the driver makes by itself are unique, and InFlight counts the request.
func TestRecordsAreComplete(t *testing.T) {
	live := new(loadgen.Live)
	synctest.Test(t, func(t *testing.T) {
		turn := tasks.Turn{Task: "code", User: "x", MaxTokens: 9, PromptTokens: archive.Some(3), SharedPrefix: archive.Some(2)}
		uneven := func(n int) time.Duration { return time.Duration(1000+7*n) * time.Millisecond }
		l, err := start(t.Context(), &server{serve: uneven}, loadgen.Config{Live: live},
			loadgen.Phase{Name: "p", Source: script(turn), Concurrency: 3, Requests: 9})
		if err != nil {
			t.Fatal(err)
		}
		ids, open := map[string]bool{}, map[int]int{}
		for _, r := range l.requests {
			ids[r.ID] = true
			open[r.InFlight.Or(0)]++
			want := archive.Asked{PromptTokens: archive.Some(3), MaxTokens: archive.Some(9), SharedPrefix: archive.Some(2)}
			if r.Task != "code" || r.Asked != want || r.Turn != 0 || r.Phase != "p" {
				t.Errorf("record %+v lacks what was asked", r)
			}
		}
		if len(ids) != 9 || open[3] != 7 {
			t.Errorf("%d different ids, in-flight counts %v; want 9, and 3 for seven of them", len(ids), open)
		}
	})
	if got := fmt.Sprint(live.Sent.Load(), live.OK.Load(), live.OutputTokens.Load()); got != "9 9 9" {
		t.Errorf("sent, ok and output tokens = %s; want 9 9 9", got)
	}
}
