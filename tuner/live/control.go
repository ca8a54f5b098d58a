package live

import (
	"context"
	"time"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Control starts and stops the server under test. It is used by one goroutine.
type Control interface {
	// Start replaces whatever runs by a fresh server with the assignment and returns its base
	// URL when it can take requests, and how long that took. A configuration that does not
	// start is a *Failure; any other error says that the server can no longer be controlled.
	Start(ctx context.Context, a space.Assignment) (url string, took time.Duration, err error)
	// Alive returns nil while the server that Start started runs, and else a *Failure.
	Alive() error
	// Restore brings back what was running before the first Start.
	Restore(ctx context.Context) error
	// Command is the launch command of an assignment, to be shown: nothing is run.
	Command(a space.Assignment) []string
}

// Failure says how a configuration failed.
type Failure struct {
	Outcome tuner.Outcome
	Reason  string        // one sentence
	Took    time.Duration // until it was known
}

// Error is the reason.
func (f *Failure) Error() string { return f.Reason }
