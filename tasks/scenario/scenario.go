// Package scenario holds traffic that is ready to run: named lists of phases with their
// task mix, lengths, turns, pauses and arrivals, each with where its numbers come from.
//
// A scenario fixes the shape and the caller the size: [Build] scales phases to a rate or a
// concurrency and to a duration. [Recovery] and [Slopes] measure what the flood and the
// endurance scenario are for.
package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/tasks"
)

// Phase is one phase, ready for a load driver. Exactly one of Rate and Concurrency is
// above 0.
type Phase struct {
	Name        string
	Options     tasks.Options
	Rate        float64 // sessions a second
	Concurrency int
	Arrival     string // an arrival process in the campaign's words, such as "gamma cv=2"
	Duration    time.Duration
	Warmup      time.Duration // part of Duration
}

// Size scales a scenario. Zero fields take the scenario's own.
type Size struct {
	Rate        float64       // sessions a second in the ordinary part
	Concurrency int           // a closed loop instead of arrivals, where the scenario allows it
	Duration    time.Duration // of the whole
	Seed        uint64
	Salt        string
}

// Scenario is one of the built-in scenarios.
type Scenario struct {
	Name     string
	About    string // one sentence
	Source   string // where its numbers come from
	Rate     float64
	Duration time.Duration
	// Open scenarios are about arrivals and cannot run at a fixed concurrency.
	Open bool

	parts []part
}

// part is one phase by shares.
type part struct {
	name    string
	share   float64 // of the duration
	factor  float64 // of the rate
	arrival string
	set     func(*tasks.Options)
}

// All lists the scenarios in the order that a list of them is shown in.
func All() []Scenario { return slices.Clone(scenarios()) }

// Lookup finds a scenario. The error lists what there is.
func Lookup(name string) (*Scenario, error) {
	all := scenarios()
	names := make([]string, len(all))
	for i := range all {
		if names[i] = all[i].Name; names[i] == name {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("no scenario is called %q; there are %s", name, strings.Join(names, ", "))
}

// Build makes the phases of a scenario.
func (s *Scenario) Build(z Size) ([]Phase, error) {
	if z.Rate == 0 {
		z.Rate = s.Rate
	}
	if z.Duration == 0 {
		z.Duration = s.Duration
	}
	switch {
	case !(z.Rate > 0) || z.Duration <= 0 || z.Concurrency < 0:
		return nil, fmt.Errorf("scenario %s: rate, duration and concurrency must be above 0", s.Name)
	case z.Concurrency > 0 && s.Open:
		return nil, fmt.Errorf("scenario %s is about arrivals; give a rate instead of a concurrency", s.Name)
	}
	var out []Phase
	for i, p := range s.parts {
		ph := Phase{Name: p.name, Duration: time.Duration(p.share * float64(z.Duration)).Round(time.Second), Arrival: p.arrival}
		if z.Concurrency > 0 {
			ph.Concurrency, ph.Arrival = max(int(float64(z.Concurrency)*p.factor), 1), ""
		} else {
			ph.Rate = z.Rate * p.factor
		}
		if i == 0 {
			ph.Warmup = min(ph.Duration/5, 2*time.Minute)
		}
		ph.Options = tasks.Options{Seed: z.Seed, Salt: z.Salt}
		p.set(&ph.Options)
		if err := ph.Options.Validate(); err != nil {
			return nil, fmt.Errorf("scenario %s, phase %s: %w", s.Name, p.name, err)
		}
		out = append(out, ph)
	}
	return out, nil
}
