package trace

import (
	"fmt"
	"time"
)

// Row is one request of a trace.
type Row struct {
	At      time.Duration // since the trace's own origin; meaningful when Timed
	Timed   bool
	Session string // "" when the trace has no sessions
	Turn    int    // 0 for the first
	In      int    // prompt tokens, history included
	Out     int    // generated tokens; 0 for a request that failed
	Cached  int    // prompt tokens served from a cache; -1 when not known
	Images  int
	Failed  bool
	Type    string // kind of request or model, as the trace calls it
	Think   time.Duration
	Blocks  []uint64 // identity of each prefix block in order
	Block   int      // tokens a block; 0 without blocks
}

// LineError names the line of a file that cannot be used.
type LineError struct {
	File string
	Line int
	Msg  string
}

// Error is "file:line: message".
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Limits of what is believed about one request.
const (
	maxTokens = 50_000_000
	maxBlocks = 1_000_000
	maxAt     = 100 * 365 * 24 * time.Hour
)

// check reports what is impossible about a row.
func (r *Row) check() error {
	switch {
	case r.In < 0 || r.In > maxTokens:
		return fmt.Errorf("%d prompt tokens is not between 0 and %d", r.In, maxTokens)
	case r.Out < 0 || r.Out > maxTokens:
		return fmt.Errorf("%d generated tokens is not between 0 and %d", r.Out, maxTokens)
	case len(r.Blocks) > maxBlocks:
		return fmt.Errorf("%d prefix blocks is above %d", len(r.Blocks), maxBlocks)
	case r.At < -maxAt || r.At > maxAt:
		return fmt.Errorf("the time stamp is out of range")
	}
	return nil
}
