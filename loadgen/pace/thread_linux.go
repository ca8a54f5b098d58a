package pace

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/inferencebench/inferencebench/archive"
)

// slice bounds one sleep of the thread, so that a wait that was given up, or Close, does
// not have to wait for a far instant.
const slice = 20 * time.Millisecond

// supported reports whether an own thread helps: the spin needs a processor that the
// goroutines do not.
func supported() bool { return runtime.NumCPU() > 1 && runtime.GOMAXPROCS(0) > 1 }

// thread serves wakes, one at a time, on a thread of its own. The thread is never given
// back to the runtime, because its timer slack is not what other goroutines expect.
func (p *Pacer) thread() {
	defer close(p.done)
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for {
		select {
		case r := <-p.ask:
			r.reply <- p.wake(r)
		case <-p.quit:
			return
		}
	}
}

// wake returns the present instant once it is at most Spin before r.at; 0 when the wait was
// given up or the pacer closed.
func (p *Pacer) wake(r request) archive.Instant {
	for {
		now := p.clock.Now()
		left := r.at.Sub(now)
		if left <= Spin {
			return now
		}
		if r.stop.Load() {
			return 0
		}
		select {
		case <-p.quit:
			return 0
		default:
		}
		sleepUntil(min(left-Spin, slice))
	}
}

// sleepUntil sleeps to the absolute instant d from now on the kernel's monotonic clock, so
// that an interrupted sleep is resumed without growing.
func sleepUntil(d time.Duration) {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		time.Sleep(d)
		return
	}
	until := unix.NsecToTimespec(now.Nano() + int64(d))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
	}
}
