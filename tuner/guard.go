package tuner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/quality"
	evalstats "github.com/inferencebench/inferencebench/evals/stats"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Guards is everything but speed that a challenger must hold, compared with the baseline
// under equal loads.
type Guards struct {
	Constraints []Bound         `json:"constraints,omitempty"`
	Quality     []QualityResult `json:"quality,omitempty"`
	// NewErrors are kinds of failed requests that the baseline did not have, with counts.
	NewErrors []string  `json:"new_errors,omitempty"`
	Checks    []Verdict `json:"checks,omitempty"`
}

// Bound is one constraint over several trials: the mean of ln(metric/limit) and the upper end
// of its 95 % interval. It holds where the upper end is at most 0.
type Bound struct {
	Constraint string  `json:"constraint"`
	Mean       float64 `json:"mean"`
	Upper      float64 `json:"upper"`
}

// QualityResult is the non-inferiority verdict on one family of items.
type QualityResult struct {
	Kind string               `json:"kind"`
	Set  string               `json:"set"`
	Gate evalstats.GateResult `json:"gate"`
}

// confidence of every interval of a study.
const confidence = 0.95

// guards compares the trials of a challenger with those of the baseline. measured are further
// trials of both whose items count too: those of the search.
func (s *Study) guards(baseline, challenger, measured []Trial, checks []Check) Guards {
	g := Guards{
		Constraints: s.bounds(challenger),
		Quality:     s.quality(slices.Concat(baseline, measured), slices.Concat(challenger, measured), challenger),
		Checks:      judge(checks, append(seen(measured, s.Default), baseline...), challenger),
	}
	had := map[string]int{}
	for i := range baseline {
		for k, n := range baseline[i].Errors {
			had[k] += n
		}
	}
	more := map[string]int{}
	for i := range challenger {
		for k, n := range challenger[i].Errors {
			if had[k] == 0 && n > 0 {
				more[k] += n
			}
		}
	}
	for k, n := range more {
		g.NewErrors = append(g.NewErrors, fmt.Sprintf("%s (%d)", k, n))
	}
	slices.Sort(g.NewErrors)
	return g
}

// seen are the trials of a configuration on which observers looked at the live server.
func seen(trials []Trial, config space.Assignment) []Trial {
	var out []Trial
	for i := range trials {
		if t := &trials[i]; len(t.Observed) > 0 && t.Config.Key() == config.Key() {
			out = append(out, *t)
		}
	}
	return out
}

// bounds judges every constraint over the trials.
func (s *Study) bounds(trials []Trial) []Bound {
	out := make([]Bound, len(s.Constraints))
	for c, expr := range s.Constraints {
		var xs []float64
		for i := range trials {
			if c < len(trials[i].Slack) {
				xs = append(xs, trials[i].Slack[c])
			}
		}
		b := Bound{Constraint: expr, Mean: stats.Mean(xs)}
		b.Upper = b.Mean
		if _, hi, ok := stats.MeanInterval(xs, confidence, float64(len(xs))); ok {
			b.Upper = hi
		}
		out[c] = b
	}
	return out
}

// quality pairs the items of the two sides: of the trials in base with the default's
// configuration, and of those in cand with the challenger's.
func (s *Study) quality(base, cand, challenger []Trial) []QualityResult {
	if len(challenger) == 0 {
		return nil
	}
	a, b := items(base, s.Default), items(cand, challenger[0].Config)
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	var out []QualityResult
	for _, c := range quality.Compare(a, b, s.Protocol.Resolved().QualityMargin) {
		out = append(out, QualityResult{Kind: c.Kind, Set: c.Set, Gate: c.Gate})
	}
	return out
}

func items(trials []Trial, config space.Assignment) []archive.Checkpoint {
	var out []archive.Checkpoint
	for i := range trials {
		if trials[i].Config.Key() == config.Key() {
			out = append(out, trials[i].Quality...)
		}
	}
	return out
}

// setsQuality returns the knobs of an assignment that may change the answers.
func (s *Study) setsQuality(a space.Assignment) []string {
	var out []string
	for _, k := range s.QualityKnobs {
		if _, ok := a[k]; ok {
			out = append(out, k)
		}
	}
	return out
}

// problems lists why the guards do not let a configuration pass, constraints aside.
func (s *Study) problems(g *Guards, config space.Assignment) []string {
	var out []string
	if len(g.NewErrors) > 0 {
		out = append(out, "requests fail in ways that they did not at the default: "+strings.Join(g.NewErrors, ", "))
	}
	if v, bad := failed(g.Checks); bad {
		out = append(out, v.Check+": "+v.Message)
	}
	risky := s.setsQuality(config)
	for _, q := range g.Quality {
		switch {
		case q.Gate.Verdict == evalstats.GatePass:
		case q.Gate.Verdict == evalstats.GateUndecided && len(risky) == 0:
		case q.Gate.Verdict == evalstats.GateUndecided:
			out = append(out, fmt.Sprintf("%s may change the answers, and the items do not show that it did not: %s", strings.Join(risky, " and "), q.Gate))
		default:
			out = append(out, fmt.Sprintf("answers of kind %s got worse: %s", q.Kind, q.Gate))
		}
	}
	if len(g.Quality) == 0 && len(risky) > 0 {
		out = append(out, strings.Join(risky, " and ")+" may change the answers, and quality was not measured")
	}
	return out
}

// holds reports whether every constraint holds at its upper bound, and broken whether one is
// missed already at its mean.
func (g *Guards) holds() (holds, broken bool, which string) {
	holds = true
	for _, b := range g.Constraints {
		if b.Upper > 0 {
			holds, which = false, b.Constraint
		}
	}
	for _, b := range g.Constraints {
		if b.Mean > 0 {
			return false, true, b.Constraint
		}
	}
	return holds, false, which
}
