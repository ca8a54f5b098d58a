package mcp

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/inferencebench/inferencebench/archive"
)

// Bounds of a result.
const (
	maxText     = 500 // bytes of one text
	maxFindings = 5
	maxEvidence = 4
	maxAdvice   = 5
	maxFigures  = 40
	maxChanges  = 40
	maxTrials   = 60
)

// clip makes text from outside one printable line of at most n bytes.
func clip(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

func number(o archive.Opt[float64]) *float64 {
	if v, ok := o.Get(); ok {
		return &v
	}
	return nil
}

// shown are the statistics of a summary.
var shown = map[string][]string{
	"ttft": {"p50", "p95", "p99"}, "tpot": {"p50", "p95"}, "e2e": {"p50", "p95"}, "output_rate": {"value"}, "request_rate": {"value"},
	"goodput": {"value"}, "error_rate": {"value"}, "total_rate": {"value"}, "cost_blended": {"value"}, "energy_per_token": {"value"},
}

// summarise shortens an analysis.
func summarise(run, page string, a *archive.Analysis) Summary {
	s := Summary{
		Run: run, Simulated: a.Simulated, State: a.Verdict.State, Headline: clip(a.Verdict.Headline, maxText), Cause: a.Verdict.Cause,
		Confidence: a.Verdict.Confidence, Next: clip(a.Verdict.Next, maxText), Report: page, Metrics: []Figure{},
		Planned: a.Counts.Planned, OK: a.Counts.OK, Failed: a.Counts.Failed,
	}
	var left []string
	for _, g := range a.Gates {
		if !g.Passed.Or(true) {
			s.FailedGates = append(s.FailedGates, clip(g.ID+": "+g.Message, maxText))
		}
	}
	metrics := 0
	for _, m := range a.Metrics {
		stats, ok := shown[m.ID]
		if !ok || m.Scope != "all" {
			metrics++
			continue
		}
		for _, st := range stats {
			if e, ok := m.Stats[st]; ok && len(s.Metrics) < maxFigures {
				s.Metrics = append(s.Metrics, Figure{m.ID, st, m.Unit, number(e.Value), number(e.Low), number(e.High), clip(e.Reason, 200)})
			}
		}
	}
	if metrics > 0 {
		left = append(left, fmt.Sprintf("%d metrics of other kinds, phases and tasks", metrics))
	}
	for _, o := range a.SLOs {
		var met *bool
		if v, ok := o.Met.Get(); ok {
			met = &v
		}
		s.SLO = append(s.SLO, Objective{clip(o.Expr, 120), met, clip(o.Observed, 200)})
	}
	text := map[string]string{}
	for _, e := range a.Evidence {
		text[e.ID] = e.Text
	}
	for i, f := range a.Findings {
		if i == maxFindings {
			left = append(left, fmt.Sprintf("%d findings", len(a.Findings)-i))
			break
		}
		out := Finding{Cause: f.Cause, Role: f.Role, Score: f.Score, Summary: clip(f.Summary, maxText), Falsifier: clip(f.Falsifier, maxText), Probe: clip(f.Probe, maxText), Tested: f.Tested}
		for _, id := range f.For[:min(len(f.For), maxEvidence)] {
			out.Evidence = append(out.Evidence, clip(id+": "+text[id], 300))
		}
		s.Findings = append(s.Findings, out)
	}
	for i, r := range a.Recommendations {
		if i == maxAdvice {
			left = append(left, fmt.Sprintf("%d recommendations", len(a.Recommendations)-i))
			break
		}
		s.Recommendations = append(s.Recommendations, Recommendation{clip(r.Action, maxText), clip(r.Knob, 120), clip(r.Predicted, maxText), clip(r.Risk, 300)})
	}
	if len(left) > 0 {
		s.LeftOut = strings.Join(left, ", ") + ": see the page"
	}
	return s
}

// bound cuts what an Actions returned.
func (c *Compared) bound() {
	c.Reason = clip(c.Reason, maxText)
	c.Changes = c.Changes[:min(len(c.Changes), maxChanges)]
	c.Quality = c.Quality[:min(len(c.Quality), 20)]
	for i := range c.Quality {
		c.Quality[i] = clip(c.Quality[i], 300)
	}
	if c.Changes == nil {
		c.Changes = []Change{}
	}
}

func (s *Study) bound() {
	s.Reason = clip(s.Reason, maxText)
	if n := len(s.Trials) - maxTrials; n > 0 {
		s.Trials = append(s.Trials[:maxTrials/2:maxTrials/2], s.Trials[len(s.Trials)-maxTrials/2:]...)
		s.LeftOut = fmt.Sprintf("%d trials in the middle: see the journal", n)
	}
	for i := range s.Trials {
		t := &s.Trials[i]
		t.Reason = clip(t.Reason, 200)
		if t.Config == nil { // the schema has an object
			t.Config = map[string]string{}
		}
	}
	if s.Trials == nil {
		s.Trials = []TrialRow{}
	}
	if s.Config == nil {
		s.Config = map[string]string{}
	}
}
