package study

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/report"
	"github.com/inferencebench/inferencebench/report/quantity"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/lessons"
)

//go:embed page.gohtml
var pageTemplate string

type page struct {
	CSS template.CSS
	JS  template.JS

	Title, Name, Engine, Goal string
	Constraints, Alerts       []string
	Simulated                 bool
	Class, State, Spent       string
	Headline                  string
	Detail                    []string
	Deploy, Undo              string
	Keys                      []key
	Margin, Why               string
	Candidates                []candidate
	Curve, Front              template.HTML
	Learned                   []string
	Importance                []importance
	Rest                      string
	Sources                   []source
	Aims                      []lessons.Aim
	Choices                   []choice
	Trials                    []trial
	Rules                     []rule
	Tool                      string
}

type key struct{ Label, Number, Unit, Sub, Class string }

type importance struct{ Knob, Percent, Share, Levels string }

type source struct {
	Name                             string
	Proposed, Failed, Missed, Better int
	Best, Predictions                string
}

type choice struct {
	Config string
	Values []string
	Trial  int
}

type trial struct {
	N                                 int
	Role, Outcome, Class, Change, Way string
	Config, Took, Why                 string
}

type rule struct{ Name, Text string }

// HTML writes the study as one page that needs nothing else: no network, light and dark, on a
// phone and on paper. Everything that came from outside is escaped.
func HTML(w io.Writer, in *Input) error {
	t, err := template.New("study").Funcs(template.FuncMap{"oneline": report.OneLine, "visible": report.Visible}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("study page: %w", err)
	}
	if err := t.Execute(w, in.page()); err != nil {
		return fmt.Errorf("study page: %w", err)
	}
	return nil
}

func (in *Input) page() *page {
	s, r := &in.Study, in.Result
	p := &page{
		CSS: template.CSS(report.Stylesheet()), JS: template.JS(report.Script()), //nolint:gosec // our own files
		Title: "Study " + s.Name, Name: s.Name, Engine: in.Engine, Goal: goalWords(s.Goal), Constraints: s.Constraints, Simulated: in.Simulated,
		Spent: in.Spent(), Headline: in.Headline(), Detail: in.Detail(), Margin: fmt.Sprintf("%.3g %%", 100*s.Goal.MinGain),
		Why: sentence(r.Reason), Curve: in.curveChart(), Learned: lessons.Learned(s, in.Space, r), Tool: in.Tool,
	}
	switch r.Decision {
	case tuner.Change:
		p.Class, p.State = "none", "Change it"
	case tuner.Keep:
		p.Class, p.State = "none", "Keep the default"
		if tried, _ := in.tried(); tried == 0 {
			p.Class = "inconclusive"
		}
	case tuner.NoBaseline:
		p.Class, p.State = "invalid", "No baseline"
	default:
		p.Class, p.State = "inconclusive", "Not finished"
	}
	if r.Decision == tuner.Change && len(in.Deploy) > 0 {
		p.Deploy, p.Undo = Command(in.Deploy), Command(in.Undo)
	}
	if n := invalid(r.Trials); n > 0 {
		p.Alerts = append(p.Alerts, fmt.Sprintf("%d of %d measurements could not be trusted and do not count; the table of trials says why.", n, len(r.Trials)))
	}
	p.Keys = in.keys()
	p.Candidates = in.candidates()
	ims, rest := lessons.Importances(s, in.Space, r.Trials)
	for _, im := range ims {
		p.Importance = append(p.Importance, importance{
			Knob: im.Knob, Percent: fmt.Sprintf("%.0f", 100*im.Share), Share: fmt.Sprintf("%.0f %%", 100*im.Share), Levels: in.levels(im.Levels),
		})
	}
	p.Rest = fmt.Sprintf("%.0f %%", 100*rest)
	for _, x := range lessons.Sources(s, r.Trials) {
		v := source{Name: x.Name, Proposed: x.Proposed, Failed: x.Failed, Missed: x.Missed, Better: x.Better, Best: "–", Predictions: "none were made"}
		if x.Best != 0 {
			v.Best = Change(s.Goal, x.Best)
		}
		if x.Predictions > 0 {
			v.Predictions = fmt.Sprintf("%d of %d", x.Inside, x.Predictions)
		}
		p.Sources = append(p.Sources, v)
	}
	p.Choices, p.Aims, p.Front = in.pareto()
	p.Trials = in.trials()
	p.Rules = in.rules()
	return p
}

func goalWords(g tuner.Goal) string {
	way := "least "
	if g.Maximise {
		way = "most "
	}
	return way + MeasureOf(g.Metric).Label
}

func invalid(trials []tuner.Trial) int {
	n := 0
	for i := range trials {
		if trials[i].Outcome == tuner.Invalid {
			n++
		}
	}
	return n
}

// keys are the three figures under the answer.
func (in *Input) keys() []key {
	r, s, m := in.Result, &in.Study, MeasureOf(in.Study.Goal.Metric)
	if r.Certified == nil {
		return nil
	}
	c := r.Certified
	number, unit := quantity.Split(c.Winner*m.Scale, m.Unit)
	out := []key{
		{"Certified change, worst order", Change(s.Goal, c.Worst), "", "of " + m.Label, "good"},
		{"Certified value", number, unit, "default " + m.Value(c.Default), ""},
	}
	for _, b := range c.Guards.Constraints {
		out = append(out, key{b.Constraint, fmt.Sprintf("%.0f %%", 100*math.Exp(b.Mean)), "of the limit", fmt.Sprintf("at most %.0f %% with 95 %% confidence", 100*math.Exp(b.Upper)), ""})
		break
	}
	if len(out) < 3 {
		out = append(out, key{"Measurements", fmt.Sprint(len(r.Trials)), "", "in " + r.Spent.Round(time.Second).String(), ""})
	}
	return out
}

func (in *Input) levels(ls []lessons.Level) string {
	var parts []string
	for _, l := range ls {
		name := l.Value
		if name == "" {
			name = "as it is"
		}
		parts = append(parts, fmt.Sprintf("%s %s (%d)", name, Change(in.Study.Goal, l.Effect), l.Trials))
	}
	return strings.Join(parts, " · ")
}

// trials are the rows of the table of measurements.
func (in *Input) trials() []trial {
	s, m := &in.Study, MeasureOf(in.Study.Goal.Metric)
	out := make([]trial, 0, len(in.Result.Trials))
	for i := range in.Result.Trials {
		t := &in.Result.Trials[i]
		row := trial{N: t.N, Role: roleWords(t), Outcome: lessons.Words(t.Outcome), Class: "bad", Config: Config(t.Config), Took: t.Took.Round(100 * time.Millisecond).String(), Why: t.Reason}
		if t.Hypothesis != "" {
			row.Why = strings.TrimSpace(row.Why + " " + t.Hypothesis)
		}
		if v, ok := t.Value.Get(); ok && t.Outcome == tuner.OK {
			row.Outcome, row.Class = m.Value(v), "ok"
			if !tuner.Feasible(t) {
				row.Class, row.Why = "warn", strings.TrimSpace("misses "+missed(s, t)+". "+row.Why)
			}
			if base, ok := sameLoad(s, in.Result.Trials[:i], t); ok && len(t.Config) > 0 {
				gain := s.Goal.Score(&t.Measurement).Or(0) - base
				row.Change = Change(s.Goal, gain)
				row.Way = map[bool]string{true: "up", false: "down"}[gain > 0]
			}
		} else if t.Outcome == tuner.Invalid {
			row.Class = "warn"
		}
		out = append(out, row)
	}
	return out
}

// missed lists the constraints that a trial breaks.
func missed(s *tuner.Study, t *tuner.Trial) string {
	var out []string
	for i, x := range t.Slack {
		if x > 0 && i < len(s.Constraints) {
			out = append(out, s.Constraints[i])
		}
	}
	return strings.Join(out, " and ")
}

// sameLoad is the score of the default's latest trial under the load of t.
func sameLoad(s *tuner.Study, before []tuner.Trial, t *tuner.Trial) (float64, bool) {
	for i := len(before) - 1; i >= 0; i-- {
		if b := &before[i]; b.Config.Key() == s.Default.Key() && b.Load == t.Load {
			return s.Goal.Score(&b.Measurement).Get()
		}
	}
	return 0, false
}

func roleWords(t *tuner.Trial) string {
	switch t.Role {
	case tuner.RoleSearch:
		if t.Load.Rung == 0 {
			return t.Source + ", short"
		}
		return t.Source
	case tuner.RoleIncumbent:
		return "best again"
	case tuner.RoleBlock:
		return fmt.Sprintf("block %d", t.Pair)
	case tuner.RoleCertify:
		return fmt.Sprintf("certify, order %d", t.Load.Order)
	}
	return t.Role
}

// rules are the settings of the protocol in words.
func (in *Input) rules() []rule {
	s, p := &in.Study, in.Study.Protocol.Resolved()
	var budget []string
	if s.Budget.Time > 0 {
		budget = append(budget, s.Budget.Time.String())
	}
	if s.Budget.Trials > 0 {
		budget = append(budget, fmt.Sprintf("%d measurements", s.Budget.Trials))
	}
	if s.Budget.USD > 0 {
		budget = append(budget, fmt.Sprintf("$%.2f at $%.2f an hour", s.Budget.USD, s.USDHour))
	}
	out := []rule{
		{"Search", fmt.Sprintf("%s, seed %d, over %s configurations", in.Search, s.Seed, quantity.Int(in.Space.Size()))},
		{"Margin", fmt.Sprintf("a gain of %.3g %% or less is not worth a change", 100*s.Goal.MinGain)},
		{"Acceptance", fmt.Sprintf("%d to %d blocks, two-sided 95 %% interval over blocks; at most %d candidates", p.Blocks, p.MaxBlocks, p.Candidates)},
		{"Certification", fmt.Sprintf("%d arrival orders of the held-out workload, each beside the default", p.Orders)},
		{"Quality", fmt.Sprintf("items inside the load, paired; a loss of less than %.3g points does not matter", 100*p.QualityMargin)},
		{"Budget", strings.Join(budget, ", ")},
	}
	if in.Prior != "" {
		out = append(out, rule{"Expected beforehand", in.Prior})
	}
	var names []string
	for k := range s.About {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		out = append(out, rule{strings.ReplaceAll(k, "_", " "), s.About[k]})
	}
	return out
}
