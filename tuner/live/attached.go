package live

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Attached is a Control of a server that somebody else runs and that stays as it is: it can be
// measured, and nothing about it can be changed.
type Attached struct {
	URL string
	// Argv is its launch command where that is known, to be shown.
	Argv    []string
	Adapter *engines.Adapter
	Machine launch.Machine
	Header  http.Header
}

// Command implements Control; nil where the launch command is not known.
func (c *Attached) Command(a space.Assignment) []string {
	if len(c.Argv) == 0 {
		return nil
	}
	argv, _, err := launch.Command(c.Argv, c.Adapter, a)
	if err != nil {
		return c.Argv
	}
	return argv
}

// Start implements Control: the server as it is "starts" at once, any other configuration is
// refused.
func (c *Attached) Start(ctx context.Context, a space.Assignment) (string, time.Duration, error) {
	if len(a) > 0 {
		return "", 0, fmt.Errorf("the server is only looked at, so that %s cannot be measured", a.Key())
	}
	if err := ctx.Err(); err != nil {
		return "", 0, context.Cause(ctx)
	}
	return c.URL, 0, nil
}

// Alive implements Control.
func (c *Attached) Alive() error {
	if c.Adapter.Ready.Path == "" {
		return nil
	}
	if err := alive(c.Machine, c.URL, c.Adapter, c.Header); err != nil {
		return &Failure{Outcome: tuner.Crash, Reason: firstLine(err)}
	}
	return nil
}

// Restore implements Control: nothing was changed.
func (c *Attached) Restore(context.Context) error { return nil }
