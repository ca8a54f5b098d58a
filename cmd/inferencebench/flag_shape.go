package main

import (
	"fmt"
	"slices"

	"github.com/inferencebench/inferencebench/campaign"
)

// applyShape writes the flags that make a phase into the campaign's only phase.
func (f *runFlags) applyShape(c *campaign.Config) error {
	if !slices.ContainsFunc(shapeFlags, f.changed) && !f.changed("trace") && !f.changed("replay") {
		return nil
	}
	if len(c.Phases) != 1 {
		return fmt.Errorf("the campaign file has %d phases, and flags such as --concurrency shape only one: change the file, or leave the flags out", len(c.Phases))
	}
	p := &c.Phases[0]
	if f.changed("trace") || f.changed("replay") {
		if f.changed("concurrency") || f.changed("request-rate") {
			return fmt.Errorf("--trace and --replay bring their own arrivals: leave --concurrency and --request-rate out")
		}
		p.Concurrency, p.Rate = 0, 0
		if f.changed("trace") {
			p.Trace = &f.trace
		} else {
			p.Replay = &f.replay
		}
		if !f.changed("duration") {
			p.Duration = 0
		}
		if !f.changed("warmup") {
			p.Warmup = campaign.Warmup{}
		}
	}
	if f.changed("request-rate") {
		p.Rate, p.Concurrency = f.rate, 0
		if p.Arrival == "" {
			p.Arrival = campaign.DefaultArrival
		}
		if f.changed("concurrency") {
			p.MaxInFlight = f.concurrency
		}
		if f.rate <= 0 {
			return fmt.Errorf("--request-rate %g: give sessions per second above 0, or leave it out for a closed loop", f.rate)
		}
	} else if f.changed("concurrency") {
		p.Concurrency, p.Rate, p.Arrival = f.concurrency, 0, ""
		if f.concurrency <= 0 {
			return fmt.Errorf("--concurrency %d: give at least 1", f.concurrency)
		}
	}
	if f.changed("requests") {
		if f.requests <= 0 {
			return fmt.Errorf("--requests %d: give at least 1", f.requests)
		}
		p.Requests = f.requests
		if !f.changed("duration") {
			p.Duration = 0
			if !f.changed("warmup") {
				p.Warmup = campaign.Warmup{}
			}
		}
	}
	if f.changed("duration") {
		if f.duration <= 0 {
			return fmt.Errorf("--duration %v: give a time above 0, such as 60s", f.duration)
		}
		p.Duration = campaign.Duration(f.duration)
		if !f.changed("warmup") && p.Warmup.Duration*4 > f.duration {
			p.Warmup.Duration = f.duration / 4
		}
	}
	assign(f, "arrival", &p.Arrival, f.arrival)
	if f.changed("burstiness") {
		p.Arrival = fmt.Sprintf("gamma burstiness=%g", f.burstiness)
	}
	assign(f, "drain", &p.Drain, campaign.Duration(f.drain))
	if f.changed("warmup") {
		w, err := campaign.ParseWarmup(f.warmup)
		if err != nil {
			return fmt.Errorf("--warmup: %w", err)
		}
		p.Warmup = w
	}
	return nil
}
