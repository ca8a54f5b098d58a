package analyst

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/archive"
)

// phase is one phase as its events and the configuration tell it.
type phase struct {
	name    string
	bounds  metrics.Bounds // from events; unknown ends are zero
	started archive.Instant
	warmup  bool // a warm-up came before the measured window
	load    string
	// concurrency and rate are what was asked for; unknown in the other kind of loop.
	concurrency, rate archive.Opt[float64]
}

// timeline is what the events of a run tell about its phases.
type timeline struct {
	phases      []*phase
	interrupted bool
	other       []archive.Event // events worth a mention: restarts, lost sources, warnings
}

func (t *timeline) phase(name string) *phase {
	for _, p := range t.phases {
		if p.name == name {
			return p
		}
	}
	p := &phase{name: name}
	t.phases = append(t.phases, p)
	return p
}

// event takes one event, in the order of the file.
func (t *timeline) event(e *archive.Event) {
	name, _ := e.Fields["phase"].(string)
	switch e.Kind {
	case archive.EventPhaseStart:
		p := t.phase(name)
		p.started, p.bounds.From = e.T, e.T
		if s, ok := e.Fields["load"].(string); ok {
			p.load = s
		}
		p.concurrency = positive(e.Fields["concurrency"])
		p.rate = positive(e.Fields["rate"])
	case archive.EventMeasureStart:
		p := t.phase(name)
		p.warmup = p.started.Known() && e.T > p.started
		p.bounds.From = e.T
	case archive.EventPhaseEnd:
		t.phase(name).bounds.To = e.T
	case archive.EventInterrupted:
		t.interrupted = true
	default:
		if e.Severity != archive.SeverityInfo && len(t.other) < 100 {
			t.other = append(t.other, *e)
		}
	}
}

func positive(v any) archive.Opt[float64] {
	var f float64
	switch x := v.(type) {
	case float64:
		f = x
	case int:
		f = float64(x)
	}
	if f > 0 {
		return archive.Some(f)
	}
	return archive.Opt[float64]{}
}

// configured fills what the events left open from the campaign as resolved.
func (t *timeline) configured(config json.RawMessage) {
	var c struct {
		Phases []struct {
			Name        string  `json:"name"`
			Concurrency float64 `json:"concurrency"`
			Rate        float64 `json:"request_rate"`
			Arrival     string  `json:"arrival"`
		} `json:"phases"`
	}
	if len(config) == 0 || json.Unmarshal(config, &c) != nil {
		return
	}
	for _, q := range c.Phases {
		i := slices.IndexFunc(t.phases, func(p *phase) bool { return p.name == q.Name })
		if i < 0 {
			continue
		}
		p := t.phases[i]
		if !p.concurrency.Known() && !p.rate.Known() {
			p.concurrency, p.rate = positive(q.Concurrency), positive(q.Rate)
		}
		if p.load == "" && q.Rate > 0 {
			p.load = fmt.Sprintf("%g/s %s", q.Rate, q.Arrival)
		}
	}
}

// spans is what the records tell about a phase, for runs whose events are missing.
type spans struct {
	first, lastSend, lastDone archive.Instant
	load                      int
}

// windows returns the measured window of each phase. drained names the phases whose
// window runs to the last answer, because the sends alone span too little of it.
func windows(t *timeline, table *metrics.Table) (out []archive.Window, drained map[string]bool, notes []archive.Annotation) {
	seen := make([]spans, len(table.Phases.List()))
	table.Each(func(r *metrics.Row) {
		s := &seen[r.Phase]
		if r.Kind() == archive.KindWarmup {
			return
		}
		if r.T.Intended.Known() && (!s.first.Known() || r.T.Intended < s.first) {
			s.first = r.T.Intended
		}
		s.lastSend = max(s.lastSend, r.T.Send)
		if r.OK() {
			s.lastDone = max(s.lastDone, r.T.Last, r.T.First)
		} else if r.T.Send.Known() {
			s.lastDone = max(s.lastDone, r.T.Done)
		}
		s.load++
	})
	for i, name := range table.Phases.List() {
		if seen[i].load > 0 {
			t.phase(name)
		}
	}
	drained = map[string]bool{}
	for _, p := range t.phases {
		i, ok := table.Phases.Index(p.name)
		if !ok || seen[i].load == 0 {
			continue
		}
		s := seen[i]
		w := archive.Window{Phase: p.name, From: p.bounds.From, To: p.bounds.To, Load: p.load}
		if !w.From.Known() {
			w.From = s.first
			notes = append(notes, archive.Annotation{Code: "window_from_records", Message: fmt.Sprintf("phase %s has no start event; its window starts at its first request", p.name)})
		}
		sends := w.To
		if !sends.Known() {
			sends = s.lastSend
		}
		// A phase of few requests sends them all at once; the answers come afterwards.
		if s.lastDone > w.From && (!w.To.Known() || 2*int64(sends-w.From) < int64(s.lastDone-w.From)) {
			w.To = max(s.lastDone, sends)
			drained[p.name] = true
		}
		if p.concurrency.Known() {
			w.AskedConcurrency = p.concurrency
			if w.Load == "" {
				c, _ := p.concurrency.Get()
				w.Load = fmt.Sprintf("concurrency %g", c)
			}
		} else if p.rate.Known() {
			w.AskedRate = p.rate
			if w.Load == "" {
				r, _ := p.rate.Get()
				w.Load = fmt.Sprintf("%g/s", r)
			}
		}
		out = append(out, w)
	}
	return out, drained, notes
}
