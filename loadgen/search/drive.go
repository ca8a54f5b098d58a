package search

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// Prober carries out one probe. For an open loop it counts every request in level, from
// one goroutine at a time, and ends the load when level decides.
type Prober interface {
	Probe(ctx context.Context, p Probe, level *Level) (Result, error)
}

// Drive carries out the search to its end. Each finished probe is told to watch, which may
// be nil. The answer holds what was found when an error ended the search.
func Drive(ctx context.Context, m *Machine, prober Prober, watch func(Probe, Result)) (Answer, error) {
	for {
		p, ok := m.Next()
		if !ok {
			return m.Answer(), nil
		}
		var level *Level
		if p.Stage != Saturate {
			level = m.Level(p)
		}
		r, err := prober.Probe(ctx, p, level)
		if err != nil {
			return m.Answer(), fmt.Errorf("search stage %s: %w", p.Stage, err)
		}
		m.Report(p, r)
		if watch != nil {
			watch(p, r)
		}
	}
}

// Load is a Prober that sends real load.
type Load struct {
	Config loadgen.Config // of every probe
	// Phase is the template: source, in-flight limit and drain. Its name is the prefix of
	// the names of the probes.
	Phase loadgen.Phase
	// Misses says which limits an ok request misses: bit i for limit i. A request that
	// failed misses all.
	Misses func(*archive.Request) uint64
	// MaxLag is the send lag, as a share of the time in the system, above which the client
	// is the limit; 0 is [DefaultMaxLag].
	MaxLag float64

	probes int
}

// DefaultMaxLag is the largest acceptable ratio of summed send lags to summed latencies.
const DefaultMaxLag = 0.05

// errDecided ends a probe whose level has decided.
var errDecided = errors.New("the level is decided")

// Probe implements [Prober].
func (l *Load) Probe(ctx context.Context, p Probe, level *Level) (Result, error) {
	l.probes++
	phase := l.Phase
	phase.Name = fmt.Sprintf("%s%s-%d", l.Phase.Name, p.Stage, l.probes)
	phase.Warmup = loadgen.Warmup{Requests: p.Settle}
	phase.Requests, phase.Duration, phase.Arrival = p.Requests, 0, nil
	phase.Concurrency, phase.Rate = p.Concurrency, p.Rate
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	c := counter{load: l, level: level, decided: func() { cancel(errDecided) }}
	cfg := l.Config
	cfg.Seed += uint64(l.probes) << 20
	cfg.Sender = loadgen.SenderFunc(c.send)
	cfg.Record = func(r *archive.Request) {
		c.record(r)
		l.Config.Record(r)
	}
	// Probes must not send the same prompts again: a prefix cache would answer them.
	err := loadgen.Run(ctx, cfg, []loadgen.Phase{renumber(phase, l.probes)})
	if err != nil && !errors.Is(err, errDecided) {
		return Result{}, err
	}
	return c.result(l.MaxLag), nil
}

// renumber shifts the sessions of a phase, so that no two probes send the same.
func renumber(p loadgen.Phase, by int) loadgen.Phase {
	p.Source = shifted{p.Source, uint64(by) << 40}
	return p
}

// counter counts the requests of one probe.
type counter struct {
	load    *Load
	level   *Level
	decided func()

	mu          sync.Mutex
	first, last archive.Instant // completions of measured requests
	ok          int
	lag, span   float64
	cut         bool
}

// send carries a call out with its level counting it.
func (c *counter) send(ctx context.Context, call *wire.Call, rec *archive.Request) {
	if c.level == nil {
		c.load.Config.Sender.Do(ctx, call, rec)
		return
	}
	c.mu.Lock()
	number := c.level.Start()
	c.mu.Unlock()
	c.load.Config.Sender.Do(ctx, call, rec)
	misses := uint64(AllMissed)
	switch rec.Status {
	case archive.StatusOK:
		misses = c.load.Misses(rec)
	case archive.StatusCancelled:
		return // cut by the decision: it stays open
	}
	c.mu.Lock()
	c.level.Finish(number, misses)
	over := !c.cut && c.level.Decide() != Continue
	c.cut = c.cut || over
	c.mu.Unlock()
	if over {
		c.decided()
	}
}

// record sees every finished request.
func (c *counter) record(r *archive.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Kind == archive.KindWarmup || r.Status != archive.StatusOK {
		return
	}
	if !c.first.Known() || r.T.Done < c.first {
		c.first = r.T.Done
	}
	c.last = max(c.last, r.T.Done)
	c.ok++
	c.lag += r.T.Send.Sub(r.T.Intended).Seconds()
	c.span += r.T.Done.Sub(r.T.Intended).Seconds()
}

// result sums up the probe.
func (c *counter) result(maxLag float64) Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	if maxLag == 0 {
		maxLag = DefaultMaxLag
	}
	r := Result{Level: c.level}
	if c.ok > 1 && c.last > c.first {
		r.Throughput = float64(c.ok-1) / c.last.Sub(c.first).Seconds()
	}
	r.ClientLimited = c.level != nil && c.load.Phase.MaxInFlight == 0 && c.span > 0 && c.lag > maxLag*c.span
	return r
}
