package archive

// Sample is one reading of one source at one instant. One line of series.jsonl.
//
// The key of Values is a canonical signal name (package engines lists the engine's, the
// sources of package monitor theirs), so that readers need not know the dialect that a
// server speaks. A signal that the source does not expose is absent. A name that ends in
// _total, _sum, _count or _bucket is cumulative; every other is a gauge.
type Sample struct {
	T      Instant            `json:"t"`
	Source string             `json:"source"` // "engine", "gpu", "host" or "client"
	Target string             `json:"target"` // which one: a metrics URL, a GPU UUID, a process; "" when there is one
	Values map[string]float64 `json:"values"`
	// Took is how long the reading took, in nanoseconds.
	Took int64 `json:"took_ns"`
	// Late is how long after its due time the reading began, in nanoseconds: the jitter of
	// the monitor itself.
	Late int64 `json:"late_ns,omitempty"`
	// Error is set, and Values empty, when the source could not be read.
	Error string `json:"error,omitempty"`
}

// The sources of samples.
const (
	SourceEngine = "engine"
	SourceGPU    = "gpu"
	SourceHost   = "host"
	SourceClient = "client"
)

// Severity grades an event.
type Severity string

// The severities.
const (
	SeverityInfo    Severity = "info"
	SeverityWarning Severity = "warning"
	SeverityError   Severity = "error"
)

// Event is something dated: a phase boundary, a restart, a lost source, an
// interruption. One line of events.jsonl.
type Event struct {
	T        Instant        `json:"t"`
	Kind     string         `json:"kind"` // stable, such as "phase_start"
	Severity Severity       `json:"severity"`
	Source   string         `json:"source"` // the package or agent that saw it
	Message  string         `json:"message"`
	Fields   map[string]any `json:"fields,omitempty"`
}

// Kinds of events that more than one package reads.
const (
	EventPhaseStart    = "phase_start"    // Fields: phase
	EventMeasureStart  = "measure_start"  // the warm-up of a phase ended; Fields: phase
	EventPhaseEnd      = "phase_end"      // no more sends in this phase; Fields: phase
	EventInterrupted   = "interrupted"    // the user or a signal ended the run
	EventSourceLost    = "source_lost"    // a telemetry source stopped answering
	EventEngineRestart = "engine_restart" // counters fell
)

// Checkpoint is one scored item. One line of checkpoints.jsonl.
type Checkpoint struct {
	Request string `json:"request"` // id of the request that carried it
	Kind    string `json:"kind"`    // such as "gsm8k"
	Set     string `json:"set"`     // the item set and its version, such as "own-maths/1"
	Item    string `json:"item"`
	Prompt  string `json:"prompt"`
	Reply   string `json:"reply"`
	// Extracted is the answer found in the reply; unknown when none was found.
	Extracted Opt[string] `json:"extracted"`
	Expected  string      `json:"expected"`
	// Score is 1 for right and 0 for wrong; unknown when the item could not be scored,
	// and then Reason says why.
	Score  Opt[float64] `json:"score"`
	Method string       `json:"method"` // the rule that extracted the answer
	Reason string       `json:"reason,omitempty"`
	T      Instant      `json:"t"` // when the reply was complete
	// InFlight is how many requests were open when this one was sent.
	InFlight int `json:"in_flight"`
}
