package calibrate

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// late is a pacer that waits until some time after what it was asked for.
type late struct {
	clock archive.Clock
	by    time.Duration
}

func (p late) Until(ctx context.Context, at archive.Instant) error {
	select {
	case <-time.After(at.Add(p.by).Sub(p.clock.Now())):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the null server runs on Linux only")
	}
	clock := archive.NewRunClock()
	for _, engine := range []wire.Engine{wire.EngineNetHTTP, wire.EngineEventLoop} {
		r, err := Run(t.Context(), Config{Clock: clock, Engine: engine, Span: 40 * time.Millisecond, Streams: 8, Pacer: late{clock, 3 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Ceiling < 1000 || r.StampP99 < r.StampP50 || r.StampP50 < -time.Millisecond || r.StampP50 > time.Second || r.StampClock != "kernel" || !r.LagP99.Known() || !r.Coalesced.Known() {
			t.Errorf("engine %q: %+v", engine, r)
		}
		if got := r.PaceP50.Or(0); got < 2*time.Millisecond {
			t.Errorf("engine %q: a pacer that is 3 ms late is measured as %v late", engine, got)
		}
		t.Logf("engine %q: %+v", engine, *r)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := Run(ctx, Config{Clock: clock}); !errors.Is(err, why) {
		t.Errorf("with a context that is over: %v; want its cause", err)
	}
	if _, err := Run(t.Context(), Config{}); err == nil {
		t.Error("without a clock: no error")
	}
}
