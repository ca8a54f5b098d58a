package pace_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/pace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ loadgen.Pacer = (*pace.Pacer)(nil)

// No wait ends before its instant, and each is counted.
func TestNeverEarly(t *testing.T) {
	clock := archive.NewRunClock()
	p := pace.New(clock)
	defer p.Close()
	at := clock.Now()
	const waits = 200
	for range waits {
		at = at.Add(time.Duration(rand.Int64N(int64(2 * time.Millisecond))))
		if err := p.Until(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if now := clock.Now(); now < at {
			t.Fatalf("woke %v early", at.Sub(now))
		}
	}
	s := p.Stats()
	t.Logf("%+v", s)
	// Instants that were past when they were asked for are not waits.
	if s.Waits == 0 || s.Waits > waits || s.P50 > s.P99 || s.P99 > s.Max {
		t.Errorf("stats = %+v; want up to %d waits and ordered figures", s, waits)
	}
}

func TestPastIsAtOnce(t *testing.T) {
	clock := archive.NewRunClock()
	p := pace.New(clock)
	defer p.Close()
	if err := p.Until(t.Context(), clock.Now().Add(-time.Hour/2)); err != nil {
		t.Errorf("Until(the past) = %v; want nil", err)
	}
}

// A wait for a far instant ends with its context, and with Close.
func TestWaitsEnd(t *testing.T) {
	clock := archive.NewRunClock()
	p := pace.New(clock)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	far := clock.Now().Add(time.Hour)
	var wg sync.WaitGroup
	results := make(chan error, 3)
	for range 3 { // one has the thread, the others wait with timers
		wg.Go(func() { results <- p.Until(ctx, far) })
	}
	cancel(cause)
	wg.Wait()
	for range 3 {
		if err := <-results; !errors.Is(err, cause) {
			t.Errorf("Until = %v; want the cause %v", err, cause)
		}
	}
	wg.Go(func() { results <- p.Until(t.Context(), far) })
	wg.Go(func() { results <- p.Until(t.Context(), far) })
	p.Close()
	p.Close()
	wg.Wait()
	for range 2 {
		if err := <-results; !errors.Is(err, pace.ErrClosed) {
			t.Errorf("Until after Close = %v; want ErrClosed", err)
		}
	}
}

// BenchmarkOvershoot paces 1,000 instants a second and reports how late the wakes are.
func BenchmarkOvershoot(b *testing.B) {
	clock := archive.NewRunClock()
	p := pace.New(clock)
	defer p.Close()
	at := clock.Now()
	for b.Loop() {
		at = at.Add(time.Millisecond)
		if err := p.Until(b.Context(), at); err != nil {
			b.Fatal(err)
		}
	}
	s := p.Stats()
	b.ReportMetric(float64(s.P50)/1e3, "p50-us")
	b.ReportMetric(float64(s.P99)/1e3, "p99-us")
	b.ReportMetric(float64(s.Max)/1e3, "max-us")
}

// BenchmarkTimer is the same with the runtime's timers, for the ratio.
func BenchmarkTimer(b *testing.B) {
	clock := archive.NewRunClock()
	at := clock.Now()
	late := make([]time.Duration, 0, 1<<16)
	for b.Loop() {
		at = at.Add(time.Millisecond)
		timer := time.NewTimer(at.Sub(clock.Now()))
		<-timer.C
		late = append(late, clock.Now().Sub(at))
	}
	var sum time.Duration
	for _, d := range late {
		sum += d
	}
	b.ReportMetric(float64(sum)/float64(len(late))/1e3, "mean-us")
}
