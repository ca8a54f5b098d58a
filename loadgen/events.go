package loadgen

import (
	"fmt"

	"github.com/inferencebench/inferencebench/archive"
)

// Kinds of events that the driver makes, next to the phase boundaries of package archive.
// The Fields of each include "phase".
const (
	// EventPhaseDone follows EventPhaseEnd when the last request of the phase is over.
	// Fields: planned, sent, ok, failed, cancelled, and for a closed loop
	// asked_concurrency and reached_concurrency.
	EventPhaseDone = "phase_done"
	// EventConcurrency warns that a phase did not or cannot reach the concurrency asked
	// for. Fields: asked_concurrency, reached_concurrency.
	EventConcurrency = "concurrency_not_reached"
	// EventOverloaded says that sessions arrived faster than they were served. Fields:
	// offered, served (requests per second).
	EventOverloaded = "overloaded"
	// EventBacklog warns, once a phase, that arrivals were dropped at the backlog limit.
	// Fields: limit.
	EventBacklog = "backlog_full"
	// EventSessionEnd says that a session ended before its last turn for a reason that no
	// record shows. Fields: session, turn, reason, and for "context_limit" prompt_tokens,
	// max_tokens and limit.
	EventSessionEnd = "session_end"
)

// ReasonContextLimit is the reason of an EventSessionEnd: the next prompt and its answer
// would not fit the server's context.
const ReasonContextLimit = "context_limit"

// emit sends an event of this phase.
func (p *phase) emit(at archive.Instant, kind string, severity archive.Severity, fields map[string]any, format string, args ...any) {
	if p.cfg.Event == nil {
		return
	}
	if fields == nil {
		fields = map[string]any{}
	}
	fields["phase"] = p.Name
	p.cfg.Event(archive.Event{
		T: at, Kind: kind, Severity: severity, Source: "loadgen",
		Message: fmt.Sprintf(format, args...), Fields: fields,
	})
}
