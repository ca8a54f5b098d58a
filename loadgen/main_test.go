package loadgen_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log keeps what a run recorded.
type log struct {
	mu       sync.Mutex
	requests []*archive.Request
	events   []archive.Event
}

func (l *log) record(r *archive.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, r)
}

func (l *log) event(e archive.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// byIntended returns the requests in the order of the plan.
func (l *log) byIntended() []*archive.Request {
	out := slices.Clone(l.requests)
	slices.SortStableFunc(out, func(a, b *archive.Request) int { return cmp.Compare(a.T.Intended, b.T.Intended) })
	return out
}

// find returns the first event of a kind.
func (l *log) find(kind string) (archive.Event, bool) {
	for _, e := range l.events {
		if e.Kind == kind {
			return e, true
		}
	}
	return archive.Event{}, false
}

// count returns the records of each status and failure, such as "ok" and "cancelled unsent".
func (l *log) count() map[string]int {
	out := map[string]int{}
	for _, r := range l.requests {
		key := string(r.Status)
		if r.Error != nil {
			key += " " + r.Error.Kind
		}
		out[key]++
	}
	return out
}

// server is a fake of the server and its wire client. serve is called with the number of
// the request and says how long it takes; the default answer is one token at its end.
type server struct {
	clock archive.Clock
	serve func(n int) time.Duration
	reply func(n int, call *wire.Call, rec *archive.Request) // may be nil
	lanes int                                                // how many it serves at once; 0 has no limit

	mu        sync.Mutex
	queue     chan struct{} // made in the bubble
	n         int
	open, max int
	calls     [][]tasks.Message
	busy      map[int]time.Duration // time spent at each number of open requests
	lastMove  time.Time
}

// move counts the open requests and the time spent at the count before. s.mu is held.
func (s *server) move(by int) {
	now := time.Now()
	if s.busy == nil {
		s.busy, s.lastMove = map[int]time.Duration{}, now
	}
	s.busy[s.open] += now.Sub(s.lastMove)
	s.lastMove = now
	s.open += by
	s.max = max(s.max, s.open)
}

func (s *server) Do(ctx context.Context, call *wire.Call, rec *archive.Request) {
	s.mu.Lock()
	n := s.n
	s.n++
	s.move(1)
	s.calls = append(s.calls, slices.Clone(call.Messages))
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.move(-1)
		s.mu.Unlock()
	}()
	rec.T.Send = s.clock.Now()
	if !s.work(ctx, n) {
		rec.Status, rec.T.Done = archive.StatusCancelled, s.clock.Now()
		return
	}
	now := s.clock.Now()
	rec.T.First, rec.T.Last, rec.T.Done = now, now, now
	rec.Status, rec.Text, rec.Finish = archive.StatusOK, fmt.Sprintf("reply %d", n), "stop"
	rec.Usage = archive.Usage{Prompt: archive.Some(10), Completion: archive.Some(1), Source: archive.UsageServer}
	if s.reply != nil {
		s.reply(n, call, rec)
	}
}

// work takes the service time, after its turn in the queue. False means that ctx ended.
func (s *server) work(ctx context.Context, n int) bool {
	if s.queue != nil {
		select {
		case s.queue <- struct{}{}:
			defer func() { <-s.queue }()
		case <-ctx.Done():
			return false
		}
	}
	timer := time.NewTimer(s.serve(n))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// always serves every request in the same time.
func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// script is a source whose every session has the same turns.
func script(turns ...tasks.Turn) tasks.Source {
	return tasks.SourceFunc(func(uint64) tasks.Session {
		at := 0
		return sessionFunc(func(string) (tasks.Turn, bool) {
			if at == len(turns) {
				return tasks.Turn{}, false
			}
			at++
			return turns[at-1], true
		})
	})
}

type sessionFunc func(reply string) (tasks.Turn, bool)

func (f sessionFunc) Next(reply string) (tasks.Turn, bool) { return f(reply) }

// once is a source of sessions of one turn.
func once() tasks.Source { return script(tasks.Turn{Task: "chat", User: "hello"}) }

// drive runs phases against the server in virtual time, and fails the test on an error.
func drive(t *testing.T, s *server, phases ...loadgen.Phase) (l *log) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if l, err = start(t.Context(), s, loadgen.Config{}, phases...); err != nil {
			t.Fatalf("Run = %v", err)
		}
	})
	return l
}

// start runs phases against the server on a clock that starts now.
func start(ctx context.Context, s *server, cfg loadgen.Config, phases ...loadgen.Phase) (*log, error) {
	l := new(log)
	s.clock = archive.NewRunClock()
	if s.lanes > 0 {
		s.queue = make(chan struct{}, s.lanes)
	}
	if cfg.Sender == nil {
		cfg.Sender = s
	}
	cfg.Clock, cfg.Record, cfg.Event = s.clock, l.record, l.event
	return l, loadgen.Run(ctx, cfg, phases)
}

// ms turns a time into milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
