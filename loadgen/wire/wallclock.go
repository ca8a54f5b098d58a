package wire

import (
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// wallClock converts the kernel's stamps, which are wall-clock times, to instants of the
// run. It is safe for concurrent use.
//
// The offset between the two clocks is measured by reading the wall clock between two
// readings of the run's clock, and taking the tightest of several such brackets. It is
// measured again each second, and at once when a stamp does not fit, so that a step of
// the wall clock spoils at most the stamps that were already under way.
type wallClock struct {
	clock  archive.Clock
	offset atomic.Int64 // wall minus run, in nanoseconds
	next   atomic.Int64 // instant of the next measurement
	steps  atomic.Int64 // measurements that differed by more than stepSize
}

const (
	offsetEvery = int64(time.Second)
	stepSize    = int64(time.Millisecond)
	// A stamp this far ahead of the present, or behind it, has the offset measured anew.
	farAhead  = int64(20 * time.Microsecond)
	farBehind = int64(100 * time.Millisecond)
)

func newWallClock(c archive.Clock) *wallClock {
	w := &wallClock{clock: c}
	w.offset.Store(w.measure(100))
	w.next.Store(int64(c.Now()) + offsetEvery)
	return w
}

// instant converts a stamp that was read at now. The result is never after now.
func (w *wallClock) instant(wall int64, now archive.Instant) archive.Instant {
	if next := w.next.Load(); int64(now) >= next && w.next.CompareAndSwap(next, int64(now)+offsetEvery) {
		w.update()
	}
	at := wall - w.offset.Load()
	if ahead := at - int64(now); ahead > farAhead || ahead < -farBehind {
		w.update()
		at = wall - w.offset.Load()
	}
	return archive.Instant(max(1, min(at, int64(now))))
}

func (w *wallClock) update() {
	offset := w.measure(16)
	if d := offset - w.offset.Swap(offset); d > stepSize || d < -stepSize {
		w.steps.Add(1)
	}
}

// measure returns the offset of the tightest of n brackets.
func (w *wallClock) measure(n int) int64 {
	best, offset := int64(1<<62), int64(0)
	for range n {
		a := int64(w.clock.Now())
		wall := time.Now().UnixNano()
		b := int64(w.clock.Now())
		if b-a < best {
			best, offset = b-a, wall-(a+(b-a)/2)
		}
	}
	return offset
}
