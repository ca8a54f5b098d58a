package campaign

import (
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/tasks"
)

// source is the traffic of the campaign: sessions of load with checkpoint items between
// them.
func (r *run) source() (tasks.Source, error) {
	w := r.cfg.Workload
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
	load, err := tasks.NewGenerator(tasks.Options{
		Seed: r.cfg.Seed, Salt: r.id, ReusePrompts: w.ReusePrompts,
		Mix: mix, ISL: isl, OSL: osl, Turns: turns, Think: think,
		SharedPrefixTokens: w.SharedPrefix,
		IgnoreEOS:          w.IgnoreEOS, Temperature: w.temperature(),
	})
	if err != nil {
		return nil, Problems{{Field: "workload", Message: err.Error()}}
	}
	if r.items == nil {
		return load, nil
	}
	return tasks.Interleave(load, r.items.Source(r.cfg.Seed), r.cfg.Checkpoints.Every), nil
}

// phases turns the configured phases into the driver's.
func (r *run) phases(source tasks.Source) ([]loadgen.Phase, error) {
	out := make([]loadgen.Phase, len(r.cfg.Phases))
	for i, p := range r.cfg.Phases {
		process, err := p.process(r.cfg.Seed + uint64(i))
		if err != nil {
			return nil, Problems{{Field: fmt.Sprintf("phases[%d].arrival", i), Message: err.Error()}}
		}
		out[i] = loadgen.Phase{
			Name:        p.Name,
			Source:      source,
			Concurrency: p.Concurrency,
			Rate:        p.Rate,
			Arrival:     process,
			MaxInFlight: p.MaxInFlight,
			Requests:    p.Requests,
			Duration:    time.Duration(p.Duration),
			Warmup:      loadgen.Warmup{Requests: p.Warmup.Requests, Duration: p.Warmup.Duration},
			Drain:       time.Duration(p.Drain),
		}
		if p.Duration > 0 { // the configured duration includes the warm-up
			out[i].Duration -= p.Warmup.Duration
		}
	}
	return out, nil
}

// process is the arrival process of an open loop, nil for a closed one.
func (p Phase) process(seed uint64) (arrival.Process, error) {
	if p.Rate == 0 {
		return nil, nil
	}
	return arrival.Parse(p.Arrival, p.Rate, seed)
}
