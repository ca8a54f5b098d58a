//go:build !linux || 386 || s390x

package wire

import (
	"context"
	"errors"

	"github.com/inferencebench/inferencebench/archive"
)

// loopEngine is the event-loop transport, which this system does not have.
type loopEngine struct{}

func newLoopEngine(*Client) (*loopEngine, error) {
	return nil, errors.New("the event loop runs on Linux only: use the net/http engine")
}

func (*loopEngine) close() {}

func (*loopEngine) start(context.Context, *Call, []byte, *archive.Request, bool, func()) {}
