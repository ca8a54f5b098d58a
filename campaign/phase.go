package campaign

import (
	"fmt"
	"path/filepath"
)

// Phase is one traffic shape over a window. It has a Concurrency (closed loop), a Rate
// (open loop) or a Trace, and ends at Requests or Duration, whichever comes first; a trace
// also ends with its last row.
type Phase struct {
	Name string `yaml:"name" json:"name"`
	// Concurrency is how many sessions are active at any moment.
	Concurrency int `yaml:"concurrency" json:"concurrency,omitempty"`
	// Rate is how many sessions start each second.
	Rate float64 `yaml:"request_rate" json:"request_rate,omitempty"`
	// Arrival is the process of an open loop, in the notation of arrival.Parse: "poisson",
	// "constant", "gamma cv=2", "onoff on=23s off=53s", "spike peak=50 at=30s" and so on.
	Arrival string `yaml:"arrival" json:"arrival,omitempty"`
	// Trace replays the arrivals and lengths of a recorded trace in place of the campaign's
	// workload. Checkpoints are not mixed into it.
	Trace *Trace `yaml:"trace" json:"trace,omitempty"`
	// Replay sends a frozen workload again in place of the campaign's workload: when it was
	// due then, or, with a Concurrency, in its order by that many users in a closed loop. A
	// closed loop that may outlive the workload needs a Duration or Requests.
	Replay *Replay `yaml:"replay" json:"replay,omitempty"`
	// MaxInFlight bounds the open requests of an open loop; 0 is no bound.
	MaxInFlight int      `yaml:"max_in_flight" json:"max_in_flight,omitempty"`
	Requests    int      `yaml:"requests" json:"requests,omitempty"`
	Duration    Duration `yaml:"duration" json:"duration,omitempty"`
	// Warmup is sent first and left out of the metrics.
	Warmup Warmup `yaml:"warmup" json:"warmup"`
	// Drain is how long open requests may go on after the phase's end.
	Drain Duration `yaml:"drain" json:"drain"`
}

// Trace is a recorded trace as load: its arrival times, its lengths and, where it has
// them, its shared prefixes. The texts are made to fit.
type Trace struct {
	File string `yaml:"file" json:"file"`
	// Speed is how many times as fast time runs; 0 is 1.
	Speed float64 `yaml:"speed" json:"speed,omitempty"`
	// Dither spreads quantised timestamps over their grid. Without it a trace that has
	// them is refused: replayed as they are, they are bursts that never happened.
	Dither bool `yaml:"dither" json:"dither,omitempty"`
	// From and To bound the part to use, in the trace's own time; To 0 is its end.
	From Duration `yaml:"from" json:"from,omitempty"`
	To   Duration `yaml:"to" json:"to,omitempty"`
	// Limit bounds the requests; MaxIn and MaxOut cut longer prompts and answers, in
	// tokens. 0 is no limit.
	Limit  int `yaml:"limit" json:"limit,omitempty"`
	MaxIn  int `yaml:"max_in" json:"max_in,omitempty"`
	MaxOut int `yaml:"max_out" json:"max_out,omitempty"`
}

func (t Trace) speed() float64 { return orOne(t.Speed) }

// Replay is a frozen workload as load.
type Replay struct {
	File string `yaml:"file" json:"file"`
	// History is "same" (the default) to send what was sent then, byte for byte, whatever
	// the server now answers, which is the fair way to compare two servers; or "live" to
	// send the same user turns and let the present replies be the history.
	History string `yaml:"history" json:"history,omitempty"`
	// Speed is how many times as fast time runs; 0 is 1.
	Speed float64 `yaml:"speed" json:"speed,omitempty"`
}

func (r Replay) speed() float64 { return orOne(r.Speed) }

// The values of Replay.History.
const (
	HistorySame = "same"
	HistoryLive = "live"
)

func orOne(f float64) float64 {
	if f == 0 {
		return 1
	}
	return f
}

// Load describes the shape in words, such as "concurrency 16".
func (p Phase) Load() string {
	switch {
	case p.Trace != nil:
		return fmt.Sprintf("trace %s at %gx", filepath.Base(p.Trace.File), p.Trace.speed())
	case p.Replay != nil && p.Concurrency > 0:
		return fmt.Sprintf("replay of %s at concurrency %d", filepath.Base(p.Replay.File), p.Concurrency)
	case p.Replay != nil:
		return fmt.Sprintf("replay of %s at %gx", filepath.Base(p.Replay.File), p.Replay.speed())
	case p.Rate > 0:
		return fmt.Sprintf("%g sessions/s, %s arrivals", p.Rate, p.Arrival)
	}
	return fmt.Sprintf("concurrency %d", p.Concurrency)
}
