package slo

import (
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/archive"
)

// State is the answer to an objective.
type State string

// The states.
const (
	Met       State = "met"
	Missed    State = "missed"
	Undecided State = "undecided"
)

// DefaultTarget is the share of good requests that an objective with limits on each
// request asks for when it does not say so itself.
const DefaultTarget = 0.99

// Env is the measured values by name: the metric's id, "_" and the statistic, such as
// "ttft_p99", or the id alone for a metric that is one number. Times are in seconds,
// ratios between 0 and 1, rates per second.
type Env map[string]archive.Estimate

// FromMetrics makes an Env of the metrics of one scope, such as "all", in base units.
func FromMetrics(metrics []archive.Metric, scope string) Env {
	env := Env{}
	for _, m := range metrics {
		if m.Scope != scope {
			continue
		}
		scale := baseUnit(m.Unit)
		for stat, e := range m.Stats {
			key := m.ID
			if stat != "value" {
				key += "_" + stat
			}
			env[key] = archive.Estimate{
				Value: scaled(e.Value, scale), Low: scaled(e.Low, scale), High: scaled(e.High, scale), Reason: e.Reason,
			}
		}
	}
	return env
}

// baseUnit is the factor from a unit of package archive to the base unit.
func baseUnit(unit string) float64 {
	switch unit {
	case "ms", "ms/tok":
		return 1e-3
	case "us":
		return 1e-6
	case "ns":
		return 1e-9
	case "%":
		return 1e-2
	}
	return 1
}

func scaled(v archive.Opt[float64], by float64) archive.Opt[float64] {
	if x, ok := v.Get(); ok {
		return archive.Some(x * by)
	}
	return v
}

// Result is an objective evaluated.
type Result struct {
	State State
	// Reason says why the state is undecided; empty otherwise.
	Reason string
	Terms  []Term
}

// Term is one comparison of the objective.
type Term struct {
	Text   string // such as "ttft_p99 < 500ms"
	Metric string // the key in Env that it reads; "" when it reads several
	// Observed is the measured value, in base units; unknown when it reads several.
	Observed archive.Estimate
	State    State
	Reason   string
}

// Eval decides the objective with the intervals of the values: a comparison is met or
// missed only when the whole interval is on one side of the limit. A value without an
// interval counts as exact.
func (e *Expr) Eval(env Env) Result { return e.eval(env, false) }

// EvalPoints decides the objective from the values alone, as most tools do.
func (e *Expr) EvalPoints(env Env) Result { return e.eval(env, true) }

func (e *Expr) eval(env Env, points bool) Result {
	look := lookup{env: env, points: points, target: e.target}
	out := e.root.truth(look)
	r := Result{State: out.state, Reason: out.reason}
	if r.State != Undecided {
		r.Reason = ""
	}
	for c := range comparisons(e.root) {
		o := c.truth(look)
		t := Term{Text: c.text, State: o.state, Reason: o.reason}
		if refs := c.references(); len(refs) == 1 {
			t.Metric = refs[0].key()
			if refs[0].perRequest() {
				t.Metric = "attainment"
			}
			t.Observed = env[t.Metric]
		}
		r.Terms = append(r.Terms, t)
	}
	return r
}

// lookup finds values.
type lookup struct {
	env    Env
	points bool
	target bool
}

// outcome is a truth value with the reason for an undecided one.
type outcome struct {
	state  State
	reason string
}

func (n *negation) truth(env lookup) outcome {
	o := n.inner.truth(env)
	switch o.state {
	case Met:
		o.state = Missed
	case Missed:
		o.state = Met
	}
	return o
}

func (n *connective) truth(env lookup) outcome {
	decisive := Met // of ||
	if n.and {
		decisive = Missed
	}
	left, right := n.left.truth(env), n.right.truth(env)
	switch {
	case left.state == decisive:
		return left
	case right.state == decisive:
		return right
	case left.state == Undecided:
		return left
	}
	return right
}

func (c *comparison) truth(env lookup) outcome {
	if l, ok := c.limit(); ok && l.PerRequest {
		return attained(env)
	}
	left, reason := c.left.interval(env)
	if reason != "" {
		return outcome{Undecided, reason}
	}
	right, reason := c.right.interval(env)
	if reason != "" {
		return outcome{Undecided, reason}
	}
	if s := compare(c.op, left, right); s != Undecided {
		return outcome{s, ""}
	}
	return outcome{Undecided, fmt.Sprintf("the interval of the measured value contains the limit of %s", c.text)}
}

// attained decides the limits on each request: by the target of the objective itself where
// it has one, and then this term adds nothing, or by the default.
func attained(env lookup) outcome {
	if env.target {
		return outcome{Met, ""}
	}
	share, reason := ref{reference{metric: metric{name: "attainment", dim: ratio}}}.interval(env)
	if reason != "" {
		return outcome{Undecided, reason}
	}
	s := compare(">=", share, span{DefaultTarget, DefaultTarget})
	if s == Undecided {
		return outcome{s, fmt.Sprintf("the interval of the share of good requests contains the target of %g", DefaultTarget)}
	}
	return outcome{s, ""}
}

// span is a closed interval.
type span struct{ low, high float64 }

// compare decides a relation of intervals.
func compare(op string, a, b span) State {
	switch op {
	case ">":
		return compare("<", b, a)
	case ">=":
		return compare("<=", b, a)
	case "!=":
		return (&negation{fixed(compare("==", a, b))}).truth(lookup{}).state
	}
	var always, never bool
	switch op {
	case "<":
		always, never = a.high < b.low, a.low >= b.high
	case "<=":
		always, never = a.high <= b.low, a.low > b.high
	case "==":
		always, never = a.low == b.high && a.high == b.low, a.high < b.low || b.high < a.low
	}
	switch {
	case always:
		return Met
	case never:
		return Missed
	}
	return Undecided
}

// fixed is a condition whose truth is known.
type fixed State

func (f fixed) truth(lookup) outcome { return outcome{State(f), ""} }

func (c constant) interval(lookup) (span, string) { return span{c.value, c.value}, "" }

func (r ref) interval(env lookup) (span, string) {
	e, ok := env.env[r.key()]
	v, known := e.Value.Get()
	switch {
	case !ok:
		return span{}, fmt.Sprintf("%s was not measured", r.key())
	case !known && e.Reason != "":
		return span{}, fmt.Sprintf("%s is unknown: %s", r.key(), e.Reason)
	case !known || math.IsNaN(v):
		return span{}, fmt.Sprintf("%s is unknown", r.key())
	}
	if env.points {
		return span{v, v}, ""
	}
	return span{min(v, e.Low.Or(v)), max(v, e.High.Or(v))}, ""
}

func (m *minus) interval(env lookup) (span, string) {
	s, reason := m.inner.interval(env)
	return span{-s.high, -s.low}, reason
}

func (a *arithmetic) interval(env lookup) (span, string) {
	l, reason := a.left.interval(env)
	if reason != "" {
		return l, reason
	}
	r, reason := a.right.interval(env)
	if reason != "" {
		return r, reason
	}
	switch a.op {
	case "+":
		return span{l.low + r.low, l.high + r.high}, ""
	case "-":
		return span{l.low - r.high, l.high - r.low}, ""
	case "/":
		if r.low <= 0 && r.high >= 0 {
			return span{}, "a divisor is zero, or its interval contains zero"
		}
		r = span{1 / r.high, 1 / r.low}
	}
	p := [...]float64{l.low * r.low, l.low * r.high, l.high * r.low, l.high * r.high}
	return span{min(p[0], p[1], p[2], p[3]), max(p[0], p[1], p[2], p[3])}, ""
}
