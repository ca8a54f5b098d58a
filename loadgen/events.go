package loadgen

import (
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/pace"
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
	// EventClientLimited warns that requests waited in the client for a connection, so that
	// the server saw less concurrency than was asked for. Fields: asked_concurrency,
	// effective_concurrency.
	EventClientLimited = "client_limited"
	// EventClientLag tells how long arrived bytes waited for this program, from the longest
	// such wait of each request, where the kernel stamps arrivals; a warning when its
	// P99 is over a millisecond. Fields: p50_ns, p99_ns.
	EventClientLag = "client_lag"
	// EventOverloaded says that sessions arrived faster than they were served. Fields:
	// offered, served (requests per second).
	EventOverloaded = "overloaded"
	// EventBacklog warns, once a phase, that arrivals were dropped at the backlog limit.
	// Fields: limit.
	EventBacklog = "backlog_full"
	// EventPacing tells, at the end of a run, how exactly the machine woke the pacer; a
	// warning when its P99 is over a millisecond. Fields: method, waits, p50_ns, p99_ns,
	// max_ns. It has no phase.
	EventPacing = "pacing"
	// EventSessionEnd says that a session ended before its last turn for a reason that no
	// record shows. Fields: session, turn, reason, and for "context_limit" prompt_tokens,
	// max_tokens and limit.
	EventSessionEnd = "session_end"
)

// ReasonContextLimit is the reason of an EventSessionEnd: the next prompt and its answer
// would not fit the server's context.
const ReasonContextLimit = "context_limit"

// poorPacing is the P99 of the pacer's lateness from which arrivals are not what they were
// planned to be.
const poorPacing = time.Millisecond

// reportPacing emits what the pacer knows of itself.
func reportPacing(cfg *Config) {
	p, ok := cfg.Pacer.(interface{ Stats() pace.Stats })
	if !ok || cfg.Event == nil {
		return
	}
	s := p.Stats()
	if s.Waits == 0 {
		return
	}
	e := archive.Event{
		T: cfg.Clock.Now(), Kind: EventPacing, Severity: archive.SeverityInfo, Source: "loadgen",
		Message: fmt.Sprintf("due times were met within %v at the median and %v at P99 (%s)", s.P50, s.P99, s.Method),
		Fields: map[string]any{
			"method": s.Method, "waits": s.Waits,
			"p50_ns": int64(s.P50), "p99_ns": int64(s.P99), "max_ns": int64(s.Max),
		},
	}
	if s.P99 > poorPacing {
		e.Severity = archive.SeverityWarning
		e.Message = fmt.Sprintf("this machine overshoots: one wake in a hundred was %v late or more, so short gaps between arrivals are not as planned", s.P99)
	}
	cfg.Event(e)
}

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
