package loadgen

import "sync/atomic"

// Live is the counters of a run while it goes on, for progress displays and for the
// client's own telemetry. Every counter only grows, but InFlight. The zero Live is ready
// to use, and is safe for concurrent use.
type Live struct {
	Planned   atomic.Int64 // requests that came due
	Sent      atomic.Int64 // requests handed to the sender
	OK        atomic.Int64
	Failed    atomic.Int64
	Cancelled atomic.Int64 // cut at the end of a phase, or never sent
	InFlight  atomic.Int64 // handed to the sender and not over
	Waiting   atomic.Int64 // due, and waiting for a slot in the client
	// OutputTokens counts the generated tokens of finished requests for which a count
	// was given.
	OutputTokens atomic.Int64
}
