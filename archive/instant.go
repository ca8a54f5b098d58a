package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Instant is a point on the run's monotonic clock, in nanoseconds since the run's
// epoch. The epoch lies before anything is recorded, so every real instant is
// positive: the zero Instant means "unknown" and is null in JSON.
type Instant int64

// Known reports whether the instant is a real one.
func (i Instant) Known() bool { return i > 0 }

// Sub returns the time from u to i. It is meaningful only when both are known.
func (i Instant) Sub(u Instant) time.Duration { return time.Duration(i - u) }

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// MarshalJSON writes an integer number of nanoseconds, or null.
func (i Instant) MarshalJSON() ([]byte, error) {
	if !i.Known() {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(i), 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes. Zero and negative numbers are refused:
// no writer of this format produces them.
func (i *Instant) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*i = 0
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("instant %.40q is not an integer number of nanoseconds", b)
	}
	if n <= 0 {
		return fmt.Errorf("instant %d is not positive", n)
	}
	*i = Instant(n)
	return nil
}

// Opt is a fact that may be unknown. The zero Opt is unknown and is null in JSON.
type Opt[T any] struct {
	v  T
	ok bool
}

// Some returns a known fact.
func Some[T any](v T) Opt[T] { return Opt[T]{v: v, ok: true} }

// Get returns the fact and whether it is known.
func (o Opt[T]) Get() (T, bool) { return o.v, o.ok }

// Known reports whether the fact is known.
func (o Opt[T]) Known() bool { return o.ok }

// Or returns the fact, or d when it is unknown.
func (o Opt[T]) Or(d T) T {
	if o.ok {
		return o.v
	}
	return d
}

// MarshalJSON writes the fact, or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.ok {
		return []byte("null"), nil
	}
	return json.Marshal(o.v)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*o = Opt[T]{}
		return nil
	}
	if err := json.Unmarshal(b, &o.v); err != nil {
		return err
	}
	o.ok = true
	return nil
}

// Equal reports whether both are unknown, or both known and equal. It lets go-cmp
// compare records.
func (o Opt[T]) Equal(p Opt[T]) bool {
	return o.ok == p.ok && (!o.ok || any(o.v) == any(p.v))
}

// Clock tells the time of a run. Implementations are safe for concurrent use.
type Clock interface {
	// Now returns the present instant. It never goes back and is always known.
	Now() Instant
}

// RunClock is the real clock of a run, on the operating system's monotonic clock.
type RunClock struct {
	epoch time.Time
}

// epochLead keeps every instant of a run positive.
const epochLead = time.Second

// NewRunClock starts a clock whose epoch lies one second before the call, so that the
// first instant it tells is one second.
func NewRunClock() *RunClock { return &RunClock{epoch: time.Now().Add(-epochLead)} }

// Now returns the time since the epoch, from the monotonic reading alone: steps of the
// wall clock do not move it.
func (c *RunClock) Now() Instant { return Instant(time.Since(c.epoch)) }

// Wall returns the wall-clock time of the epoch: the one anchor that the manifest keeps.
func (c *RunClock) Wall() time.Time { return c.epoch.Round(0) }

// ClockFunc makes a function a Clock.
type ClockFunc func() Instant

// Now calls f.
func (f ClockFunc) Now() Instant { return f() }
