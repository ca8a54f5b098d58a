package slo

import (
	"fmt"
	"strconv"

	"github.com/inferencebench/inferencebench/archive"
)

// Limit is what an objective asks of one request.
type Limit struct {
	Metric string  // such as "ttft"
	Op     string  // "<", "<=", ">" or ">="
	Value  float64 // in the base unit: seconds for times
	// PerRequest is set for a limit written on each request ("ttft < 200ms"), and not
	// for one derived from a percentile ("ttft_p99 < 200ms").
	PerRequest bool
	// Allowed is the largest share of requests that may miss the limit: 0.01 for p99
	// below a value, 0.05 for p05 above one; for a limit on each request, what the
	// objective leaves of attainment, or 1 − [DefaultTarget].
	Allowed float64
}

// String writes the limit, such as "ttft < 0.2".
func (l Limit) String() string { return fmt.Sprintf("%s %s %g", l.Metric, l.Op, l.Value) }

// Meets reports whether a value is within the limit.
func (l Limit) Meets(v float64) bool {
	switch l.Op {
	case "<":
		return v < l.Value
	case "<=":
		return v <= l.Value
	case ">":
		return v > l.Value
	default:
		return v >= l.Value
	}
}

// Limits returns the limits on one request that the objective contains: those written on
// each request, and those behind percentiles. They make a request good or not, and so
// define goodput. whole is true when the objective is nothing but a conjunction of such
// limits and of conditions on attainment, so that they stand for all of it. An objective
// with || or ! has no limits.
func (e *Expr) Limits() (limits []Limit, whole bool) {
	whole = true
	var visit func(c condition) bool
	visit = func(c condition) bool {
		switch n := c.(type) {
		case *connective:
			return n.and && visit(n.left) && visit(n.right)
		case *comparison:
			if l, ok := n.limit(); ok {
				limits = append(limits, l)
			} else if refs := n.references(); len(refs) != 1 || refs[0].name != "attainment" {
				whole = false
			}
			return true
		}
		return false
	}
	if !visit(e.root) {
		return nil, false
	}
	if target, ok := e.attainment(); ok {
		for i := range limits {
			if limits[i].PerRequest {
				limits[i].Allowed = 1 - target
			}
		}
	}
	return limits, whole && len(limits) > 0
}

// attainment is the largest share of good requests, below 1, that the objective asks for
// by a comparison of attainment with a constant.
func (e *Expr) attainment() (target float64, ok bool) {
	for c := range comparisons(e.root) {
		r, left := c.left.(ref)
		share, known := fold(c.right)
		op := c.op
		if !left {
			r, left = c.right.(ref)
			share, known = fold(c.left)
			op = map[string]string{"<": ">", "<=": ">="}[op]
		}
		if left && known && r.name == "attainment" && (op == ">" || op == ">=") && share < 1 {
			target, ok = max(target, share), true
		}
	}
	return target, ok
}

// limit reads a comparison of one metric with a constant as a limit on each request.
func (c *comparison) limit() (Limit, bool) {
	r, left := c.left.(ref)
	limit, constant := fold(c.right)
	op := c.op
	if !left {
		r, left = c.right.(ref)
		limit, constant = fold(c.left)
		op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	if !left || !constant || op == "" || op == "==" || op == "!=" || !r.dist || !r.single {
		return Limit{}, false
	}
	l := Limit{Metric: r.name, Op: op, Value: limit, PerRequest: r.stat == "", Allowed: 1 - r.quantile}
	switch {
	case l.PerRequest:
		l.Allowed = 1 - DefaultTarget
	case r.quantile == 0:
		return Limit{}, false // a mean says nothing of one request
	case op == ">" || op == ">=":
		l.Allowed = r.quantile
	}
	return l, true
}

// fold returns the value of a quantity that names no metric.
func fold(q quantity) (float64, bool) {
	c := comparison{left: q, right: constant{}}
	if len(c.references()) > 0 {
		return 0, false
	}
	s, reason := q.interval(lookup{})
	return s.low, reason == ""
}

// Judge says whether a request is good: it meets every limit of the objective. value gives
// its metrics in base units; applies is false for one that has no meaning for this
// request, such as the time per output token of an answer of one token, and then the
// limit is met. A request that failed is not to be judged: it is a miss. The state is
// undecided when no limit is missed and a value is unknown.
func Judge(limits []Limit, value func(metric string) (v archive.Opt[float64], applies bool)) State {
	state := Met
	for _, l := range limits {
		v, applies := value(l.Metric)
		x, known := v.Get()
		switch {
		case !applies:
		case !known:
			state = Undecided
		case !l.Meets(x):
			return Missed
		}
	}
	return state
}

// words writes a comparison in one form.
func (c *comparison) words() string { return write(c.left) + " " + c.op + " " + write(c.right) }

func write(q quantity) string {
	switch n := q.(type) {
	case ref:
		return n.key()
	case constant:
		return n.text
	case *minus:
		return "-" + write(n.inner)
	case *arithmetic:
		return "(" + write(n.left) + " " + n.op + " " + write(n.right) + ")"
	}
	return strconv.Quote(fmt.Sprint(q))
}
