package study

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	evalstats "github.com/inferencebench/inferencebench/evals/stats"
	"github.com/inferencebench/inferencebench/report/chart"
	"github.com/inferencebench/inferencebench/report/quantity"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/lessons"
)

type candidate struct {
	Config, State, Reason, Class string
	Stages                       []stage
	Checks                       []check
	// Tally counts the checks by their outcome; Open shows them because one failed.
	Tally string
	Open  bool
}

type stage struct{ Name, Gains, Mean, Interval string }

type check struct{ Name, Text, Class, Sign string }

// candidates are the challengers that went into acceptance, with their proofs.
func (in *Input) candidates() []candidate {
	var out []candidate
	goal := in.Study.Goal
	for _, a := range in.Result.Candidates {
		c := candidate{Config: Config(a.Challenger.Config), State: a.State, Reason: sentence(a.Reason)}
		c.Stages = append(c.Stages, in.stage(fmt.Sprintf("Acceptance, %d blocks", len(a.Gains)), a.Gains, a.Mean, a.Low, a.High))
		guards, what := a.Guards, "blocks"
		for _, x := range in.Result.Certifications {
			if x.Challenger.Config.Key() != a.Challenger.Config.Key() {
				continue
			}
			c.State, c.Reason = x.State, sentence(x.Reason)
			c.Stages = append(c.Stages, in.stage(fmt.Sprintf("Certification, %d orders; worst %s", len(x.Gains), Change(goal, x.Worst)), x.Gains, x.Mean, x.Low, x.High))
			c.Checks = append(c.Checks, in.checks(&guards, what)...)
			guards, what = x.Guards, "certification"
		}
		c.Checks = append(c.Checks, in.checks(&guards, what)...)
		if c.State != tuner.StateCertified {
			c.Class = "contributing"
		}
		c.tally()
		out = append(out, c)
	}
	return out
}

// tally counts the checks.
func (c *candidate) tally() {
	n := map[string]int{}
	for _, x := range c.Checks {
		n[x.Class]++
	}
	c.Open = n["bad"] > 0
	c.Tally = fmt.Sprintf("%d passed", n["good"])
	if n["unknown"] > 0 {
		c.Tally += fmt.Sprintf(", %d not decided", n["unknown"])
	}
	if n["bad"] > 0 {
		c.Tally += fmt.Sprintf(", %d failed", n["bad"])
	}
}

func (in *Input) stage(name string, gains []float64, mean, lo, hi float64) stage {
	goal := in.Study.Goal
	var parts []string
	for _, g := range gains {
		parts = append(parts, Change(goal, g))
	}
	s := stage{Name: name, Gains: strings.Join(parts, ", "), Mean: Change(goal, mean), Interval: "needs two"}
	if len(gains) > 1 {
		if !goal.Maximise {
			lo, hi = hi, lo
		}
		s.Interval = Change(goal, lo) + " to " + Change(goal, hi)
	}
	return s
}

// checks are the rows of what a challenger had to hold beside speed.
func (in *Input) checks(g *tuner.Guards, where string) []check {
	var out []check
	add := func(ok, known bool, name, text string) {
		c := check{Name: name, Text: text, Class: "good", Sign: "✓"}
		switch {
		case !known:
			c.Class, c.Sign = "unknown", "?"
		case !ok:
			c.Class, c.Sign = "bad", "✗"
		}
		out = append(out, c)
	}
	for _, b := range g.Constraints {
		add(b.Upper <= 0, true, b.Constraint+", "+where, fmt.Sprintf("%.0f %% of the limit, at most %.0f %% with 95 %% confidence", 100*math.Exp(b.Mean), 100*math.Exp(b.Upper)))
	}
	for _, q := range g.Quality {
		v := q.Gate.Verdict
		add(v == evalstats.GatePass, v != evalstats.GateUndecided, "Quality, "+q.Kind+", "+where, q.Gate.String())
	}
	if len(g.Constraints)+len(g.Quality)+len(g.Checks) > 0 || len(g.NewErrors) > 0 {
		text := "no kind of failed request that the default has not"
		if len(g.NewErrors) > 0 {
			text = strings.Join(g.NewErrors, ", ")
		}
		add(len(g.NewErrors) == 0, true, "New errors, "+where, text)
	}
	for _, v := range g.Checks {
		ok, known := v.Passed.Get()
		add(ok, known, v.Check+", "+where, v.Message)
	}
	return out
}

// curveChart is the search over time: every whole trial, and the best so far.
func (in *Input) curveChart() template.HTML {
	x, best, all := in.curve()
	word := "more"
	if !in.Study.Goal.Maximise {
		word = "less"
	}
	p := &chart.Plot{
		ID: "best", Title: "Best so far", Note: "Minutes spent, and how much " + word + " " + MeasureOf(in.Study.Goal.Metric).Label + " than the default; dots are configurations.",
		XUnit: "min", YUnit: "%", Height: 240, Empty: "No whole trial of the search has a value.",
	}
	var gx, gy, bx, by []float64
	for _, q := range all {
		if q.feasible {
			gx, gy = append(gx, q.x), append(gy, q.y)
		} else {
			bx, by = append(bx, q.x), append(by, q.y)
		}
	}
	lo, hi := 0.0, 1.0
	for _, q := range all {
		lo, hi = math.Min(lo, q.y), math.Max(hi, q.y)
	}
	pad := 0.06 * (hi - lo)
	p.Y = chart.Span{Lo: lo - pad, Hi: hi + pad}
	if len(x) > 0 {
		p.X = chart.Span{Lo: 0, Hi: x[len(x)-1] * 1.05}
	}
	p.Series = append(p.Series, chart.Series{Name: "best so far", Mode: chart.Step, Color: 3, X: x, Y: best})
	p.Series = append(p.Series, chart.Series{Name: "holds the objectives", Mode: chart.Dots, Color: 1, X: gx, Y: gy})
	if len(bx) > 0 {
		p.Series = append(p.Series, chart.Series{Name: "misses one", Mode: chart.Dots, Color: 2, X: bx, Y: by})
	}
	return p.HTML()
}

// pareto is the table and the chart of the configurations that no other one beats.
func (in *Input) pareto() ([]choice, []lessons.Aim, template.HTML) {
	all, aims := lessons.Pareto(&in.Study, in.Result.Trials)
	if len(aims) < 2 || len(all) < 3 {
		return nil, nil, ""
	}
	var front []lessons.Choice
	for _, c := range all {
		if c.Front {
			front = append(front, c)
		}
	}
	slices.SortStableFunc(front, func(a, b lessons.Choice) int {
		switch x, y := a.Values[0], b.Values[0]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	var out []choice
	for _, c := range front {
		row := choice{Config: Config(c.Config), Trial: c.Trial}
		for k, a := range aims {
			text := "–"
			if !math.IsNaN(c.Values[k]) {
				text = quantity.Format(c.Values[k], a.Unit)
			}
			row.Values = append(row.Values, text)
		}
		out = append(out, row)
	}
	return out, aims, frontChart(all, aims)
}

// frontChart draws the first two aims against each other.
func frontChart(all []lessons.Choice, aims []lessons.Aim) template.HTML {
	p := &chart.Plot{
		ID: "front", Title: aims[1].Label + " over " + strings.ToLower(aims[0].Label), Note: "One dot a configuration; the ones in colour are beaten by no other in everything.",
		XUnit: aims[0].Unit, YUnit: aims[1].Unit, Height: 220, Empty: "Nothing to compare.",
	}
	var fx, fy, ox, oy, sx, sy []float64
	for _, c := range all {
		x, y := c.Values[0], c.Values[1]
		if math.IsNaN(x) || math.IsNaN(y) {
			continue
		}
		sx, sy = append(sx, x), append(sy, y)
		if c.Front {
			fx, fy = append(fx, x), append(fy, y)
		} else {
			ox, oy = append(ox, x), append(oy, y)
		}
	}
	if len(sx) == 0 {
		return ""
	}
	p.X, p.Y = padded(sx), padded(sy)
	if len(ox) > 0 {
		p.Series = append(p.Series, chart.Series{Name: "beaten", Mode: chart.Dots, Color: 7, X: ox, Y: oy})
	}
	p.Series = append(p.Series, chart.Series{Name: "not beaten", Mode: chart.Dots, Color: 2, X: fx, Y: fy})
	return p.HTML()
}

func padded(v []float64) chart.Span {
	lo, hi := slices.Min(v), slices.Max(v)
	pad := max(0.06*(hi-lo), 0.01*math.Abs(hi))
	return chart.Span{Lo: max(0, lo-pad), Hi: hi + pad}
}
