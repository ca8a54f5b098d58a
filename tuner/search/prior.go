package search

import "github.com/inferencebench/inferencebench/tuner/space"

// Guess is what a prior expects of a configuration.
type Guess struct {
	// Gain is ln of the value over the default's, signed so that more is better.
	Gain float64
	// Slack is ln(metric/limit) of each constraint, in the study's order; missing ones are 0.
	Slack []float64
}

func (g Guess) slack(i int) float64 {
	if i < len(g.Slack) {
		return g.Slack[i]
	}
	return 0
}

// Prior expects something of configurations before they are measured. It may be wrong: a
// search models what is left of it.
type Prior interface {
	// Guess returns the expectation, or false where the prior has none or expects a failure.
	Guess(space.Assignment) (Guess, bool)
}
