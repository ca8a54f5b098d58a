// Package tuner looks for a better configuration of a server, and says so only where it was
// proved: search finds candidates, interleaved blocks against the incumbent accept them, a
// clean relaunch on a workload that was held out certifies them. "Keep the default" is an
// answer like any other.
//
//	space ─► Strategy.Ask ─► Proposal ─► Bench.Measure ─► Trial ─► journal
//	             ▲                                          │
//	             └──────────── history ◄────────────────────┘
//
// A strategy is a pure function of the seed and the history, so that a study that was killed
// goes on from its journal as if nothing had happened.
package tuner

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Outcome is how a trial ended.
type Outcome string

// The outcomes. Everything but OK tells a search where not to go.
const (
	OK           Outcome = "ok"
	OOM          Outcome = "oom"           // device or host memory ran out
	StartFailure Outcome = "start_failure" // did not become ready, and said why
	StartTimeout Outcome = "start_timeout" // did not become ready in time
	Crash        Outcome = "crash"         // ended under load
	QualityFail  Outcome = "quality"       // the answers got worse
	Integrity    Outcome = "integrity"     // the speed is not that of serving the model
	Invalid      Outcome = "invalid"       // the measurement cannot be trusted: the client was the limit
)

// The roles of a trial in a study.
const (
	RoleDefault   = "default"   // the first measurement of all
	RoleSearch    = "search"    // a proposal, at some fidelity
	RoleIncumbent = "incumbent" // the best so far, again, against drift
	RoleBlock     = "block"     // one side of an acceptance block
	RoleCertify   = "certify"   // after a clean relaunch, held-out workload
)

// Load says which traffic a trial gets. Equal loads send the same requests at the same
// instants, so that trials can be compared in pairs.
type Load struct {
	// HeldOut chooses the workload that no search has seen.
	HeldOut bool `json:"held_out,omitempty"`
	// Order permutes the arrival order; 0 is the order of the search.
	Order uint64 `json:"order,omitempty"`
	// Rung is the fidelity: 0 is a smoke test, each further rung measures longer.
	Rung int `json:"rung"`
}

// Proposal is a configuration that somebody wants to have measured.
type Proposal struct {
	Config space.Assignment `json:"config"`
	// Source is who proposed it: "default", "sobol", "prior", "rules", "model", "tpe", "gp"...
	Source string `json:"source"`
	// Rung is the fidelity that the proposer asks for; see Load.
	Rung int `json:"rung,omitempty"`
	// Hypothesis, Predicted and Falsifier are what a proposer commits to before the trial:
	// why, the expected gain over the default with its interval, and what would refute it.
	Hypothesis string    `json:"hypothesis,omitempty"`
	Predicted  *Interval `json:"predicted,omitempty"`
	Falsifier  string    `json:"falsifier,omitempty"`
}

// Interval is a range; for gains 0.05 means 5 %.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Measurement is what a trial found.
type Measurement struct {
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"` // one sentence where Outcome is not OK
	// Value is the objective in its own unit; its direction is the objective's. Null unless
	// Outcome is OK.
	Value archive.Opt[float64] `json:"value"`
	// Blocks are values of Value over consecutive equal parts of the trial, in order. Trials
	// with equal loads have equal parts.
	Blocks []float64 `json:"blocks,omitempty"`
	// Slack is ln(metric/limit) of each constraint, in the order of the study's: ≤ 0 holds.
	Slack []float64 `json:"slack,omitempty"`
	// Metrics are other figures worth keeping, by name.
	Metrics map[string]float64 `json:"metrics,omitempty"`
	// Errors counts failed requests by kind.
	Errors map[string]int `json:"errors,omitempty"`
	// Quality are the scored checkpoint items. A journal keeps them without their texts.
	Quality []archive.Checkpoint `json:"quality,omitempty"`
	// Observed is what checks saw on the live server, by the check's name, such as a
	// fingerprint of its replies.
	Observed map[string]json.RawMessage `json:"observed,omitempty"`
	// StartUp and Took are the time to readiness and the time of the whole trial, start-up
	// included. They count against the budget. Watched is the part of Took that observers
	// needed, which not every trial has.
	StartUp time.Duration `json:"start_up_ns"`
	Watched time.Duration `json:"watched_ns,omitempty"`
	Took    time.Duration `json:"took_ns"`
	// Run is the run directory, "" where there is none.
	Run string `json:"run,omitempty"`
}

// Trial is one line of a study's journal: what was proposed, and what came of it.
type Trial struct {
	N    int    `json:"n"` // from 1
	Role string `json:"role"`
	Load Load   `json:"load"`
	// For is the key of the challenger that a block or a certification is about, and Pair
	// which of its blocks or orders, from 1.
	For  string `json:"for,omitempty"`
	Pair int    `json:"pair,omitempty"`
	Proposal
	Measurement
}

// Resumer is a Bench that wants to know what was measured before the program was
// restarted. Resume is called once, before the first Measure.
type Resumer interface {
	Resume(history []Trial)
}

// Bench measures configurations. It launches the server as asked, sends the load, and
// leaves the server running for the next trial where that needs no restart.
//
// Measure returns an error only when no trial can follow: a cancelled ctx, a server that can
// no longer be controlled. Everything a configuration can do wrong is an Outcome.
type Bench interface {
	Measure(ctx context.Context, config space.Assignment, load Load) (Measurement, error)
	// Relaunch forgets the running server, so that the next Measure starts a fresh one.
	Relaunch(ctx context.Context) error
	// Restore brings back the configuration that was running before the study.
	Restore(ctx context.Context) error
}

// Strategy proposes what to measure next. Ask returns up to n proposals, none that history
// already holds at its rung; an empty answer means that nothing is worth trying. All
// randomness comes from rng, so that equal histories get equal answers.
type Strategy interface {
	Name() string
	Ask(rng *rand.Rand, history []Trial, n int) []Proposal
}

// Goal is what a study optimises.
type Goal struct {
	// Metric names the objective, such as "output_throughput"; Maximise its direction.
	Metric   string `json:"metric"`
	Maximise bool   `json:"maximise"`
	// MinGain is the gain below which a change is not worth making; 0.02 is 2 %.
	MinGain float64 `json:"min_gain"`
}

// Score is the value on a scale on which more is better and equal steps are equal gains:
// ±ln(value). It is null where there is no positive value.
func (g Goal) Score(m *Measurement) archive.Opt[float64] {
	v, ok := m.Value.Get()
	if !ok || m.Outcome != OK || !(v > 0) || math.IsInf(v, 0) {
		return archive.Opt[float64]{}
	}
	if g.Maximise {
		return archive.Some(math.Log(v))
	}
	return archive.Some(-math.Log(v))
}
