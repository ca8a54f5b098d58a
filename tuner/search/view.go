package search

import (
	"math"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// seen is one trial as a model of the space sees it.
type seen struct {
	at    space.Point
	index int
	rung  int
	ok    bool      // ended well; whether it meets the constraints is in slack
	gain  float64   // ln of the value over the default's, signed so that more is better
	slack []float64 // ln(metric/limit); at most 0 holds
}

// feasible reports whether the trial ended well and met every constraint.
func (o *seen) feasible() bool { return o.ok && o.violation() == 0 }

// violation is the sum of what exceeds the limits, in logarithms; 0 where all hold.
func (o *seen) violation() float64 {
	return excess(o.slack)
}

// excess is the sum of what exceeds the limits.
func excess(slack []float64) float64 {
	v := 0.0
	for _, s := range slack {
		v += max(s, 0)
	}
	return v
}

// view is a history prepared for a model.
type view struct {
	space *space.Space
	obs   []seen
	tried map[int]int // highest rung at which a point was tried, by index
	rest  [][]bool    // knob values that are left alone, by knob and value
	cons  int         // number of constraints
}

// look reads the trials of the search's own workload. Those of the held-out one are left
// out, so that it stays unseen; those that could not be trusted count as tried only.
func look(s *space.Space, goal tuner.Goal, history []tuner.Trial) *view {
	v := &view{space: s, tried: make(map[int]int), rest: resting(s, history)}
	base := baseline(goal, history)
	drift, _ := tuner.Drift(goal, history)
	for i := range history {
		t := &history[i]
		p, err := s.Point(t.Config)
		if err != nil || t.Load.HeldOut {
			continue
		}
		k := s.Index(p)
		if r, ok := v.tried[k]; !ok || t.Load.Rung > r {
			v.tried[k] = t.Load.Rung
		}
		if t.Outcome == tuner.Invalid {
			continue
		}
		o := seen{at: p, index: k, rung: t.Load.Rung}
		if score, ok := goal.Score(&t.Measurement).Get(); ok {
			o.ok, o.gain, o.slack = true, score-drift[i]-base(t.Load), t.Slack
			v.cons = max(v.cons, len(t.Slack))
		}
		v.obs = append(v.obs, o)
	}
	return v
}

// baseline returns the default's score under a load: the mean of its trials under the same
// load, else of all its trials, else 0.
func baseline(goal tuner.Goal, history []tuner.Trial) func(tuner.Load) float64 {
	type mean struct{ sum, n float64 }
	same := map[tuner.Load]mean{}
	var all mean
	for i := range history {
		t := &history[i]
		if t.Role != tuner.RoleDefault {
			continue
		}
		if s, ok := goal.Score(&t.Measurement).Get(); ok {
			m := same[t.Load]
			same[t.Load] = mean{m.sum + s, m.n + 1}
			all = mean{all.sum + s, all.n + 1}
		}
	}
	return func(l tuner.Load) float64 {
		if m := same[l]; m.n > 0 {
			return m.sum / m.n
		}
		if all.n > 0 {
			return all.sum / all.n
		}
		return 0
	}
}

// best is the largest gain of a feasible trial, and its place among the trials; -1 where
// none is feasible.
func (v *view) best() (gain float64, at int) {
	gain, at = math.Inf(-1), -1
	for i := range v.obs {
		if o := &v.obs[i]; o.feasible() && o.gain > gain {
			gain, at = o.gain, i
		}
	}
	return gain, at
}

// fresh reports whether a point was not tried yet and may be launched.
func (v *view) fresh(p space.Point) bool {
	for d := range v.rest {
		if v.rest[d] != nil && v.rest[d][p[d]] {
			return false
		}
	}
	_, ok := v.tried[v.space.Index(p)]
	return !ok
}

// resting finds the values that are left alone: by the circuit breaker of a study, and those
// that may change the answers where the study could not prove that they do not. It is nil
// for knobs without any.
func resting(s *space.Space, history []tuner.Trial) [][]bool {
	out := make([][]bool, len(s.Dims))
	for d := range s.Dims {
		risky := s.Dims[d].Quality && s.Dims[d].Margin > 0 && tuner.Unprovable(history, s.Dims[d].Margin) != ""
		for i, v := range s.Dims[d].Values {
			if v == "" {
				continue
			}
			if _, trip := tuner.Tripped(history, space.Assignment{s.Dims[d].Name: v}, tuner.DefaultBreaker); trip || risky {
				if out[d] == nil {
					out[d] = make([]bool, len(s.Dims[d].Values))
				}
				out[d][i] = true
			}
		}
	}
	return out
}

// proposal is a point as a proposal at the fidelity that the controls use.
func (v *view) proposal(p space.Point, source string) tuner.Proposal {
	return tuner.Proposal{Config: v.space.At(p), Source: source, Rung: fullRung}
}

// fullRung is the fidelity of a whole search trial.
const fullRung = 1
