// Package launch starts, watches and stops a server under test as a process of this
// machine, and turns a set of settings into its launch command.
//
//	base command + settings ─► Command ─► Start ─► Process ─► Alive ─► Stop
//	                                        │
//	                                        └─► *Failure: memory, refusal, time, crash
//
// A command is a list of words from start to end: no shell reads it. Only processes that
// this package started are ever signalled, by the id of the group that they were started
// in.
package launch

import "time"

// Kind is how a server failed. The words are those that a tuning study keeps.
type Kind string

// The kinds of failure.
const (
	OOM          Kind = "oom"           // device or host memory ran out
	StartFailure Kind = "start_failure" // it ended before it was ready
	StartTimeout Kind = "start_timeout" // it was not ready in time, and was stopped
	Crash        Kind = "crash"         // it was ready, and ended by itself
)

// Failure says how a server failed.
type Failure struct {
	Kind   Kind
	Reason string        // one sentence, with the line of the log that tells most
	After  time.Duration // from the start to when it was known
}

// Error is the reason.
func (f *Failure) Error() string { return f.Reason }
