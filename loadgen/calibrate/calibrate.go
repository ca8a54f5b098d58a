// Package calibrate measures the measurer: it runs the wire client against a null server
// on the same machine and says how many chunks a second it can take, how far its stamps
// are from the truth, and how late it sends what was planned.
package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/null"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// Pacer waits for due times. [loadgen.Pacer] is one.
type Pacer interface {
	Until(ctx context.Context, at archive.Instant) error
}

// Config says what to measure with. Clock is required; every other zero value is a
// default.
type Config struct {
	// Clock is the run's clock. It must tick with the machine's monotonic clock.
	Clock archive.Clock
	// Engine and Loops choose the client's transport.
	Engine wire.Engine
	Loops  int
	// Pacer is what the load is sent by; nil leaves pacing unmeasured.
	Pacer Pacer
	// Span is how long each part takes; 0 is 250 ms.
	Span time.Duration
	// Streams is how many streams are open at once; 0 is 64.
	Streams int
}

// Result is what the client can do on this machine, now. Server and client shared it: on
// a machine of their own each would do better.
type Result struct {
	// Ceiling is how many chunks a second the client took when the server sent one a
	// segment as fast as it could. It is a lower bound: the server may have been slower.
	Ceiling float64
	// StampP50 and StampP99 are the time from the server's send to the stamp, at Rate
	// chunks a second: the error of a stamp, and the send path of loopback.
	StampP50, StampP99 time.Duration
	Rate               float64
	// LagP99 is how late this program read what had come, as it measures that itself;
	// unknown without kernel stamps.
	LagP99 archive.Opt[time.Duration]
	// Coalesced is the share of chunks that shared a read with a later one, at Rate.
	Coalesced archive.Opt[float64]
	// PaceP50 and PaceP99 are how late the pacer let go at 1,000 a second; unknown
	// without a pacer.
	PaceP50, PaceP99 archive.Opt[time.Duration]
	// SleepP50 and SleepP99 are how much longer than asked this machine sleeps 1 ms.
	SleepP50, SleepP99 time.Duration
	// StampClock is the clock of the stamps: "kernel" or "user".
	StampClock string
}

// gap is the time between the chunks of a stream while stamps are measured.
const gap = 10 * time.Millisecond

// Run measures. It takes about four spans. The error says why nothing could be measured;
// the run may go on without.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if cfg.Clock == nil {
		return nil, errors.New("calibrate: the configuration has no clock")
	}
	if cfg.Span <= 0 {
		cfg.Span = 250 * time.Millisecond
	}
	if cfg.Streams <= 0 {
		cfg.Streams = 64
	}
	server, err := null.Start()
	if err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	defer server.Close()
	res := &Result{}
	if err := cfg.stamps(ctx, server, res); err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	if err := cfg.ceiling(ctx, server, res); err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	if err := cfg.pacing(ctx, res); err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	return res, nil
}

// streams runs the streams of one shape at once, until ctx ends or each has made its
// calls, and returns the records.
func (cfg *Config) streams(ctx context.Context, server *null.Server, shape null.Shape, calls int) ([]*archive.Request, wire.Stats, error) {
	c, err := wire.New(wire.Config{BaseURL: server.URL() + shape.Path(), Model: "null", Clock: cfg.Clock, Engine: cfg.Engine, Loops: cfg.Loops})
	if err != nil {
		return nil, wire.Stats{}, err
	}
	defer c.Close()
	all := make([][]*archive.Request, cfg.Streams)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			for range calls {
				rec := &archive.Request{}
				c.Do(ctx, &wire.Call{Prompt: "calibrate", MaxTokens: shape.Chunks}, rec)
				if ctx.Err() != nil {
					return
				}
				all[i] = append(all[i], rec)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, wire.Stats{}, context.Cause(ctx)
	}
	recs := slices.Concat(all...)
	for _, rec := range recs {
		if rec.Status != archive.StatusOK {
			return nil, wire.Stats{}, fmt.Errorf("a request to the null server failed: %s: %s", rec.Error.Kind, rec.Error.Message)
		}
	}
	return recs, c.Stats(), nil
}

// stamps measures the error of stamps at a moderate rate.
func (cfg *Config) stamps(ctx context.Context, server *null.Server, res *Result) error {
	recs, st, err := cfg.streams(ctx, server, null.Shape{Chunks: max(2, int(cfg.Span/gap)), Gap: gap}, 1)
	if err != nil {
		return err
	}
	offset := cfg.offset()
	var errs []time.Duration
	first, last := recs[0].T.First, archive.Instant(0)
	for _, rec := range recs {
		sent, err := null.Stamps(rec.Text)
		if err != nil {
			return err
		}
		if len(sent) != len(rec.Chunks.T) {
			return fmt.Errorf("%d chunks came of %d sent", len(rec.Chunks.T), len(sent))
		}
		for i, at := range rec.Chunks.T {
			errs = append(errs, time.Duration(int64(at)-(sent[i]-offset)))
		}
		first, last = min(first, rec.T.First), max(last, rec.T.Last)
	}
	res.StampP50, res.StampP99 = quantile(errs, 0.5), quantile(errs, 0.99)
	res.Rate = float64(len(errs)) / max(1e-9, last.Sub(first).Seconds())
	res.LagP99, res.Coalesced, res.StampClock = st.LagP99, st.CoalescedShare(), st.StampClock
	return nil
}

// offset returns the server's clock minus the run's.
func (cfg *Config) offset() int64 {
	best, offset := int64(1<<62), int64(0)
	clock := null.NewClock()
	for range 50 {
		a := int64(cfg.Clock.Now())
		mono := clock.Now()
		b := int64(cfg.Clock.Now())
		if b-a < best {
			best, offset = b-a, mono-(a+(b-a)/2)
		}
	}
	return offset
}

// ceiling measures how many chunks a second the client takes.
func (cfg *Config) ceiling(ctx context.Context, server *null.Server, res *Result) error {
	// One call each, sized by a first small round so that it lasts about a span.
	chunks := 64
	for {
		recs, _, err := cfg.streams(ctx, server, null.Shape{Chunks: chunks}, 1)
		if err != nil {
			return err
		}
		first, last, n := recs[0].T.Headers, archive.Instant(0), 0
		for _, rec := range recs {
			first, last, n = min(first, rec.T.Headers), max(last, rec.T.Done), n+len(rec.Chunks.T)
		}
		took := max(last.Sub(first), time.Microsecond)
		res.Ceiling = float64(n) / took.Seconds()
		if took >= cfg.Span/2 || chunks >= 1<<16 {
			return nil
		}
		chunks = min(1<<16, int(float64(chunks)*min(16, max(2, float64(cfg.Span)/float64(took)))))
	}
}

// pacing measures the pacer, and the machine's own sleep.
func (cfg *Config) pacing(ctx context.Context, res *Result) error {
	n := max(20, int(cfg.Span/time.Millisecond))
	late := make([]time.Duration, 0, n)
	for range n {
		before := cfg.Clock.Now()
		t := time.NewTimer(time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
		late = append(late, cfg.Clock.Now().Sub(before)-time.Millisecond)
	}
	res.SleepP50, res.SleepP99 = quantile(late, 0.5), quantile(late, 0.99)
	if cfg.Pacer == nil {
		return nil
	}
	late = late[:0]
	start := cfg.Clock.Now().Add(2 * time.Millisecond)
	for i := range n {
		due := start.Add(time.Duration(i) * time.Millisecond)
		if err := cfg.Pacer.Until(ctx, due); err != nil {
			return err
		}
		late = append(late, cfg.Clock.Now().Sub(due))
	}
	res.PaceP50, res.PaceP99 = archive.Some(quantile(late, 0.5)), archive.Some(quantile(late, 0.99))
	return nil
}

// quantile returns the value at a share of the way through the sorted values.
func quantile(v []time.Duration, q float64) time.Duration {
	slices.Sort(v)
	return v[int(q*float64(len(v)-1))]
}
