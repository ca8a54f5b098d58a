package archive

// Definitions names the set of metric definitions that an analysis follows. It changes
// whenever a definition changes.
const Definitions = "defs/1"

// Analysis is everything computed from one run. It is analysis.json, and what every
// rendering of a report is made from, together with the raw records for charts.
type Analysis struct {
	Schema      int    `json:"schema"`
	Definitions string `json:"definitions"`
	Run         string `json:"run"` // run id
	State       State  `json:"state"`
	Simulated   bool   `json:"simulated"`

	Verdict Verdict   `json:"verdict"`
	Gates   []Gate    `json:"gates"`
	Counts  Counts    `json:"counts"`
	Windows []Window  `json:"windows"` // one a phase, in order
	Metrics []Metric  `json:"metrics"`
	SLOs    []SLO     `json:"slos,omitempty"`
	Quality []Quality `json:"quality,omitempty"`

	Evidence        []Evidence       `json:"evidence"`
	Findings        []Finding        `json:"findings"`
	Recommendations []Recommendation `json:"recommendations"`
	Radar           []Axis           `json:"radar"`
	// Experiments are those that were made about the findings; nil when none were.
	Experiments *Experiments `json:"experiments,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
}

// Verdict is the answer in one line.
type Verdict struct {
	// State is one of "bottleneck", "none", "inconclusive" and "invalid".
	State string `json:"state"`
	// Cause is the primary finding's cause; "" unless State is "bottleneck".
	Cause      string `json:"cause,omitempty"`
	Headline   string `json:"headline"`             // one short sentence
	Why        string `json:"why,omitempty"`        // what the headline rests on, one sentence
	Confidence string `json:"confidence,omitempty"` // "high", "medium" or "low"
	Next       string `json:"next"`                 // the next step, one sentence
}

// The states of a verdict.
const (
	VerdictBottleneck   = "bottleneck"
	VerdictNone         = "none"
	VerdictInconclusive = "inconclusive"
	VerdictInvalid      = "invalid"
)

// Gate is one validity check. A failed gate makes the run unfit for attribution.
type Gate struct {
	ID       string    `json:"id"`
	Passed   Opt[bool] `json:"passed"` // unknown when it could not be checked
	Observed string    `json:"observed"`
	Limit    string    `json:"limit"`
	Message  string    `json:"message"` // one sentence
	Evidence []string  `json:"evidence,omitempty"`
}

// Counts is every request accounted for: Planned is the sum of the others.
type Counts struct {
	Planned   int            `json:"planned"`
	OK        int            `json:"ok"`
	Failed    int            `json:"failed"`
	Cancelled int            `json:"cancelled"`
	ByKind    map[Kind]int   `json:"by_kind"`  // all statuses
	Failures  map[string]int `json:"failures"` // failure kind to count
	// Of splits the counts by the kind of request, so that a failed warm-up or scored item
	// is not taken for a failure of the load.
	Of map[Kind]Tally `json:"of,omitempty"`
}

// Tally counts the requests of one kind by how they ended.
type Tally struct {
	OK        int            `json:"ok"`
	Failed    int            `json:"failed"`
	Cancelled int            `json:"cancelled"`
	Failures  map[string]int `json:"failures,omitempty"` // failure kind to count
}

// Measured sums the kinds that the figures of a run count: all but the warm-up. ok is false
// where the analysis does not split its counts.
func (c *Counts) Measured() (sum Tally, ok bool) {
	sum.Failures = map[string]int{}
	for k, t := range c.Of {
		if k == KindWarmup {
			continue
		}
		sum.OK, sum.Failed, sum.Cancelled = sum.OK+t.OK, sum.Failed+t.Failed, sum.Cancelled+t.Cancelled
		for f, n := range t.Failures {
			sum.Failures[f] += n
		}
	}
	return sum, len(c.Of) > 0
}

// Window is the measured part of one phase.
type Window struct {
	Phase string  `json:"phase"`
	From  Instant `json:"from"`
	To    Instant `json:"to"`
	// Load is the shape that was asked for, in words such as "concurrency 16".
	Load string `json:"load"`
	// Asked and Effective are the concurrency that was asked for (closed loop) and what
	// the requests add up to by Little's law.
	AskedConcurrency     Opt[float64] `json:"asked_concurrency"`
	EffectiveConcurrency Opt[float64] `json:"effective_concurrency"`
	// AskedRate and AchievedRate are sends per second, planned and done (open loop).
	AskedRate    Opt[float64] `json:"asked_rate"`
	AchievedRate Opt[float64] `json:"achieved_rate"`
}

// Metric is one quantity over one scope, with its distribution.
type Metric struct {
	ID    string `json:"id"`    // such as "ttft"
	Label string `json:"label"` // such as "Time to first token"
	Unit  string `json:"unit"`  // such as "ms"; "" for a ratio
	Scope string `json:"scope"` // "all", "phase:NAME", "task:NAME", "turn:first" or "turn:later"
	N     int    `json:"n"`
	// Stats maps "mean", "std", "min", "p50", "p90", "p95", "p99" and "max", or "value"
	// for a quantity that is one number, to its estimate.
	Stats map[string]Estimate `json:"stats"`
	// Interval says how the intervals of Stats were made, in words.
	Interval    string       `json:"interval,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
}

// Estimate is a number with its 95 % confidence interval. Value is unknown, and Reason
// says why, when the data cannot support it.
type Estimate struct {
	Value  Opt[float64] `json:"value"`
	Low    Opt[float64] `json:"low"`
	High   Opt[float64] `json:"high"`
	Reason string       `json:"reason,omitempty"`
	// Sample is the plain quantile of the observations, given also where the sample is too
	// small for Value: indicative only, and to be shown as such.
	Sample Opt[float64] `json:"sample,omitzero"`
}

// SLO is one objective and how the run met it.
type SLO struct {
	Expr string `json:"expr"` // as the user wrote it
	// Met is unknown when the data cannot decide.
	Met      Opt[bool] `json:"met"`
	Observed string    `json:"observed"`
	// Attainment is the share of intended requests that met a per-request limit.
	Attainment Estimate `json:"attainment"`
	Reason     string   `json:"reason,omitempty"`
}

// Quality is the score of one checkpoint kind.
type Quality struct {
	Kind     string       `json:"kind"`
	Set      string       `json:"set"`
	Scored   int          `json:"scored"`
	Unscored int          `json:"unscored"`
	Correct  int          `json:"correct"`
	Accuracy Estimate     `json:"accuracy"`
	Power    string       `json:"power"` // what this many items can and cannot show, one sentence
	Notes    []Annotation `json:"notes,omitempty"`
}

// Evidence is a computed fact with an id, the only thing that a claim may cite.
type Evidence struct {
	ID     string       `json:"id"` // E1, E2, …
	Metric string       `json:"metric"`
	Scope  string       `json:"scope"`
	From   Instant      `json:"from"`
	To     Instant      `json:"to"`
	Value  Opt[float64] `json:"value"`
	Low    Opt[float64] `json:"low"`
	High   Opt[float64] `json:"high"`
	Unit   string       `json:"unit"`
	Method string       `json:"method"` // how it was computed
	Text   string       `json:"text"`   // the fact in one sentence
	Family string       `json:"family"` // signal family: "client", "engine", "gpu", "host"
}

// Finding is an attribution with its evidence.
type Finding struct {
	ID         string   `json:"id"`    // F1, F2, …
	Cause      string   `json:"cause"` // such as "kv_capacity"
	Title      string   `json:"title"`
	Role       string   `json:"role"` // "primary", "contributing" or "considered"
	Score      float64  `json:"score"`
	Confidence string   `json:"confidence"`
	Summary    string   `json:"summary"`
	For        []string `json:"for"`     // evidence ids
	Against    []string `json:"against"` // evidence ids
	// Missing lists signals that would decide, each with how to get it.
	Missing []string `json:"missing,omitempty"`
	// Falsifier is the observation that would overturn the finding.
	Falsifier string `json:"falsifier"`
	// Probe is the experiment that would confirm it; Tested is "untested", "confirmed"
	// or "refuted".
	Probe  string `json:"probe"`
	Tested string `json:"tested"`
}

// Recommendation is a change with its predicted effect.
type Recommendation struct {
	ID      string `json:"id"`
	Finding string `json:"finding"`
	Action  string `json:"action"`         // what to do, one sentence
	Knob    string `json:"knob,omitempty"` // the engine's flag
	// From and To are the setting's value in the run and the one to try, where the
	// manifest tells the first and the second follows from it.
	From      string   `json:"from,omitempty"`
	To        string   `json:"to,omitempty"`
	Predicted string   `json:"predicted"` // expected effect, one sentence
	Risk      string   `json:"risk,omitempty"`
	Evidence  []string `json:"evidence"`
}

// Axis is one spoke of the radar, on a stated scale from 0 (bad) to 1 (good).
type Axis struct {
	Name   string       `json:"name"` // speed, cost, quality, stability, efficiency
	Value  Opt[float64] `json:"value"`
	Scale  string       `json:"scale"` // how Value was made from what, one sentence
	Reason string       `json:"reason,omitempty"`
}
