package probe

import "github.com/inferencebench/inferencebench/analyst/attribute"

// How likely an experiment is to confirm, in four steps. They are judgements from how a
// server works, not fitted to any run.
const (
	usual     = 0.9 // the response follows from the cause
	mostly    = 0.6 // it follows in most loads, or the judge often cannot tell
	sometimes = 0.3 // it follows where a second thing holds
	rarely    = 0.1 // by chance
)

// expectation is how likely an experiment is to confirm if a cause is the limit.
type expectation struct {
	Probe, Cause string
	Confirm      float64
	Why          string
}

// expectations is the matrix of experiments and causes. A pair that is not listed responds
// rarely.
var expectations = []expectation{
	{"P1", attribute.Prefill, usual, "half the tokens are computed"},
	{"P1", attribute.Prefix, mostly, "what the cache misses is computed, and there is less of it"},
	{"P1", attribute.Queueing, mostly, "shorter work dissolves the queue"},
	{"P1", attribute.KV, mostly, "more requests fit"},
	{"P1", attribute.Interference, mostly, "a prompt holds the others for less long"},
	{"P1", attribute.Cap, sometimes, "slots are free sooner, where prompts are what fills them"},
	{"P1", attribute.Throttle, sometimes, "a slow clock limits prefill first"},
	{"P1", attribute.Frontend, sometimes, "tokenising follows the prompt"},
	{"P1", attribute.Decode, sometimes, "less context is read, where context is what is read"},

	{"P2", attribute.Decode, usual, "a step reads half the KV cache"},
	{"P2", attribute.Prefill, mostly, "fewer steps carry a prompt"},
	{"P2", attribute.Interference, mostly, "fewer steps carry a prompt"},
	{"P2", attribute.Queueing, mostly, "the batch is no longer full"},
	{"P2", attribute.Speculation, mostly, "drafts cost most in a large batch"},
	{"P2", attribute.Host, sometimes, "the gap between steps grows with the batch, in part"},
	{"P2", attribute.KV, sometimes, "the batch shrinks once the queue is gone"},
	{"P2", attribute.Throttle, sometimes, "less power is drawn"},
	{"P2", attribute.External, sometimes, "the device is shared by less work"},

	{"P3", attribute.KV, mostly, "nothing is preempted or waits; whether throughput holds depends on the margin"},
	{"P3", attribute.Cap, mostly, "below the cap nothing waits either"},
	{"P3", attribute.Queueing, sometimes, "a client that waits makes no queue"},

	{"P4", attribute.Cap, usual, "more requests run"},

	{"P4b", attribute.Prefix, mostly, "the cache serves, or still does not; between the two cannot be told"},
	{"P4b", attribute.Prefill, mostly, "a shared beginning spares prefill whatever the cache did before"},

	{"P5", attribute.Host, usual, "the gap between steps shrinks"},
	{"P5", attribute.Frontend, sometimes, "free cores serve the front end too"},

	{"P6", attribute.Communication, usual, "what was waited for is halved"},
	{"P6", attribute.Host, mostly, "steps do not hang on the devices"},

	{"P7", attribute.Interference, mostly, "the stalls go, unless ordinary prompts stall too"},
	{"P7", attribute.Prefill, sometimes, "long prompts are most of the work, in heavy tails"},

	{"P9", attribute.Frontend, usual, "it no longer runs at its limit"},
	{"P9", attribute.Client, sometimes, "a client at its limit reads late"},
	{"P9", attribute.Host, sometimes, "its threads share cores with the front end"},

	{"P10", attribute.Queueing, usual, "completions exceed arrivals"},
	{"P10", attribute.Prefill, mostly, "whatever is short, the queue before it shrinks"},
	{"P10", attribute.Decode, mostly, "whatever is short, the queue before it shrinks"},
	{"P10", attribute.KV, mostly, "whatever is short, the queue before it shrinks"},
	{"P10", attribute.Cap, mostly, "whatever is short, the queue before it shrinks"},
	{"P10", attribute.Throttle, mostly, "whatever is short, the queue before it shrinks"},
	{"P10", attribute.Prefix, mostly, "whatever is short, the queue before it shrinks"},
	{"P10", attribute.Client, sometimes, "sends are less late, where the client is near its limit"},
	{"P10", attribute.Frontend, sometimes, "it has a queue of its own, where it is near its limit"},
	{"P10", attribute.Host, sometimes, "steps are shorter, where a queue had formed"},

	{"P11", attribute.Network, usual, "the round trip does not hang on the load"},
	{"P12", attribute.Client, usual, "two clients send what one cannot"},
	{"P13", attribute.Throttle, usual, "work follows the clock"},
	{"P14", attribute.Leak, usual, "what leaked stays"},
	{"P15", attribute.Speculation, usual, "rejected drafts are no longer computed"},
	{"P16", attribute.Imbalance, mostly, "other experts are loaded; how much hangs on the domain"},
	{"P17", attribute.External, usual, "the device is no longer shared"},
}

// confirms is how likely the experiment is to confirm if the cause is the limit.
func confirms(probe, cause string) float64 {
	for _, e := range expectations {
		if e.Probe == probe && e.Cause == cause {
			return e.Confirm
		}
	}
	return rarely
}

// What an arm takes, in minutes: a load of a minute, and a restart of the server with its
// loading and warm-up where that is changed. Only their ratio matters.
const (
	armMinutes    = 1.0
	changeMinutes = 5.0
)

// minutes is what the experiment takes.
func (p *Probe) minutes() float64 {
	m := 0.0
	for _, a := range p.Arms(Seen{}) {
		m += armMinutes
		if a.Server != "" {
			m += changeMinutes
		}
	}
	return m
}
