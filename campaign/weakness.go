package campaign

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/agents/director"
	"github.com/inferencebench/inferencebench/agents/director/live"
	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/workload"
)

// FindWeakness is the value of Config.Find that looks for traffic which breaks an
// objective, as close to the ordinary as can be.
const FindWeakness = "weakness"

// EventWeakness is the kind of the event that tells of one weakness.
const EventWeakness = "weakness"

// Defaults of a search for weaknesses.
const (
	weaknessRate     = 2.0 // sessions a second of ordinary traffic
	weaknessPhase    = 20 * time.Second
	weaknessSessions = 60 // of the workload that reproduces a weakness
	defaultPhases    = 30
)

// liveLimits are the objectives as the search for weaknesses measures them.
func liveLimits(exprs []string) ([]live.Limit, error) {
	ls, err := limits(exprs)
	if err != nil {
		return nil, err
	}
	known := map[string]live.Metric{"ttft": live.TTFT, "tpot": live.TPOT, "e2e": live.E2E}
	var out []live.Limit
	for _, l := range ls {
		m, ok := known[l.Metric]
		if !ok || l.Op != "<" && l.Op != "<=" {
			return nil, fmt.Errorf("slo %q: a search for weaknesses takes upper limits on ttft, tpot and e2e, such as ttft_p95<500ms", l)
		}
		out = append(out, live.Limit{Name: slo.Limit.String(l), Metric: m, Quantile: 1 - l.Allowed, Max: l.Value, Ordinary: true})
	}
	return out, nil
}

// weakness searches for the traffic that breaks the objectives.
func (r *run) weakness(ctx context.Context, dir string) (*director.Map, error) {
	ls, err := liveLimits(r.cfg.SLO)
	if err != nil {
		return nil, err
	}
	p := r.cfg.Phases[0]
	rate, span := p.Rate, time.Duration(p.Duration)
	if rate == 0 {
		rate = weaknessRate
	}
	if span == 0 {
		span = weaknessPhase
	}
	space := director.Traffic()
	options := tasks.Options{Seed: r.cfg.Seed}
	cfg := r.load()
	trial, err := live.NewTrial(live.Config{
		Space: space, Load: cfg, Options: options, BaseRate: rate,
		Duration: span, Warmup: min(p.Warmup.Duration, span/4), Limits: ls, Salt: r.id,
	})
	if err != nil {
		return nil, err
	}
	s := &director.Search{
		Space: space, Trial: trial, Budget: r.cfg.SearchPhases, Seed: r.cfg.Seed,
		Progress: func(t director.Tried) { r.tell(tried(t)) },
	}
	if r.director != nil {
		names := make([]string, len(ls))
		for i, l := range ls {
			names[i] = l.Name
		}
		s.Proposer = &director.Model{Caller: r.director.caller, Objectives: names}
	}
	m, err := s.Run(ctx)
	if m == nil {
		return nil, err
	}
	for i := range m.Weaknesses {
		w := &m.Weaknesses[i]
		if ferr := r.freezeWeakness(dir, i, w, space, rate, options); ferr != nil {
			r.opts.Log.Warn("a weakness could not be frozen", "err", ferr)
		}
		r.w.Event(archive.Event{
			T: r.clock.Now(), Kind: EventWeakness, Severity: archive.SeverityWarning, Source: "director",
			Message: Weakness(w), Fields: map[string]any{"weakness": w},
		})
	}
	return m, err
}

// freezeWeakness writes the workload that reproduces a weakness.
func (r *run) freezeWeakness(dir string, i int, w *director.Weakness, space director.Space, rate float64, o tasks.Options) error {
	load, err := director.NewLoad(space, w.Point, rate, o)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("weakness-%d.jsonl.zst", i+1)
	_, err = load.Freeze(filepath.Join(dir, name), workload.Header{Run: r.id, Seed: r.cfg.Seed, Model: r.target.server.Model}, weaknessSessions, r.cfg.Seed)
	if err == nil {
		w.Workload = name
	}
	return err
}

// tried is one phase of the search on one line.
func tried(t director.Tried) string {
	names := slices.Sorted(maps.Keys(t.Settings))
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = fmt.Sprintf("%s %g", n, t.Settings[n])
	}
	line := t.By + ": " + strings.Join(parts, ", ")
	if t.Error != "" {
		return line + ": " + t.Error
	}
	for _, n := range slices.Sorted(maps.Keys(t.Scores)) {
		line += fmt.Sprintf("; %s at %.2f of its limit", n, math.Exp(t.Scores[n]))
	}
	return line
}

// tell passes a line on to whoever watches.
func (r *run) tell(msg string) {
	if r.opts.Searching != nil {
		r.opts.Searching(msg)
	}
}

// Weakness says in a sentence what breaks an objective.
func Weakness(w *director.Weakness) string {
	changes := make([]string, len(w.Changes))
	for i, c := range w.Changes {
		changes[i] = fmt.Sprintf("%s %g (ordinarily %g)", c.Setting, c.To, c.From)
	}
	s := fmt.Sprintf("%s is missed (%s) in %d of %d tries with %s", w.Objective, w.Observed, w.Broke, w.Tries, strings.Join(changes, ", "))
	if w.Workload != "" {
		s += "; " + w.Workload + " reproduces it"
	}
	return s
}
