// Package probe holds the experiments that can refute a diagnosis: which there are, which
// would tell most about a set of findings, and what the numbers of one say.
//
//	findings ─► Choose ─► Probe ─► arms (short loads) ─► Seen ─► Judge ─► Outcome ─► Apply
//
// An arm is the run's own load with one thing changed. Probes that need a change of the
// server (P5, P6, P13, P15) are offered as instructions where nothing can make the change.
// The experiments and the responses expected of them follow the table of causes in
// docs/design.md; the package sends nothing.
package probe

import (
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Arm is a short load of an experiment: the run's own with one thing changed. The zero Arm
// is the run's load as it was.
type Arm struct {
	Name string `json:"name"`
	// Load multiplies the rate, or the users of a closed loop; 0 means 1. Concurrency offers a
	// closed loop of so many in its place.
	Load        float64 `json:"load,omitempty"`
	Concurrency int     `json:"concurrency,omitempty"`
	// Input multiplies the prompt lengths; 0 means 1. Longest leaves out prompts above so many
	// tokens; 0 leaves none out.
	Input   float64 `json:"input,omitempty"`
	Longest int     `json:"longest,omitempty"`
	// Repeat lets all prompts share their beginnings.
	Repeat bool `json:"repeat,omitempty"`
	// Generators is how many processes make the load together; 0 means 1.
	Generators int `json:"generators,omitempty"`
	// Server is what of the server is changed for this arm; "" is nothing.
	Server Change `json:"server,omitempty"`
}

// Change is one thing of a server that an experiment sets otherwise.
type Change string

// The changes of a server.
const (
	DoubleCap Change = "double_cap" // twice the cap on running requests
	LeanHost  Change = "lean_host"  // captured graphs, more cores: less work on the host
	HalfTP    Change = "half_tp"    // half the devices a layer
	FullClock Change = "full_clock" // cooled down, power limit at its maximum
	NoDrafts  Change = "no_drafts"  // speculative decoding off
	Alone     Change = "alone"      // no other program on the device
	Uniform   Change = "uniform"    // prompts of one domain
)

// Seen is what an arm showed. Latencies are milliseconds, rates per second, shares of one.
// What was not observed is unknown.
type Seen struct {
	Arm    Arm `json:"arm"`
	OK     int `json:"ok"`
	Failed int `json:"failed"`

	TTFT     archive.Opt[float64] `json:"ttft_p50"`
	TTFTMean archive.Opt[float64] `json:"ttft_mean"`
	TPOT     archive.Opt[float64] `json:"tpot_p50"`
	ITL50    archive.Opt[float64] `json:"itl_p50"`
	ITL99    archive.Opt[float64] `json:"itl_p99"`
	SendLag  archive.Opt[float64] `json:"send_lag_p50"`
	Requests archive.Opt[float64] `json:"requests_per_second"`
	Tokens   archive.Opt[float64] `json:"tokens_per_second"`
	Prompt   archive.Opt[float64] `json:"prompt_tokens"` // mean
	Prompt50 archive.Opt[float64] `json:"prompt_tokens_p50"`
	PerChunk archive.Opt[float64] `json:"tokens_per_chunk"` // mean

	KV        archive.Opt[float64] `json:"kv_usage"`
	KVMax     archive.Opt[float64] `json:"kv_usage_max"`
	Running   archive.Opt[float64] `json:"running"`
	Waiting   archive.Opt[float64] `json:"waiting"`
	Preempt   archive.Opt[float64] `json:"preemptions_per_request"`
	Hit       archive.Opt[float64] `json:"prefix_hit_share"`
	ServerOwn archive.Opt[float64] `json:"server_ttft_mean"` // by the server's own clock
	RTT       archive.Opt[float64] `json:"round_trip"`

	Took time.Duration `json:"took_ns"`
	Run  string        `json:"run,omitempty"` // its run directory
}

// The answers of an experiment about a cause.
const (
	Confirmed = "confirmed"
	Refuted   = "refuted"
	Untested  = "untested" // the experiment could not tell, or was not made
)

// Outcome is what one experiment said about one cause.
type Outcome struct {
	Probe    string `json:"probe"` // P1, P2, …
	Cause    string `json:"cause"`
	Answer   string `json:"answer"`
	Expected string `json:"expected"` // the response if the cause is the limit, one sentence
	Observed string `json:"observed"` // with its numbers, one sentence
	Arms     []Seen `json:"arms"`
}

// String is the outcome in one line.
func (o Outcome) String() string {
	return fmt.Sprintf("%s, %s: %s. Expected: %s Seen: %s", o.Probe, o.Cause, o.Answer, o.Expected, o.Observed)
}
