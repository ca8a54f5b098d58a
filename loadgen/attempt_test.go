package loadgen_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// busyThen answers the first tries with a 429, and serves the rest.
func busyThen(tries int, after archive.Opt[float64]) func(int, *wire.Call, *archive.Request) {
	return func(n int, _ *wire.Call, rec *archive.Request) {
		if n < tries {
			rec.T.First, rec.T.Last, rec.Text = 0, 0, ""
			rec.Status = archive.StatusFailed
			rec.Error = &archive.Failure{Kind: "http_429", HTTPStatus: archive.Some(429), RetryAfter: after}
		}
	}
}

// B72: without retries a 429 is a failure; with them the latency counts from the first
// try, and every try is in the record.
func TestB72RetriesDoNotHideTheWait(t *testing.T) {
	for _, c := range []struct {
		name     string
		retry    loadgen.Retry
		tries    int
		after    archive.Opt[float64]
		status   archive.Status
		attempts int
		ttft     time.Duration
	}{
		{"off by default", loadgen.Retry{}, 1, archive.Some(2.0), archive.StatusFailed, 0, 0},
		{"one retry after the server's time", loadgen.Retry{Max: 1}, 1, archive.Some(2.0), archive.StatusOK, 1, 2200 * time.Millisecond},
		{"own backoff, doubled", loadgen.Retry{Max: 5, Backoff: time.Second}, 2, archive.Opt[float64]{}, archive.StatusOK, 2, 3300 * time.Millisecond},
		{"retries used up", loadgen.Retry{Max: 1}, 9, archive.Some(2.0), archive.StatusFailed, 1, 0},
		{"a silly time from the server is not obeyed", loadgen.Retry{Max: 1}, 1, archive.Some(1e300), archive.StatusOK, 1, 1200 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{serve: always(100 * time.Millisecond), reply: busyThen(c.tries, c.after)}
			l, err := start(t.Context(), s, loadgen.Config{Retry: c.retry}, loadgen.Phase{Name: "p", Source: once(), Concurrency: 1, Requests: 1})
			if err != nil || len(l.requests) != 1 {
				t.Fatalf("%s: %d records, %v", c.name, len(l.requests), err)
			}
			r := l.requests[0]
			if r.Status != c.status || len(r.Attempts) != c.attempts {
				t.Errorf("%s: %s after %d failed tries; want %s after %d", c.name, r.Status, len(r.Attempts), c.status, c.attempts)
			}
			if r.T.Send != r.T.Intended {
				t.Errorf("%s: sent at %v, intended at %v; want the first try's send", c.name, r.T.Send, r.T.Intended)
			}
			if c.ttft > 0 && r.T.First.Sub(r.T.Send) != c.ttft {
				t.Errorf("%s: TTFT = %v; want %v", c.name, r.T.First.Sub(r.T.Send), c.ttft)
			}
			for _, a := range r.Attempts {
				if a.Kind != "http_429" {
					t.Errorf("%s: attempt %+v; want http_429", c.name, a)
				}
			}
			if s.n != c.attempts+1 {
				t.Errorf("%s: the server saw %d tries; want %d", c.name, s.n, c.attempts+1)
			}
		})
	}
}

// A retry is not sent after the measured window, nor is a failure for good retried.
func TestRetriesThatAreNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{serve: always(100 * time.Millisecond), reply: busyThen(100, archive.Some(60.0))}
		l, err := start(t.Context(), s, loadgen.Config{Retry: loadgen.Retry{Max: 3}}, loadgen.Phase{
			Name: "p", Source: once(), Concurrency: 1, Duration: time.Second,
		})
		if got, want := l.count(), (map[string]int{"failed http_429": 1}); err != nil || !gocmp.Equal(got, want) || s.n != 1 {
			t.Errorf("records %v, %d tries, %v; want %v and one try", got, s.n, err, want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &server{serve: always(0), reply: func(_ int, _ *wire.Call, rec *archive.Request) {
			rec.Status = archive.StatusFailed
			rec.Error = &archive.Failure{Kind: "http_400", HTTPStatus: archive.Some(400)}
		}}
		if _, err := start(t.Context(), s, loadgen.Config{Retry: loadgen.Retry{Max: 3}}, loadgen.Phase{
			Name: "p", Source: once(), Concurrency: 1, Requests: 1,
		}); err != nil || s.n != 1 {
			t.Errorf("a 400 was tried %d times, %v; want once", s.n, err)
		}
	})
}

// Users who leave: their request is cancelled at the end of their patience, counted from
// the intended instant, and their session is over; the user of a closed loop goes on.
func TestUsersWhoLeave(t *testing.T) {
	turns := script(tasks.Turn{User: "a"}, tasks.Turn{User: "b"})
	s := &server{serve: always(time.Second)}
	l := drive(t, s, loadgen.Phase{
		Name: "p", Source: turns, Concurrency: 1, Requests: 6,
		Patience: func(session uint64, turn int) time.Duration {
			if session%2 == 0 && turn == 1 {
				return 300 * time.Millisecond
			}
			return 0
		},
	})
	if got, want := l.count(), (map[string]int{"ok": 4, "cancelled abandoned": 2}); !gocmp.Equal(got, want) {
		t.Fatalf("records = %v; want %v", got, want)
	}
	for _, r := range l.requests {
		if r.Status == archive.StatusCancelled && (r.T.Done.Sub(r.T.Intended) != 300*time.Millisecond || r.Turn != 1) {
			t.Errorf("turn %d was left after %v; want turn 1 after 300ms", r.Turn, r.T.Done.Sub(r.T.Intended))
		}
	}
}

func TestImpatience(t *testing.T) {
	f, again := loadgen.Impatience(0.3, 2*time.Second, 7), loadgen.Impatience(0.3, 2*time.Second, 7)
	limited, sum := 0, time.Duration(0)
	const n = 20_000
	for i := range n {
		if d := f(uint64(i/2), i%2); d > 0 {
			limited++
			sum += d
		}
		if f(uint64(i/2), i%2) != again(uint64(i/2), i%2) {
			t.Fatal("not a function of its arguments")
		}
	}
	if share := float64(limited) / n; math.Abs(share-0.3) > 0.015 {
		t.Errorf("share of the impatient = %.3f; want 0.3", share)
	}
	if mean := (sum / time.Duration(limited)).Seconds(); math.Abs(mean-2) > 0.1 {
		t.Errorf("mean patience = %.2f s; want 2", mean)
	}
}

// Tenants run side by side, each with its own source and shape, under common limits.
func TestTenants(t *testing.T) {
	named := func(task string) tasks.Source { return script(tasks.Turn{Task: task, User: "x"}) }
	l := drive(t, &server{serve: always(100 * time.Millisecond)}, loadgen.Phase{
		Name: "p", Duration: 10 * time.Second,
		Tenants: []loadgen.Tenant{
			{Name: "chat", Class: "interactive", Source: named("chat"), Rate: 5, Arrival: arrival.Constant{Rate: 5}},
			{Name: "batch", Class: "offline", Source: named("batch"), Concurrency: 2},
			{Name: "code", Source: named("code"), Rate: 2},
		},
	})
	per := map[string]int{}
	sessions := map[string]bool{}
	for _, r := range l.requests {
		per[r.Tenant+" "+r.Class]++
		if r.Task != r.Tenant {
			t.Errorf("a request of tenant %s has task %s", r.Tenant, r.Task)
		}
		if sessions[r.Session] {
			t.Errorf("session %s is not unique", r.Session)
		}
		sessions[r.Session] = true
	}
	if per["chat interactive"] != 50 || per["batch offline"] != 200 || per["code "] < 10 || per["code "] > 32 {
		t.Errorf("requests by tenant = %v; want 50 of chat, 200 of batch and about 20 of code", per)
	}
}

func TestTenantFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		phase loadgen.Phase
		want  string
	}{
		{loadgen.Phase{Tenants: []loadgen.Tenant{{Name: "a", Source: once(), Rate: 1}}, Rate: 1}, "tenants and a source or shape"},
		{loadgen.Phase{Tenants: []loadgen.Tenant{{Name: "a", Rate: 1}}}, `tenant "a": there is no source`},
		{loadgen.Phase{Tenants: []loadgen.Tenant{{Name: "a", Source: once(), Rate: 1}, {Name: "a", Source: once(), Rate: 1}}}, `tenant name "a"`},
		{loadgen.Phase{Source: once(), Rate: 1, Shard: loadgen.Shard{Index: 2, Of: 2}}, "shard 2 of 2"},
	} {
		c.phase.Name, c.phase.Requests = "p", 1
		err := loadgen.Validate(loadgen.Config{Sender: &server{}, Clock: archive.NewRunClock(), Record: func(*archive.Request) {}}, []loadgen.Phase{c.phase})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Validate = %v; want an error with %q", err, c.want)
		}
	}
}

// The session header has one value for all turns of a session.
func TestSessionHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := archive.NewRunClock()
		seen := map[string]string{}
		cfg := loadgen.Config{SessionHeader: "X-Session", Sender: loadgen.SenderFunc(func(_ context.Context, call *wire.Call, rec *archive.Request) {
			rec.Status, rec.T.Send, rec.T.Done = archive.StatusOK, clock.Now(), clock.Now()
			seen[rec.ID] = call.Header["X-Session"]
		})}
		l, err := start(t.Context(), &server{}, cfg, loadgen.Phase{
			Name: "p", Source: script(tasks.Turn{User: "a"}, tasks.Turn{User: "b"}), Concurrency: 1, Requests: 4,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.requests {
			if seen[r.ID] != r.Session {
				t.Errorf("request %s of session %s has the header %q", r.ID, r.Session, seen[r.ID])
			}
		}
	})
}

// A user of a closed loop pauses between sessions.
func TestPauseBetweenSessions(t *testing.T) {
	l := drive(t, &server{serve: always(time.Second)}, loadgen.Phase{
		Name: "p", Source: once(), Concurrency: 1, Requests: 3,
		Pause: func(n uint64) time.Duration { return time.Duration(n+1) * time.Second },
	})
	got := l.byIntended()
	for k, want := range []time.Duration{time.Second, 2 * time.Second} {
		if d := got[k+1].T.Intended.Sub(got[k].T.Done); d != want {
			t.Errorf("after session %d the user paused %v; want %v", k, d, want)
		}
	}
}

// The shards of a phase together send what the whole phase sends, at the same instants.
func TestShardsAreThePhase(t *testing.T) {
	whole := loadgen.Phase{Name: "p", Source: once(), Rate: 50, Arrival: arrival.Poisson{Rate: 50, Seed: 3}, Requests: 400}
	sent := func(shard loadgen.Shard) []string {
		p := whole
		p.Shard = shard
		l := drive(t, &server{serve: always(10 * time.Millisecond)}, p)
		var out []string
		begin, _ := l.find(archive.EventPhaseStart)
		for _, r := range l.requests {
			out = append(out, r.T.Intended.Sub(begin.T).String()+" "+r.Session)
		}
		return out
	}
	want := sent(loadgen.Shard{})
	for _, of := range []int{2, 4, 8} {
		var got []string
		for k := range of {
			got = append(got, sent(loadgen.Shard{Index: k, Of: of})...)
		}
		slices.Sort(got)
		slices.SortFunc(want, cmp.Compare[string])
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%d shards (-whole +union):\n%.600s", of, diff)
		}
	}
	users := 0
	for k := range 3 {
		s := &server{serve: always(time.Second)}
		drive(t, s, loadgen.Phase{Name: "p", Source: once(), Concurrency: 2, Duration: 5 * time.Second, Shard: loadgen.Shard{Index: k, Of: 3}})
		users += s.max
	}
	if users != 2 {
		t.Errorf("three shards of concurrency 2 had %d requests open; want 2", users)
	}
}
