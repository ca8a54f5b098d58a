package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// scenario is a world being set up. It starts healthy: chat at half of what the server
// sustains, with the noise of a real machine.
type scenario struct {
	ctx   context.Context
	sev   Severity
	rng   *rand.Rand
	run   offline.Config
	shape offline.Shape
	cond  Condition

	load     float64       // sessions a second; 0 until set or with a closed loop
	whole    time.Duration // how long the condition is played when nothing is changed
	from, to time.Duration // when a timed fault is in force
	knob     string        // what was turned, in words
	accept   []string      // verdicts that are right too, as this scenario turned out
	disturb  []disturbance // combined into Engine.Conditions
	slowFE   []func(at time.Duration) float64
	base     time.Duration // time of a decoding step of sixteen requests
	obj      offline.Objective
}

// disturbance adds to the conditions in force at an instant inside the fault's window; p
// runs from 0 to 1 over the window.
type disturbance func(at time.Duration, p float64, c *sim.Conditions)

// steps is d times a step of one request: faults scale with the hardware.
func (s *scenario) steps(d float64) time.Duration { return time.Duration(d * float64(s.base)) }

// capacity measures what the server as configured can do with the shape as it is.
func (s *scenario) capacity() (sustained, saturated float64, err error) {
	return offline.Capacity(s.ctx, s.run, s.shape, s.obj)
}

// at sets the load to a share of what the server as configured now sustains. Where prompts
// are so long that no load meets the objective, half of what it completes stands for that.
func (s *scenario) at(share float64) error {
	sustained, saturated, err := s.capacity()
	if sustained < 0.1*saturated {
		sustained = 0.5 * saturated
	}
	s.load = share * sustained
	return err
}

// beyond sets the load to a multiple of what the server as configured now completes.
func (s *scenario) beyond(times float64) error {
	_, saturated, err := s.capacity()
	s.load = times * saturated
	return err
}

// healthy is what the scenario does without its fault.
type healthy struct {
	tokens   float64 // output tokens a second
	inFlight float64 // mean requests in flight
	frontend float64 // share of its one thread that the frontend uses
}

// measure runs the scenario as it is for a minute, before any fault is added.
func (s *scenario) measure() (healthy, error) {
	cfg := s.run
	cfg.Records, cfg.Sampling = true, offline.Sampling{}
	s.shape.Rate = s.load
	cfg.Source, cfg.Duration, cfg.Drain = s.shape.Source(), 60*time.Second, 30*time.Second
	res, err := offline.Run(s.ctx, cfg)
	if err != nil {
		return healthy{}, err
	}
	var h healthy
	for _, r := range res.Requests {
		out := r.Usage.Completion.Or(0)
		h.tokens += float64(out) / 60
		h.inFlight += r.T.Done.Sub(r.T.Intended).Seconds() / 60
		f := cfg.Frontend
		h.frontend += (f.PerRequest + time.Duration(r.Usage.Prompt.Or(0))*f.PerPromptToken + time.Duration(out)*f.PerToken).Seconds() / 60
	}
	return h, nil
}

// finish joins the disturbances and fixes the load.
func (s *scenario) finish() {
	if len(s.disturb) > 0 {
		from, to, list := s.from, s.to, s.disturb
		s.run.Engine.Conditions = func(at time.Duration) (c sim.Conditions) {
			if at < from || at >= to {
				return c
			}
			p := float64(at-from) / float64(to-from)
			for _, d := range list {
				d(at, p, &c)
			}
			return c
		}
	}
	if len(s.slowFE) > 0 {
		from, to, list := s.from, s.to, s.slowFE
		s.run.FrontendSlow = func(at time.Duration) float64 {
			k := 1.0
			if at >= from && at < to {
				for _, f := range list {
					k *= f(at)
				}
			}
			return k
		}
	}
	s.shape.Rate = s.load
	if s.run.Concurrency > 0 {
		s.shape.Rate = 0
	}
	s.run.Source = s.shape.Source()
}

// stepTime is a decoding step of sixteen short requests on an undisturbed server.
func stepTime(cfg sim.Config) (time.Duration, error) {
	cfg.StepNoise, cfg.PauseEvery, cfg.Conditions = 0, 0, nil
	e, err := sim.New(cfg)
	if err != nil {
		return 0, err
	}
	for range 16 {
		e.Submit(0, &sim.Request{Prompt: 256, Output: 64})
	}
	var step sim.Step
	for at := time.Duration(0); step.Decodes < min(16, cfg.Resolved().MaxNumSeqs); at = step.End {
		var ok bool
		if step, ok = e.Begin(at); !ok {
			return 0, fmt.Errorf("the engine cannot run %d short requests together", 16)
		}
		e.Commit()
	}
	return step.End - step.Start, nil
}
