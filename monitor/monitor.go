package monitor

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/monitor/health"
)

// Defaults of a Config.
const (
	DefaultInterval = time.Second
	DefaultTimeout  = 5 * time.Second
)

// Kinds of events that this package makes beside those in package archive.
const (
	EventSourceBack   = "source_back"   // a lost source answers again
	EventCounterReset = "counter_reset" // counters fell although the server did not start anew
	EventSourceNote   = "source_note"   // a source found something odd in what it read
)

// lostAfter is how many readings in a row must fail before a source counts as lost: one
// failure is noise.
const lostAfter = 2

// Config says what to watch. Clock and Sample are required.
type Config struct {
	Clock archive.Clock
	// Interval is the time between readings of one source; 0 is DefaultInterval.
	Interval time.Duration
	// Timeout ends a reading that takes too long; 0 is DefaultTimeout. While a reading
	// goes on, the readings that come due are left out.
	Timeout time.Duration
	Sources []Source
	// Watchers are followed as long as the watch lasts.
	Watchers []Watcher
	// Sample and Event take what was seen. They are called from several goroutines and
	// must be safe for that. Event may be nil.
	Sample func(archive.Sample)
	Event  func(archive.Event)
}

// Monitor is a set of sources being watched.
type Monitor struct {
	cfg  Config
	stop context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	closed bool

	healthMu sync.Mutex
	health   *health.Watch
	found    []archive.Event // by health, not reported yet

	statsMu sync.Mutex
	stats   Stats
}

// Stats are what the watching itself cost and how steady it was.
type Stats struct {
	Readings int // tried
	Failed   int
	// Took is the time that all readings took together, Longest the longest. It is time
	// passed, most of it waiting for an answer, and not processor time.
	Took, Longest time.Duration
	// Late is how late readings began together, Latest the latest.
	Late, Latest time.Duration
}

// EventStats is the kind of the event with the Stats, made when the watch ends.
const EventStats = "monitor_stats"

// Stats returns the costs so far.
func (m *Monitor) Stats() Stats {
	m.statsMu.Lock()
	defer m.statsMu.Unlock()
	return m.stats
}

func (m *Monitor) count(r reading) {
	m.statsMu.Lock()
	defer m.statsMu.Unlock()
	s := &m.stats
	s.Readings++
	if r.err != nil {
		s.Failed++
	}
	s.Took, s.Longest = s.Took+r.took, max(s.Longest, r.took)
	s.Late, s.Latest = s.Late+r.late, max(s.Latest, r.late)
}

// Start watches until ctx is done or Stop is called. Each source is read at once, then at
// every interval, and a last time at the end unless it had stopped answering, so that
// counters can be taken at the edges of the run.
func Start(ctx context.Context, cfg Config) *Monitor {
	if cfg.Interval <= 0 {
		cfg.Interval = DefaultInterval
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	ctx, stop := context.WithCancel(ctx)
	m := &Monitor{cfg: cfg, stop: stop}
	m.health = health.New(func(e archive.Event) { m.found = append(m.found, e) })
	for _, w := range cfg.Watchers {
		m.done.Go(func() { m.follow(ctx, w) })
	}
	for _, s := range cfg.Sources {
		m.done.Go(func() { (&watch{m: m, source: s}).run(ctx) })
	}
	return m
}

// Stop takes the last readings and ends the watch. It returns after at most about three
// times the timeout, whatever the sources do; nothing is reported after it has returned. It may
// be called more than once.
func (m *Monitor) Stop() {
	m.stop()
	m.done.Wait()
	if s := m.Stats(); s.Readings > 0 {
		n := time.Duration(s.Readings)
		m.emit(archive.Event{
			T: m.cfg.Clock.Now(), Kind: EventStats, Severity: archive.SeverityInfo, Source: "monitor",
			Message: fmt.Sprintf("%d readings, %d failed; each took %v (longest %v) and began %v late (latest %v)",
				s.Readings, s.Failed, (s.Took / n).Round(time.Microsecond), s.Longest.Round(time.Microsecond), (s.Late / n).Round(time.Microsecond), s.Latest.Round(time.Microsecond)),
			Fields: map[string]any{
				"readings": s.Readings, "failed": s.Failed, "took_mean_ns": int64(s.Took / n), "took_max_ns": int64(s.Longest),
				"late_mean_ns": int64(s.Late / n), "late_max_ns": int64(s.Latest),
			},
		})
	}
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
}

func (m *Monitor) sample(s archive.Sample) {
	m.mu.Lock()
	closed := m.closed
	m.mu.Unlock()
	if closed {
		return
	}
	m.cfg.Sample(s)
	m.healthMu.Lock()
	m.health.Add(s)
	found := m.found
	m.found = nil
	m.healthMu.Unlock()
	// Outside the lock: whoever takes events may be slow.
	for _, e := range found {
		m.emit(e)
	}
}

func (m *Monitor) event(s Source, kind string, sev archive.Severity, fields map[string]any, format string, args ...any) {
	if fields == nil {
		fields = map[string]any{}
	}
	fields["source"] = s.Kind()
	fields["target"] = s.Target()
	m.emit(archive.Event{T: m.cfg.Clock.Now(), Kind: kind, Severity: sev, Source: "monitor", Message: fmt.Sprintf(format, args...), Fields: fields})
}

// name is how messages call a source.
func name(s Source) string {
	if s.Target() == "" {
		return s.Kind()
	}
	return s.Kind() + " " + s.Target()
}

// watch is one source being watched, by one goroutine.
type watch struct {
	m      *Monitor
	source Source

	failed int // readings in a row
	lost   bool
	last   map[string]float64
	noted  map[string]bool
}

type reading struct {
	began  archive.Instant
	late   time.Duration
	took   time.Duration
	values map[string]float64
	each   map[string]map[string]float64 // by target, of a source of several
	err    error
}

func (w *watch) run(ctx context.Context) {
	clock, every := w.m.cfg.Clock, w.m.cfg.Interval
	first := clock.Now()
	due := first
	if !w.read(due) {
		return
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		// The next multiple of the interval: what came due during a reading is left out.
		now := clock.Now()
		due = first.Add((now.Sub(first)/every + 1) * every)
		timer.Reset(due.Sub(now))
		select {
		case <-timer.C:
			if !w.read(due) {
				return
			}
		case <-ctx.Done():
			if w.failed == 0 {
				w.read(clock.Now())
			}
			return
		}
	}
}

// read takes one reading and reports it. It returns false when the source hangs: its
// goroutine is then left behind, for there is no way to end it.
func (w *watch) read(due archive.Instant) bool {
	clock := w.m.cfg.Clock
	ctx, cancel := context.WithTimeout(context.Background(), w.m.cfg.Timeout)
	defer cancel()
	result := make(chan reading, 1)
	began := clock.Now()
	go func() {
		r := reading{began: began, late: max(0, began.Sub(due))}
		r.err = r.safely(ctx, w.source)
		r.took = clock.Now().Sub(began)
		result <- r
	}()
	hung := time.NewTimer(2 * w.m.cfg.Timeout)
	defer hung.Stop()
	select {
	case r := <-result:
		w.report(r)
		return true
	case <-hung.C:
		err := fmt.Errorf("no answer after %v, and it cannot be stopped", 2*w.m.cfg.Timeout)
		w.report(reading{began: began, took: clock.Now().Sub(began), err: err})
		w.lose(err)
		return false
	}
}

// safely reads a source; a panic in it is an error of that source.
func (r *reading) safely(ctx context.Context, s Source) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("fault in the source: %v", p)
		}
	}()
	if m, ok := s.(several); ok {
		r.each, err = m.ReadEach(ctx)
		return err
	}
	r.values, err = s.Read(ctx)
	return err
}

func (w *watch) report(r reading) {
	w.m.count(r)
	s := archive.Sample{T: r.began, Source: w.source.Kind(), Target: w.source.Target(), Took: int64(r.took), Late: int64(r.late)}
	if r.err != nil {
		s.Error = r.err.Error()
		s.Values = map[string]float64{}
		w.m.sample(s)
		w.failed++
		if w.failed == lostAfter {
			w.lose(r.err)
		}
		return
	}
	s.Values = r.values
	if s.Values == nil {
		s.Values = map[string]float64{}
	}
	if r.each == nil {
		w.m.sample(s)
	}
	for target, values := range r.each {
		one := s
		one.Target, one.Values = target, values
		w.m.sample(one)
	}
	w.failed = 0
	if w.lost {
		w.lost = false
		w.m.event(w.source, EventSourceBack, archive.SeverityInfo, nil, "%s answers again", name(w.source))
	}
	w.notes()
	if w.source.Kind() == archive.SourceEngine {
		w.restarts(s.Values)
	}
	w.last = s.Values
}

func (w *watch) lose(err error) {
	if w.lost {
		return
	}
	w.lost = true
	w.m.event(w.source, archive.EventSourceLost, archive.SeverityWarning, nil, "%s does not answer: %v", name(w.source), err)
}

// notes makes one event of each kind of oddity.
func (w *watch) notes() {
	a, ok := w.source.(annotated)
	if !ok {
		return
	}
	for _, n := range a.Annotations() {
		if w.noted[n.Code] {
			continue
		}
		if w.noted == nil {
			w.noted = map[string]bool{}
		}
		w.noted[n.Code] = true
		w.m.event(w.source, EventSourceNote, archive.SeverityInfo, map[string]any{"code": n.Code}, "%s: %s", name(w.source), n.Message)
	}
}

// restarts compares a reading of an engine with the one before it.
func (w *watch) restarts(now map[string]float64) {
	restart, fell := compare(w.last, now)
	switch {
	case restart:
		w.m.event(w.source, archive.EventEngineRestart, archive.SeverityError, map[string]any{"counters": fell},
			"the server started anew: what it counted between the last two readings is lost")
	case len(fell) > 0:
		w.m.event(w.source, EventCounterReset, archive.SeverityWarning, map[string]any{"counters": fell},
			"%s fell although the server did not start anew", strings.Join(fell, ", "))
	}
}
