package wire

import (
	"context"
	"errors"

	"github.com/inferencebench/inferencebench/archive"
)

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	cfg Config
}

// New returns a client for the server of cfg. It opens no connection. The error says
// which field is wrong.
func New(cfg Config) (*Client, error) {
	if cfg.Clock == nil {
		return nil, errors.New("wire: config has no clock")
	}
	return &Client{cfg: cfg}, nil
}

// Do sends the call, waits for the reply to end and fills rec: T (all but Intended),
// Chunks, Usage, Asked.MaxTokens, Conn, Finish, Text, Reasoning, ToolCalls, the hashes,
// Status, Error and Annotations. It leaves the other fields alone, never panics, and
// keeps no reference to call or rec after it returns. When ctx ends first, the request
// is cancelled with what it had.
func (c *Client) Do(ctx context.Context, call *Call, rec *archive.Request) {
	rec.Status = archive.StatusFailed
	rec.Error = &archive.Failure{Kind: archive.FailInternal, Message: "the transport is not in place"}
}

// Close closes idle connections. Requests in flight go on.
func (c *Client) Close() {}

// Stats are facts about the client itself since it was made.
type Stats struct {
	// StampClock is the clock that stamps arrivals: "kernel" or "user".
	StampClock string
	// Opened and Reused count connections opened, and requests that got one that had
	// carried another before.
	Opened, Reused int64
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats { return Stats{} }
