package wire

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// linger is how long a body may stay open after the stream said that it was over.
const linger = 5 * time.Second

// watch enforces the limits on one exchange. It costs one store for each read: the timer
// looks at what was stored when it fires, and sleeps on.
type watch struct {
	client *Client
	cancel func(*archive.Failure)

	start archive.Instant
	byteT atomic.Int64 // the last byte from the server
	token atomic.Bool  // a token-bearing event came
	over  atomic.Int64 // when the stream said that it was over; 0 before

	mu    sync.Mutex
	timer *time.Timer
	done  bool
}

// begin starts the limits.
func (w *watch) begin() {
	w.start = w.client.cfg.Clock.Now()
	w.byteT.Store(int64(w.start))
	w.arm()
}

// arm sets the timer to the nearest limit, if there is one.
func (w *watch) arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, in := w.check(w.client.cfg.Clock.Now())
	switch {
	case w.done || f == nil && in <= 0:
	case w.timer == nil:
		w.timer = time.AfterFunc(max(in, 0), w.fire)
	default:
		w.timer.Reset(max(in, 0))
	}
}

func (w *watch) fire() {
	if f, _ := w.check(w.client.cfg.Clock.Now()); f != nil {
		w.cancel(f)
		return
	}
	w.arm()
}

// stop ends the limits.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// finished starts the limit on the end of the body.
func (w *watch) finished(at archive.Instant) {
	if w.over.CompareAndSwap(0, int64(at)) {
		w.arm()
	}
}

// check returns the limit that has passed, or how long it is to the nearest one; zero
// when there is none.
func (w *watch) check(now archive.Instant) (*archive.Failure, time.Duration) {
	t := &w.client.cfg.Timeouts
	nearest := time.Duration(0)
	var passed *archive.Failure
	limit := func(d time.Duration, since archive.Instant, kind, what string) {
		if d <= 0 || passed != nil {
			return
		}
		left := d - now.Sub(since)
		if left <= 0 {
			passed = w.client.fail(kind, "%s within the limit of %v", what, d)
		} else if nearest == 0 || left < nearest {
			nearest = left
		}
	}
	limit(t.Total, w.start, archive.FailTimeoutTotal, "the reply did not end")
	if !w.token.Load() {
		limit(t.FirstToken, w.start, archive.FailTimeoutFirst, "no token came")
	}
	limit(t.Idle, archive.Instant(w.byteT.Load()), archive.FailTimeoutIdle, "no byte came")
	if over := w.over.Load(); over > 0 {
		limit(linger, archive.Instant(over), archive.FailTimeoutIdle, "the body did not end after the end of the stream")
	}
	return passed, nearest
}
