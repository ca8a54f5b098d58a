package loadgen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
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
	// Pacer waits for due times; nil waits with timers on Clock. A pace.Pacer is more
	// exact.
	Pacer Pacer
	// Retry says which failed requests are sent again; the zero Retry none.
	Retry Retry
	// SessionHeader is a header that carries the session's id with every turn, so that a
	// router can keep a session on one replica; "" sends none.
	SessionHeader string
}

// Phase is one traffic shape over one source of sessions. Exactly one of Concurrency,
// and Rate or Arrival, says how sessions start; Requests, Duration or both say when the
// phase ends, whichever comes first.
type Phase struct {
	// Name is unique in the run and is in every record of the phase.
	Name   string
	Source tasks.Source

	// Tenants are shares of the traffic that run side by side, each with its own source
	// and shape. With tenants, the Source and the shape of the phase itself stay unset;
	// its limits, warm-up and in-flight cap hold for all of them together.
	Tenants []Tenant

	// Concurrency is the number of users of a closed loop. Each runs one session after
	// another and has at most one request open.
	Concurrency int
	// Pause is how long a user of a closed loop waits between the end of the session n
	// and the next one; nil is not at all. It must be a function of n alone.
	Pause func(session uint64) time.Duration
	// Patience is how long the user of a session waits for a whole reply, from the
	// intended instant: then the request is cancelled and the session is over. 0, or nil,
	// is for ever. It must be a function of its arguments alone; [Impatience] makes one.
	Patience func(session uint64, turn int) time.Duration
	// Shard makes this process carry out its part of the phase; the zero Shard all of it.
	Shard Shard
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

// Tenant is one share of the traffic of a phase. Exactly one of Concurrency, and Rate or
// Arrival, is set, with their meaning in [Phase].
type Tenant struct {
	Name string // in every record of the tenant
	// Class is the service class that its requests are judged by; may be empty.
	Class       string
	Source      tasks.Source
	Concurrency int
	Rate        float64
	Arrival     arrival.Process
}

// Shard is one of several processes that carry out a phase together. Shard Index of Of,
// counted from 0, takes every Of-th session, so the union of the shards is the phase.
// Users, requests and the in-flight cap are split evenly.
type Shard struct{ Index, Of int }

// Retry says which failed requests are sent again. A retry keeps the intended instant and
// the first send of its request, so that latency counts from the first try, and every
// failed try is in archive.Request.Attempts.
type Retry struct {
	// Max is how often a request is sent again. 0 is never: a benchmark that retries hides
	// what its users see.
	Max int
	// Backoff is the wait before a retry when the server names none by Retry-After; it
	// doubles each time. 0 is [DefaultBackoff].
	Backoff time.Duration
}

// Defaults of [Phase] and [Retry].
const (
	DefaultDrain      = 30 * time.Second
	DefaultMaxBacklog = 1 << 16
	DefaultBackoff    = time.Second
)

// maxConcurrency bounds the users of one process; a larger number is a slip of the pen.
const maxConcurrency = 1 << 20

// open reports whether sessions arrive by a process.
func (p *Phase) open() bool { return p.Concurrency == 0 }

// load says the shape in words, such as "concurrency 16".
func (p *Phase) load() string {
	if len(p.Tenants) > 0 {
		parts := make([]string, len(p.Tenants))
		for i, t := range p.Tenants {
			parts[i] = t.Name + ": " + (&Phase{Concurrency: t.Concurrency, Rate: t.Rate, Arrival: t.Arrival}).load()
		}
		return strings.Join(parts, "; ")
	}
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
		names := map[string]bool{}
		for _, t := range p.Tenants {
			if t.Name == "" || names[t.Name] {
				errs = append(errs, fmt.Errorf("phase %q: tenant name %q is empty or taken", p.Name, t.Name))
			}
			names[t.Name] = true
			for _, err := range p.as(t).shape() {
				errs = append(errs, fmt.Errorf("phase %q, tenant %q: %w", p.Name, t.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// as is the phase of one tenant alone.
func (p *Phase) as(t Tenant) *Phase {
	one := *p
	one.Tenants, one.Source, one.Concurrency, one.Rate, one.Arrival = nil, t.Source, t.Concurrency, t.Rate, t.Arrival
	return &one
}

// faults lists what is wrong with the phase by itself.
func (p *Phase) faults() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case len(p.Tenants) == 0:
		errs = p.shape()
	case len(p.Tenants) > maxTenants:
		bad("%d tenants are more than %d", len(p.Tenants), maxTenants)
	case p.Source != nil || p.Concurrency != 0 || p.Rate != 0 || p.Arrival != nil:
		bad("it has tenants and a source or shape of its own; give each tenant its own")
	}
	if p.Requests < 0 || p.Duration < 0 || p.Warmup.Requests < 0 || p.Warmup.Duration < 0 ||
		p.RampUp < 0 || p.MaxInFlight < 0 || p.MaxBacklog < 0 {
		bad("a count or a time is negative")
	}
	if s := p.Shard; s != (Shard{}) && (s.Of < 1 || s.Index < 0 || s.Index >= s.Of) {
		bad("shard %d of %d does not exist", s.Index, s.Of)
	}
	_, finite := p.Arrival.(interface{ Len() int })
	for i, t := range p.Tenants {
		_, ends := t.Arrival.(interface{ Len() int })
		finite = ends && (finite || i == 0)
	}
	if p.Requests == 0 && p.Duration == 0 && !finite {
		bad("nothing ends it; set a number of requests or a duration")
	}
	return errs
}

// maxTenants bounds the tenants of a phase: their number is eight bits of a session's.
const maxTenants = 255

// shape lists what is wrong with how sessions start.
func (p *Phase) shape() (errs []error) {
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
	return errs
}
