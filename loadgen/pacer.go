package loadgen

import (
	"context"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Pacer waits for due times.
type Pacer interface {
	// Until returns nil at the instant at, or at once when that is past; it never returns
	// early. When ctx ends first it returns the cause. It is safe for concurrent use.
	Until(ctx context.Context, at archive.Instant) error
}

// timerPacer waits with the runtime's timers, which wake up to a millisecond late in an
// idle process.
type timerPacer struct{ clock archive.Clock }

// Until implements [Pacer].
func (p timerPacer) Until(ctx context.Context, at archive.Instant) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d := at.Sub(p.clock.Now())
		if d <= 0 {
			return nil
		}
		timer := time.NewTimer(d)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}
