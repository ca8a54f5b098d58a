package loadgen_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// pooled is a sender with a pool of connections, which counts the wait for one from the
// intended instant as the wire client does.
func pooled(s *server, connections int) loadgen.SenderFunc {
	var once sync.Once
	var pool chan struct{}
	return func(ctx context.Context, call *wire.Call, rec *archive.Request) {
		once.Do(func() { pool = make(chan struct{}, connections) }) // in the bubble
		select {
		case pool <- struct{}{}:
			defer func() { <-pool }()
		case <-ctx.Done():
			rec.Status = archive.StatusCancelled
			return
		}
		wait := s.clock.Now().Sub(rec.T.Intended)
		s.Do(ctx, call, rec)
		rec.Conn.Wait = archive.Some(int64(wait))
	}
}

// A pool of 32 connections under concurrency 64 is reported as the client's limit, with
// the effective concurrency; a pool that is large enough is not.
func TestCappedPoolIsClientLimited(t *testing.T) {
	for _, c := range []struct {
		connections int
		limited     bool
	}{{32, true}, {64, false}, {1000, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{serve: always(time.Second)}
			l, err := start(t.Context(), s, loadgen.Config{Sender: pooled(s, c.connections)},
				loadgen.Phase{Name: "p", Source: once(), Concurrency: 64, Requests: 640})
			if err != nil {
				t.Fatal(err)
			}
			e, limited := l.find(loadgen.EventClientLimited)
			if limited != c.limited {
				t.Fatalf("pool of %d: client_limited %v; want %v", c.connections, limited, c.limited)
			}
			if !limited {
				return
			}
			if got, _ := e.Fields["effective_concurrency"].(float64); got != 32 || e.Fields["asked_concurrency"] != 64 {
				t.Errorf("fields = %v; want effective 32 of 64", e.Fields)
			}
			if s.max != 32 {
				t.Errorf("the server saw %d at once; want 32", s.max)
			}
		})
	}
}

// The wait for a slot and the wait for a connection are one figure, counted once.
func TestWaitIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{serve: always(500 * time.Millisecond)}
		l, err := start(t.Context(), s, loadgen.Config{Sender: pooled(s, 1)}, loadgen.Phase{
			Name: "p", Source: once(), Rate: 10, Arrival: arrival.Constant{Rate: 10}, Requests: 8, MaxInFlight: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		for k, r := range l.byIntended() {
			if got, want := time.Duration(r.Conn.Wait.Or(-1)), r.T.Send.Sub(r.T.Intended); got != want || got != time.Duration(k)*400*time.Millisecond {
				t.Errorf("request %d waited %v; want %v", k, got, want)
			}
		}
	})
}

// B70: memory does not grow with the length of a run.
func TestB70MemoryIsConstant(t *testing.T) {
	const requests = 300_000
	clock := archive.NewRunClock()
	var n atomic.Int64
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early atomic.Uint64
	err := loadgen.Run(t.Context(), loadgen.Config{
		Clock: clock,
		Sender: loadgen.SenderFunc(func(_ context.Context, _ *wire.Call, rec *archive.Request) {
			rec.T.Send = clock.Now()
			rec.T.Done, rec.Status = rec.T.Send, archive.StatusOK
		}),
		Record: func(*archive.Request) {
			if n.Add(1) == requests/5 {
				early.Store(heap())
			}
		},
	}, []loadgen.Phase{{Name: "p", Source: once(), Concurrency: 50, Requests: requests}})
	if err != nil {
		t.Fatal(err)
	}
	if grown := int64(heap()) - int64(early.Load()); grown > 4<<20 {
		t.Errorf("the heap grew by %d bytes between request %d and %d; want less than 4 MiB", grown, requests/5, requests)
	}
}

// B58: against a server that answers at once with 256 chunks, at concurrency 1,000, either
// the client reads within a millisecond or the run says that it was busy.
func TestB58BusyClientIsReported(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million chunks take seconds")
	}
	chunk := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n"
	body := []byte(strings.Repeat(chunk, 256) + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	}))
	defer ts.Close()
	clock := archive.NewRunClock()
	client, err := wire.New(wire.Config{BaseURL: ts.URL, Model: "m", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	l := new(log)
	err = loadgen.Run(t.Context(), loadgen.Config{Clock: clock, Sender: client, Record: l.record, Event: l.event}, []loadgen.Phase{{
		Name: "p", Source: once(), Concurrency: 1000, Requests: 2000,
	}})
	if err != nil || l.count()["ok"] != 2000 {
		t.Fatalf("records %v, %v; want 2000 ok", l.count(), err)
	}
	p99, known := client.Stats().LagP99.Get()
	e, _ := l.find(loadgen.EventClientLag)
	t.Logf("read lag P99 %v; %s", p99, e.Message)
	if known && p99 >= time.Millisecond && e.Severity != archive.SeverityWarning {
		t.Errorf("read lag P99 is %v and the event is %q of severity %q; want a warning", p99, e.Message, e.Severity)
	}
}

// The P99 of the lags decides whether the client was busy.
func TestClientLagIsReported(t *testing.T) {
	for _, c := range []struct {
		name string
		lag  time.Duration
		want archive.Severity
	}{{"quick", 50 * time.Microsecond, archive.SeverityInfo}, {"busy", 3 * time.Millisecond, archive.SeverityWarning}, {"unknown", 0, ""}} {
		s := &server{serve: always(time.Second), reply: func(n int, _ *wire.Call, rec *archive.Request) {
			if c.lag > 0 {
				rec.Conn.Lag = archive.Some(int64(c.lag))
			}
			if n == 0 && c.lag > 0 {
				rec.Conn.Lag = archive.Some(int64(time.Hour)) // one in many does not decide
			}
		}}
		l := drive(t, s, loadgen.Phase{Name: "p", Source: once(), Concurrency: 2, Requests: 300})
		if e, _ := l.find(loadgen.EventClientLag); e.Severity != c.want {
			t.Errorf("%s: event %q has severity %q; want %q", c.name, e.Message, e.Severity, c.want)
		}
	}
}

// The driver, the wire client and a real server over TCP: every request is accounted for
// and the histories arrive as they should.
func TestAgainstARealServer(t *testing.T) {
	var open, most atomic.Int64
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := open.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer open.Add(-1)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n"))
	}))
	defer ts.Close()
	clock := archive.NewRunClock()
	client, err := wire.New(wire.Config{BaseURL: ts.URL, Model: "m", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	l := new(log)
	err = loadgen.Run(t.Context(), loadgen.Config{Clock: clock, Sender: client, Record: l.record, Event: l.event}, []loadgen.Phase{{
		Name: "p", Source: script(tasks.Turn{User: "a", MaxTokens: 5}, tasks.Turn{User: "b", MaxTokens: 5}), Concurrency: 8, Requests: 200,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.count()["ok"]; got != 200 || most.Load() > 8 {
		t.Errorf("records %v, most open at once %d; want 200 ok and at most 8", l.count(), most.Load())
	}
	for _, r := range l.requests {
		if r.T.Send < r.T.Intended || r.T.First < r.T.Send || r.T.Done < r.T.First || r.Usage.Completion.Or(0) != 1 {
			t.Fatalf("record %+v is out of order", r)
		}
	}
}
