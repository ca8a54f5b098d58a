package loadgen

import (
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// budget decides which turns of a phase may still be planned, and which of them are
// warm-up. It is a function of what it was asked; it reads no clock.
type budget struct {
	warmup   Warmup
	requests int
	duration time.Duration
	start    archive.Instant

	warm, measured int             // turns planned of each
	from           archive.Instant // when measuring began; unknown during warm-up
	end            archive.Instant // end of the measured window; unknown without one
}

func newBudget(p *Phase, start archive.Instant) budget {
	b := budget{warmup: p.Warmup, requests: p.Requests, duration: p.Duration, start: start}
	if p.Warmup == (Warmup{}) {
		b.measure(start)
	}
	return b
}

// measure starts the measured window.
func (b *budget) measure(at archive.Instant) {
	b.from = at
	if b.duration > 0 {
		b.end = at.Add(b.duration)
	}
}

// claim asks to plan a turn that is due at the instant at. began is true for the turn
// that ends the warm-up.
func (b *budget) claim(at archive.Instant) (warm, began, ok bool) {
	if !b.from.Known() {
		if b.warm < b.warmup.Requests || at < b.start.Add(b.warmup.Duration) {
			b.warm++
			return true, false, true
		}
		b.measure(at)
		began = true
	}
	if b.spent() || b.end.Known() && at >= b.end {
		return false, began, false
	}
	b.measured++
	return false, began, true
}

// spent reports whether every measured request has been planned.
func (b *budget) spent() bool { return b.requests > 0 && b.measured == b.requests }

// planned is the number of turns planned.
func (b *budget) planned() int { return b.warm + b.measured }
