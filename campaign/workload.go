package campaign

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/learn"
	"github.com/inferencebench/inferencebench/tasks/scenario"
	"github.com/inferencebench/inferencebench/tasks/trace"
	"github.com/inferencebench/inferencebench/tasks/workload"
)

// source is the traffic of the campaign: sessions of load with checkpoint items between
// them.
func (r *run) source() (tasks.Source, error) {
	w := r.cfg.Workload
	if w.Model != "" {
		m, err := readModel(w.Model)
		if err != nil {
			return nil, Problems{{Field: "workload.model", Message: err.Error()}}
		}
		o := m.Options(r.cfg.Seed)
		o.Salt, o.ReusePrompts = r.id, w.ReusePrompts
		return r.generate(o)
	}
	isl, err := tasks.ParseLength(w.ISL)
	if err != nil {
		return nil, Problems{{Field: "workload.isl", Message: err.Error()}}
	}
	osl, err := tasks.ParseLength(w.OSL)
	if err != nil {
		return nil, Problems{{Field: "workload.osl", Message: err.Error()}}
	}
	turns, err := tasks.ParseLength(w.Turns)
	if err != nil {
		return nil, Problems{{Field: "workload.turns", Message: err.Error()}}
	}
	think, err := tasks.ParsePause(w.Think)
	if err != nil {
		return nil, Problems{{Field: "workload.think", Message: err.Error()}}
	}
	var mix []tasks.Share
	if w.Tasks != "" {
		if mix, err = tasks.ParseMix(w.Tasks); err != nil {
			return nil, Problems{{Field: "workload.tasks", Message: err.Error()}}
		}
	}
	return r.generate(tasks.Options{
		Counter: r.counter,
		Seed:    r.cfg.Seed, Salt: r.id, ReusePrompts: w.ReusePrompts,
		Mix: mix, ISL: isl, OSL: osl, Turns: turns, Think: think,
		SharedPrefixTokens: w.SharedPrefix,
		IgnoreEOS:          w.IgnoreEOS, Temperature: w.temperature(),
	})
}

// generate is sessions made by the options, with checkpoint items between them.
func (r *run) generate(o tasks.Options) (tasks.Source, error) {
	load, err := tasks.NewGenerator(o)
	if err != nil {
		return nil, Problems{{Field: "workload", Message: err.Error()}}
	}
	if r.director != nil {
		if load, err = r.director.turns(load); err != nil {
			return nil, err
		}
	}
	every := r.cfg.Checkpoints.every()
	if r.items == nil || every == 0 {
		return load, nil
	}
	return tasks.Interleave(load, r.items.sets.Source(r.cfg.Seed), every), nil
}

// readModel reads a private workload model.
func readModel(path string) (*learn.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := learn.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// phases turns the configured phases into the driver's.
func (r *run) phases(source tasks.Source) ([]loadgen.Phase, error) {
	if r.cfg.Scenario.Name != "" {
		return r.scenario()
	}
	out := make([]loadgen.Phase, len(r.cfg.Phases))
	for i, p := range r.cfg.Phases {
		src, process, err := r.shape(p, source, r.cfg.Seed+uint64(i))
		if err != nil {
			return nil, Problems{{Field: fmt.Sprintf("phases[%d]", i), Message: err.Error()}}
		}
		out[i] = loadgen.Phase{
			Name:        p.Name,
			Source:      src,
			Concurrency: p.Concurrency,
			Rate:        p.Rate,
			Arrival:     process,
			MaxInFlight: p.MaxInFlight,
			Requests:    p.Requests,
			Duration:    time.Duration(p.Duration),
			Warmup:      loadgen.Warmup{Requests: p.Warmup.Requests, Duration: p.Warmup.Duration},
			Drain:       time.Duration(p.Drain),
		}
		if p.Replay != nil && p.Warmup == (Warmup{}) { // what was warm-up then is so again
			if _, out[i].Warmup.Requests, err = p.Replay.open(); err != nil {
				return nil, Problems{{Field: fmt.Sprintf("phases[%d].replay", i), Message: err.Error()}}
			}
		}
		if r.cfg.Checkpoints.Only && p.Requests == 0 && p.Duration == 0 {
			_, out[i].Requests = r.items.all(r.cfg.Seed)
		}
		if p.Duration > 0 { // the configured duration includes the warm-up
			out[i].Duration -= p.Warmup.Duration
		}
	}
	return r.boundaries(out), nil
}

// boundaries puts a phase of scored items before each phase and after the last, where the
// campaign asks for that.
func (r *run) boundaries(phases []loadgen.Phase) []loadgen.Phase {
	n := r.cfg.Checkpoints.Boundary
	if r.items == nil || n == 0 {
		return phases
	}
	var out []loadgen.Phase
	for i, p := range append(phases, phases[len(phases)-1]) {
		out = append(out, loadgen.Phase{
			Name: fmt.Sprintf("checkpoints-%d", i), Source: ordinal(r.items.sets.Source(r.cfg.Seed)),
			Concurrency: max(p.Concurrency, 1), Requests: n, Drain: p.Drain,
		})
		if i < len(phases) {
			out = append(out, p)
		}
	}
	return out
}

// scenario is the phases of the built-in traffic that the campaign names.
func (r *run) scenario() ([]loadgen.Phase, error) {
	s, err := scenario.Lookup(r.cfg.Scenario.Name)
	if err != nil {
		return nil, err
	}
	phases, err := s.Build(r.cfg.Scenario.size(r.cfg.Seed, r.id))
	if err != nil {
		return nil, err
	}
	out := make([]loadgen.Phase, len(phases))
	for i, p := range phases {
		source, err := r.generate(p.Options)
		if err != nil {
			return nil, err
		}
		out[i] = loadgen.Phase{
			Name: p.Name, Source: source, Concurrency: p.Concurrency, Rate: p.Rate,
			Duration: p.Duration - p.Warmup, Warmup: loadgen.Warmup{Duration: p.Warmup},
		}
		if p.Rate > 0 && p.Arrival != "" {
			if out[i].Arrival, err = arrival.Parse(p.Arrival, p.Rate, r.cfg.Seed+uint64(i)); err != nil {
				return nil, err
			}
		}
	}
	return r.boundaries(out), nil
}

// size is how large the scenario is to be.
func (s Scenario) size(seed uint64, salt string) scenario.Size {
	return scenario.Size{Rate: s.Rate, Concurrency: s.Concurrency, Duration: time.Duration(s.Duration), Seed: seed, Salt: salt}
}

// shape is where the sessions of a phase come from, and when they arrive; the process of a
// closed loop is nil.
func (r *run) shape(p Phase, source tasks.Source, seed uint64) (tasks.Source, arrival.Process, error) {
	switch {
	case r.cfg.Checkpoints.Only:
		items, _ := r.items.all(r.cfg.Seed)
		if p.Rate > 0 {
			process, err := p.process(seed)
			return ordinal(items), process, err
		}
		return ordinal(items), nil, nil
	case p.Trace != nil:
		plan, err := p.Trace.plan(r.id, seed)
		if err != nil {
			return nil, nil, err
		}
		return ordinal(plan), finite{plan.Schedule, len(plan.Rows), p.Load()}, nil
	case p.Replay != nil:
		again, _, err := p.Replay.open()
		if err != nil {
			return nil, nil, err
		}
		if p.Concurrency > 0 {
			return ordinal(again), nil, nil
		}
		return ordinal(again), finite{again.Schedule, len(again.Schedule), p.Load()}, nil
	case p.Rate > 0:
		process, err := p.process(seed)
		return source, process, err
	default:
		return source, nil, nil
	}
}

// open reads the frozen workload and returns it as load, with the number of its requests
// that were warm-up.
func (r Replay) open() (again *workload.Replay, warm int, err error) {
	f, err := workload.Open(r.File)
	if err != nil {
		return nil, 0, err
	}
	for i := range f.Entries {
		if f.Entries[i].Kind == archive.KindWarmup {
			warm++
		}
	}
	again = f.SameHistory(r.speed())
	if r.History == HistoryLive {
		again = f.LiveHistory(r.speed())
	}
	return again, warm, nil
}

// finite is an arrival process that ends by itself.
type finite struct {
	arrival.Process
	n    int
	name string
}

// String names the process in records.
func (f finite) String() string { return f.name }

// Len returns the number of arrivals.
func (f finite) Len() int { return f.n }

// ordinal gives a source that numbers its sessions from 0 the ordinal within the phase:
// the driver puts the phase's number into the upper bits.
func ordinal(s tasks.Source) tasks.Source {
	return tasks.SourceFunc(func(i uint64) tasks.Session { return s.Session(i & (1<<40 - 1)) })
}

// plan reads the trace and makes it ready to send.
func (t Trace) plan(salt string, seed uint64) (*trace.Plan, error) {
	tr, err := trace.Load(t.File)
	if err != nil {
		return nil, err
	}
	plan, err := trace.NewPlan(tr, trace.PlanOptions{
		Speed: t.speed(), Dither: t.Dither, Seed: seed, Salt: salt,
		From: time.Duration(t.From), To: time.Duration(t.To), Limit: t.Limit, MaxIn: t.MaxIn, MaxOut: t.MaxOut,
	})
	if errors.Is(err, trace.ErrQuantised) {
		return nil, fmt.Errorf("%w (set dither: true, or --dither)", err)
	}
	return plan, err
}

// process is the arrival process of an open loop.
func (p Phase) process(seed uint64) (arrival.Process, error) {
	return arrival.Parse(p.Arrival, p.Rate, seed)
}
