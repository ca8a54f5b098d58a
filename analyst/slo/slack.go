package slo

import "math"

// MostSlack bounds the size of a slack: a limit that is met or missed by more than a factor
// of e³ is met or missed by a lot.
const MostSlack = 3.0

// Slack says how far the values of env are from the objective's limits: ln(value/limit) of
// the comparison that is worst, so that at most 0 holds and equal steps are equal factors. It
// is within ±MostSlack. A limit on each request compares the share of bad requests with what
// is allowed of them. ok is false where a value is unknown, or where a comparison is not one
// of positive numbers; reason then says which.
func (e *Expr) Slack(env Env) (slack float64, ok bool, reason string) {
	s, reason := slackOf(e.root, lookup{env: env, points: true, target: e.target})
	return s, reason == "", reason
}

func slackOf(c condition, env lookup) (float64, string) {
	switch n := c.(type) {
	case *negation:
		s, reason := slackOf(n.inner, env)
		return -s, reason
	case *connective:
		l, reason := slackOf(n.left, env)
		if reason != "" {
			return 0, reason
		}
		r, reason := slackOf(n.right, env)
		if n.and {
			return max(l, r), reason
		}
		return min(l, r), reason
	case *comparison:
		return n.slack(env)
	}
	return 0, "not a comparison"
}

func (c *comparison) slack(env lookup) (float64, string) {
	if l, ok := c.limit(); ok && l.PerRequest {
		if env.target {
			return -MostSlack, "" // the comparison of attainment says it
		}
		share, reason := ref{reference{metric: metric{name: "attainment", dim: ratio}}}.interval(env)
		return ratioOf(1-share.low, l.Allowed), reason
	}
	left, reason := c.left.interval(env)
	if reason != "" {
		return 0, reason
	}
	right, reason := c.right.interval(env)
	if reason != "" {
		return 0, reason
	}
	a, b := left.low, right.low
	if c.op == ">" || c.op == ">=" {
		a, b = b, a
	}
	if refs := c.references(); len(refs) == 1 && refs[0].name == "attainment" && a <= 1 && b <= 1 {
		a, b = 1-b, 1-a // of the misses
	}
	if c.op == "==" || c.op == "!=" || a < 0 || b < 0 || (a == 0 && b == 0) {
		return 0, c.text + " has no distance to its limit"
	}
	return ratioOf(a, b), ""
}

// ratioOf is ln(a/b), bounded.
func ratioOf(a, b float64) float64 {
	return max(-MostSlack, min(MostSlack, math.Log(a)-math.Log(b)))
}

// Name resolves the name of a quantity, such as "output_throughput" or "ttft_p99", to its key
// in an [Env]. seconds says that its unit is the second. The error says what could have been
// meant.
func Name(name string) (key string, inSeconds bool, err error) {
	r, err := resolve(name)
	if err != nil {
		return "", false, err
	}
	if r.perRequest() {
		return "", false, errNoStatistic(name)
	}
	return r.key(), r.dim == seconds, nil
}

type errNoStatistic string

func (e errNoStatistic) Error() string {
	return string(e) + " is a value of each request; name a statistic, such as " + string(e) + "_p99"
}
