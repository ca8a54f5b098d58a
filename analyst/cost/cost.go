// Package cost turns the price of a deployment and what it served into money per token,
// by the methods in use, and energy into joules per token.
//
// A deployment costs C dollars a second whatever it serves. How C is split between prompt
// and generated tokens is a convention, so every split names its method, and every split
// that claims to be one adds up to C again ([Split.Total]).
package cost

import (
	"errors"
	"fmt"
	"math"
)

// Rates are tokens a second of a deployment.
type Rates struct {
	Input  float64 // prompt tokens that were computed
	Cached float64 // prompt tokens that came from a cache
	Output float64 // generated tokens
}

// Split is the price of a million tokens of each kind under one method.
type Split struct {
	Method                string
	Input, Cached, Output float64 // US dollars per million tokens
}

// Total returns what the rates cost a second at these prices.
func (s Split) Total(r Rates) float64 {
	return (s.Input*r.Input + s.Cached*r.Cached + s.Output*r.Output) / 1e6
}

// The conventions of the fixed ratio: a generated token counts as four prompt tokens, a
// cached one as a tenth, as price lists of APIs do.
const (
	outputRatio  = 4.0
	cachedWeight = 0.1
)

var errNothing = errors.New("cost: nothing was served, so a token has no price")

func check(dollars float64, r Rates) error {
	if dollars < 0 || math.IsNaN(dollars) || math.IsInf(dollars, 0) || r.Input < 0 || r.Cached < 0 || r.Output < 0 {
		return fmt.Errorf("cost: negative or impossible price or rate (%g $/s, %+v)", dollars, r)
	}
	if r.Input+r.Cached+r.Output <= 0 {
		return errNothing
	}
	return nil
}

// OutputOnly charges everything to generated tokens. It hides the prompts.
func OutputOnly(dollars float64, r Rates) (Split, error) {
	if err := check(dollars, r); err != nil {
		return Split{}, err
	}
	if r.Output <= 0 {
		return Split{}, fmt.Errorf("%w by its output alone", errNothing)
	}
	return Split{Method: "output only", Output: 1e6 * dollars / r.Output}, nil
}

// Blended charges every token alike. It rewards long prompts.
func Blended(dollars float64, r Rates) (Split, error) {
	if err := check(dollars, r); err != nil {
		return Split{}, err
	}
	p := 1e6 * dollars / (r.Input + r.Cached + r.Output)
	return Split{"blended", p, p, p}, nil
}

// FixedRatio charges a generated token four times a computed prompt token, and a cached
// one a tenth: comparable with price lists, and arbitrary.
func FixedRatio(dollars float64, r Rates) (Split, error) {
	if err := check(dollars, r); err != nil {
		return Split{}, err
	}
	p := 1e6 * dollars / (r.Input + cachedWeight*r.Cached + outputRatio*r.Output)
	return Split{"fixed ratio 1:4, cached 0.1", p, cachedWeight * p, outputRatio * p}, nil
}

// StandaloneRate splits by how long each kind would take alone: prefill is the saturated
// rate of pure prefill and decode that of pure decoding, in tokens a second, as two short
// probes measure them. Cached tokens are free. It is physical, and it is the default
// where the probes were run.
func StandaloneRate(dollars float64, r Rates, prefill, decode float64) (Split, error) {
	if err := check(dollars, r); err != nil {
		return Split{}, err
	}
	if prefill <= 0 || decode <= 0 {
		return Split{}, fmt.Errorf("cost: standalone rates must be positive, are %g and %g tokens/s", prefill, decode)
	}
	in, out := r.Input/prefill, r.Output/decode
	if in+out <= 0 {
		return Split{}, errNothing
	}
	s := Split{Method: "standalone rate"}
	if r.Input > 0 {
		s.Input = 1e6 * dollars * in / (in + out) / r.Input
	}
	if r.Output > 0 {
		s.Output = 1e6 * dollars * out / (in + out) / r.Output
	}
	return s, nil
}

// Steps are the terms of a step time t = α + β_p·P + β_d·D, in seconds.
type Steps struct{ Base, PerPrefill, PerDecode float64 }

// Marginal charges each token its marginal step time, and splits the base between the
// phases by Shapley's rule: half each where both are present, all where one is. steps is
// steps a second.
func Marginal(dollars float64, r Rates, t Steps, steps float64) (Split, error) {
	if err := check(dollars, r); err != nil {
		return Split{}, err
	}
	if t.Base < 0 || t.PerPrefill < 0 || t.PerDecode < 0 || steps <= 0 {
		return Split{}, fmt.Errorf("cost: step terms must not be negative, are %+v at %g steps/s", t, steps)
	}
	base := t.Base * steps
	in, out := t.PerPrefill*r.Input, t.PerDecode*r.Output
	switch {
	case r.Input > 0 && r.Output > 0:
		in, out = in+base/2, out+base/2
	case r.Input > 0:
		in += base
	default:
		out += base
	}
	if in+out <= 0 {
		return Split{}, errNothing
	}
	s := Split{Method: "marginal step time, base by Shapley"}
	if r.Input > 0 {
		s.Input = 1e6 * dollars * in / (in + out) / r.Input
	}
	if r.Output > 0 {
		s.Output = 1e6 * dollars * out / (in + out) / r.Output
	}
	return s, nil
}

// TimeSliced charges GPU time: prefillSteps is the share of the GPU's time in steps that
// hold prompt tokens, and prefillTokens the share of prompt tokens in those steps. It is
// biased where prompts are chunked into every step.
func TimeSliced(dollars float64, r Rates, prefillSteps, prefillTokens float64) (Split, error) {
	if err := check(dollars, r); err != nil {
		return Split{}, err
	}
	if prefillSteps < 0 || prefillSteps > 1 || prefillTokens < 0 || prefillTokens > 1 {
		return Split{}, fmt.Errorf("cost: shares must lie between 0 and 1, are %g and %g", prefillSteps, prefillTokens)
	}
	in := prefillSteps * prefillTokens
	switch {
	case r.Input <= 0:
		in = 0
	case r.Output <= 0:
		in = 1
	}
	s := Split{Method: "time-sliced"}
	if r.Input > 0 {
		s.Input = 1e6 * dollars * in / r.Input
	}
	if r.Output > 0 {
		s.Output = 1e6 * dollars * (1 - in) / r.Output
	}
	if r.Input <= 0 && r.Output <= 0 {
		return Split{}, errNothing
	}
	return s, nil
}

// PerToken returns joules per generated token.
func PerToken(joules, tokens float64) (float64, error) {
	if joules < 0 || tokens <= 0 || math.IsNaN(joules) {
		return 0, fmt.Errorf("energy: %g J over %g tokens is no energy per token", joules, tokens)
	}
	return joules / tokens, nil
}
