package loadgen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// Sender carries one call to the server. [wire.Client] is the real one.
type Sender interface {
	// Do sends the call, waits for the reply to end and fills rec: Status, Error, all of
	// T but Intended, and what it knows of the reply. When ctx ends first it returns soon
	// after, with what it had and the status cancelled. It keeps no reference to call or
	// rec. It is safe for concurrent use.
	Do(ctx context.Context, call *wire.Call, rec *archive.Request)
}

// SenderFunc makes a function a Sender.
type SenderFunc func(ctx context.Context, call *wire.Call, rec *archive.Request)

// Do calls f.
func (f SenderFunc) Do(ctx context.Context, call *wire.Call, rec *archive.Request) { f(ctx, call, rec) }

// Config is what all phases of a run share. Sender, Clock and Record are required.
type Config struct {
	Sender Sender
	Clock  archive.Clock
	// Record gets every request once, when it is over. It is called from the goroutine
	// of the session, so it must be safe for concurrent use and must not block for long;
	// it owns the record.
	Record func(*archive.Request)
	// Event gets phase boundaries, ended sessions and warnings. It must be safe for
	// concurrent use; nil drops them.
	Event func(archive.Event)
	// NewID makes request ids that are unique in the run; nil numbers them. It must be
	// safe for concurrent use.
	NewID func() string
	// Seed makes the arrivals of phases that give only a rate.
	Seed uint64
	// ContextLimit is the largest prompt plus answer that the server takes, in tokens.
	// A session ends before the turn that would pass it. 0 is unknown: no limit.
	ContextLimit int
	// History says what of a reply goes back to the server in the next turn.
	History History
	// Live is kept up to date while the run goes on; may be nil.
	Live *Live
	// Pacer waits for due times; nil waits with timers on Clock.
	Pacer Pacer
}

// Phase is one traffic shape over one source of sessions. Exactly one of Concurrency,
// and Rate or Arrival, says how sessions start; Requests, Duration or both say when the
// phase ends, whichever comes first.
type Phase struct {
	// Name is unique in the run and is in every record of the phase.
	Name   string
	Source tasks.Source

	// Concurrency is the number of users of a closed loop. Each runs one session after
	// another and has at most one request open.
	Concurrency int
	// RampUp spreads the start of the users of a closed loop evenly over this time.
	RampUp time.Duration

	// Rate is the mean number of sessions that arrive per second in an open loop. It is
	// the asked rate in every report; 0 with an Arrival leaves it unknown.
	Rate float64
	// Arrival is the arrival process; nil is Poisson at Rate.
	Arrival arrival.Process
	// MaxInFlight caps the requests open at once in an open loop; 0 is no cap. A request
	// that has to wait for a slot does so in order of due time, and its wait is in
	// archive.Conn.Wait.
	MaxInFlight int
	// MaxBacklog bounds the sessions of an open loop that are unfinished at once, in
	// thinking, waiting or open; an arrival beyond it is recorded as unsent. 0 is
	// [DefaultMaxBacklog].
	MaxBacklog int

	// Requests is the number of measured requests, turns and checkpoints alike. 0 is no
	// limit.
	Requests int
	// Duration is the length of the measured window. No request is sent after it. 0 is
	// no limit.
	Duration time.Duration
	// Warmup comes before the measured window and counts towards neither limit.
	Warmup Warmup
	// Drain is how long requests that are open when sends end may take to finish, before
	// they are cancelled. 0 is [DefaultDrain] when sends ended because Duration was over,
	// and no limit when all Requests had been sent. Negative cancels them at once.
	Drain time.Duration
}

// Warmup is load of the same shape that is sent before the measured window and recorded
// as warm-up. It lasts until both limits are reached.
type Warmup struct {
	Requests int
	Duration time.Duration
}

// Defaults of [Phase].
const (
	DefaultDrain      = 30 * time.Second
	DefaultMaxBacklog = 1 << 16
)

// maxConcurrency bounds the users of one process; a larger number is a slip of the pen.
const maxConcurrency = 1 << 20

// open reports whether sessions arrive by a process.
func (p *Phase) open() bool { return p.Concurrency == 0 }

// load says the shape in words, such as "concurrency 16".
func (p *Phase) load() string {
	if !p.open() {
		return fmt.Sprintf("concurrency %d", p.Concurrency)
	}
	s := fmt.Sprintf("poisson %g/s", p.Rate)
	if p.Arrival != nil {
		s = "own arrivals"
		if named, ok := p.Arrival.(fmt.Stringer); ok {
			s = named.String()
		}
	}
	if p.MaxInFlight > 0 {
		s += fmt.Sprintf(", at most %d in flight", p.MaxInFlight)
	}
	return s
}

// Validate reports every fault of the plan at once, each with the phase it is in.
func Validate(cfg Config, phases []Phase) error {
	var errs []error
	if cfg.Sender == nil || cfg.Clock == nil || cfg.Record == nil {
		errs = append(errs, errors.New("load: sender, clock and record are required"))
	}
	if cfg.ContextLimit < 0 {
		errs = append(errs, fmt.Errorf("load: context limit %d is negative; use 0 when it is unknown", cfg.ContextLimit))
	}
	if len(phases) == 0 {
		errs = append(errs, errors.New("load: there is no phase"))
	}
	seen := map[string]bool{}
	for i := range phases {
		p := &phases[i]
		if seen[p.Name] {
			errs = append(errs, fmt.Errorf("phase %q: the name is taken by an earlier phase", p.Name))
		}
		seen[p.Name] = true
		for _, err := range p.faults() {
			errs = append(errs, fmt.Errorf("phase %q: %w", p.Name, err))
		}
	}
	return errors.Join(errs...)
}

// faults lists what is wrong with the phase by itself.
func (p *Phase) faults() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.Source == nil {
		bad("there is no source of sessions")
	}
	if p.Concurrency < 0 || p.Concurrency > maxConcurrency {
		bad("concurrency %d is not between 1 and %d", p.Concurrency, maxConcurrency)
	}
	if p.Rate < 0 || math.IsNaN(p.Rate) || math.IsInf(p.Rate, 0) {
		bad("rate %v is not a positive number of arrivals per second", p.Rate)
	}
	if v, ok := p.Arrival.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			bad("%w", err)
		}
	}
	byRate := p.Rate != 0 || p.Arrival != nil
	switch {
	case p.Concurrency != 0 && byRate:
		bad("concurrency and a rate are both set; a closed loop has no rate, and an open loop is capped by the in-flight limit")
	case p.Concurrency == 0 && !byRate:
		bad("neither concurrency nor a rate is set")
	}
	if p.Requests < 0 || p.Duration < 0 || p.Warmup.Requests < 0 || p.Warmup.Duration < 0 ||
		p.RampUp < 0 || p.MaxInFlight < 0 || p.MaxBacklog < 0 {
		bad("a count or a time is negative")
	}
	if _, finite := p.Arrival.(interface{ Len() int }); p.Requests == 0 && p.Duration == 0 && !finite {
		bad("nothing ends it; set a number of requests or a duration")
	}
	return errs
}
