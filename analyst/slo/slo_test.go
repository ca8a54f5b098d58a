package slo_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/archive"
)

func point(v float64) archive.Estimate { return archive.Estimate{Value: archive.Some(v)} }

func between(low, v, high float64) archive.Estimate {
	return archive.Estimate{Value: archive.Some(v), Low: archive.Some(low), High: archive.Some(high)}
}

// measured is a run with a TTFT P99 of 480 ms [430, 560], exact values beside it, and an
// unknown percentile.
func measured() slo.Env {
	return slo.Env{
		"ttft_p99":     between(0.430, 0.480, 0.560),
		"ttft_p50":     point(0.120),
		"ttft_mean":    point(0.150),
		"tpot_p95":     point(0.038),
		"e2e_p999":     {Reason: "needs 2,995 requests, has 800"},
		"error_rate":   point(0.004),
		"goodput":      point(9.5),
		"request_rate": point(10),
		"attainment":   between(0.96, 0.97, 0.98),
		"send_lag_p99": point(0),
	}
}

func TestEval(t *testing.T) {
	for _, c := range []struct {
		name, expr     string
		eval, byPoints slo.State
	}{
		{"a value on the right side of the limit", "tpot_p95 < 40ms", slo.Met, slo.Met},
		{"a value on the wrong side", "tpot_p95 < 30ms", slo.Missed, slo.Missed},
		{"seconds and milliseconds are one scale", "tpot_p95 < 0.04s", slo.Met, slo.Met},
		{"microseconds too", "tpot_p95 < 38001us && tpot_p95 > 37999µs", slo.Met, slo.Met},
		{"the interval contains the limit", "ttft_p99 < 500ms", slo.Undecided, slo.Met},
		{"the whole interval is below", "ttft_p99 < 600ms", slo.Met, slo.Met},
		{"the whole interval is above", "ttft_p99 < 400ms", slo.Missed, slo.Missed},
		{"a conjunction with a miss is missed whatever the other is", "ttft_p99 < 500ms && tpot_p95 < 30ms", slo.Missed, slo.Missed},
		{"a conjunction with an unknown and a met is undecided", "tpot_p95 < 40ms and e2e_p999 < 9s", slo.Undecided, slo.Undecided},
		{"a disjunction with a met is met whatever the other is", "e2e_p999 < 9s || tpot_p95 < 40ms", slo.Met, slo.Met},
		{"an unknown stays unknown under not", "!(e2e_p999 < 9s)", slo.Undecided, slo.Undecided},
		{"not of a miss is met", "not (tpot_p95 < 30ms)", slo.Met, slo.Met},
		{"commas join", "tpot_p95<40ms, error_rate<1%", slo.Met, slo.Met},
		{"a comma binds weaker than ||", "tpot_p95<40ms || ttft_p50<1ms, error_rate<0.1%", slo.Missed, slo.Missed},
		{"a ratio takes a bare number", "error_rate <= 0.004", slo.Met, slo.Met},
		{"the limit may be on the left", "500ms > tpot_p95", slo.Met, slo.Met},
		{"arithmetic keeps units", "ttft_p50 + tpot_p95 * 10 < 501ms", slo.Met, slo.Met},
		{"a quotient of two rates is a number", "goodput / request_rate >= 0.95", slo.Met, slo.Met},
		{"division by zero is undecided", "ttft_p50 / send_lag_p99 < 3", slo.Undecided, slo.Undecided},
		{"rates take a bare number or a unit", "goodput > 9 && goodput < 9.6/s && request_rate >= 10rps", slo.Met, slo.Met},
		{"an equality of exact values", "request_rate == 10", slo.Met, slo.Met},
		{"an inequality of exact values", "request_rate != 10", slo.Missed, slo.Missed},
		{"a chain of comparisons is a range", "100ms < ttft_p50 < 130ms", slo.Met, slo.Met},
		{"an alias of another tool", "latency_p999 < 1s || ttft_median < 1s", slo.Met, slo.Met},
		{"limits on each request ask for 99 %", "ttft < 500ms && tpot < 40ms", slo.Missed, slo.Missed},
		{"an own target replaces the default", "ttft < 500ms && attainment >= 95%", slo.Met, slo.Met},
		{"an own target inside the interval", "ttft < 500ms && attainment >= 97.5%", slo.Undecided, slo.Missed},
		{"the vLLM form", "ttft:500 tpot:40", slo.Missed, slo.Missed},
	} {
		e, err := slo.Parse(c.expr)
		if err != nil {
			t.Errorf("%s: Parse(%q) = %v", c.name, c.expr, err)
			continue
		}
		if got := e.Eval(measured()); got.State != c.eval || (got.Reason == "") != (got.State != slo.Undecided) {
			t.Errorf("%s: Eval(%q) = %s, reason %q; want %s", c.name, c.expr, got.State, got.Reason, c.eval)
		}
		if got := e.EvalPoints(measured()); got.State != c.byPoints {
			t.Errorf("%s: EvalPoints(%q) = %s; want %s", c.name, c.expr, got.State, c.byPoints)
		}
	}
}

func TestTermsShowWhatWasRead(t *testing.T) {
	e, err := slo.Parse("ttft_p99<500ms && e2e_p999<9s && tpot<40ms")
	if err != nil {
		t.Fatal(err)
	}
	got := e.Eval(measured())
	want := []slo.Term{
		{Text: "ttft_p99 < 500ms", Metric: "ttft_p99", Observed: measured()["ttft_p99"], State: slo.Undecided,
			Reason: "the interval of the measured value contains the limit of ttft_p99 < 500ms"},
		{Text: "e2e_p999 < 9s", Metric: "e2e_p999", Observed: measured()["e2e_p999"], State: slo.Undecided,
			Reason: "e2e_p999 is unknown: needs 2,995 requests, has 800"},
		{Text: "tpot < 40ms", Metric: "attainment", Observed: measured()["attainment"], State: slo.Missed},
	}
	if diff := cmp.Diff(want, got.Terms); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
	if got := e.Eval(slo.Env{}); got.State != slo.Undecided || !strings.Contains(got.Reason, "ttft_p99 was not measured") {
		t.Errorf("with nothing measured: %s, %q", got.State, got.Reason)
	}
}

func TestErrorsSayWhereAndWhat(t *testing.T) {
	for _, c := range []struct {
		expr   string
		column int
		want   string
	}{
		{"", 1, "is missing here"},
		{"ttft_p99<500ms, ", 16, "is missing here"},
		{"ttft_p99 < 500", 10, "write 500ms or 500s"},
		{"ttft_p99 < 500parsec", 12, "is not a number with a unit"},
		{"ttft_p99 < 500ms && tttf_p95 < 1s", 21, "is not a metric"},
		{"ttfx_p99 < 500ms", 1, "did you mean ttft?"},
		{"ttft_q99 < 500ms", 1, `"q99" is not a statistic of ttft`},
		{"ttft_p0 < 500ms", 1, `"p0" is not a statistic`},
		{"goodput_p99 > 5", 1, "has no statistic"},
		{"itl < 20ms", 1, "itl_p99"},
		{"ttft_p99", 1, "this is not a comparison"},
		{"ttft_p99 < error_rate", 10, "a time and a ratio cannot go together"},
		{"ttft_p99 * ttft_p99 < 1s", 10, "has no meaning"},
		{"1 < 2", 3, "nothing is measured here"},
		{"ttft_p99 < 500ms &&", 19, "ends too early"},
		{"(ttft_p99 < 500ms", 17, "ends too early"},
		{"ttft_p99 < 500ms)", 17, `unexpected ")"`},
		{"len(ttft_p99) < 5", 1, "only metrics"},
		{"ttft.p99 < 5ms", 6, "only metrics"},
		{`ttft_p99 < "500ms"`, 12, "only metrics"},
		{"ttft == 5ms", 6, "stands for each request"},
		{"ttft + tpot < 5ms", 13, "stands for each request"},
		{"ttft:200 nonsense:5", 10, "is not a metric"},
		{"ttft:fast", 6, "positive number of milliseconds"},
		{"ttft:-5", 6, "positive number of milliseconds"},
		{"goodput:5", 1, "write it as a comparison"},
		{strings.Repeat("x", 5000), 4097, "longer than"},
	} {
		_, err := slo.Parse(c.expr)
		var at *slo.SyntaxError
		if !errors.As(err, &at) {
			t.Errorf("Parse(%.40q) = %v; want a SyntaxError", c.expr, err)
			continue
		}
		if at.Column != c.column || !strings.Contains(at.Message, c.want) {
			t.Errorf("Parse(%.40q) = column %d: %s; want column %d and %q", c.expr, at.Column, at.Message, c.column, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name, expr string
		want       []slo.Limit
		whole      bool
	}{
		{"percentiles become limits with their allowance", "ttft_p99<500ms && tpot_p95<40ms", []slo.Limit{
			{Metric: "ttft", Op: "<", Value: 0.5, Allowed: 0.01}, {Metric: "tpot", Op: "<", Value: 0.04, Allowed: 0.05}}, true},
		{"the vLLM form", `ttft:200 tpot:20`, []slo.Limit{
			{Metric: "ttft", Op: "<=", Value: 0.2, PerRequest: true, Allowed: 0.01}, {Metric: "tpot", Op: "<=", Value: 0.02, PerRequest: true, Allowed: 0.01}}, true},
		{"units in the vLLM form, and commas", `e2el:2s, ttft:250ms`, []slo.Limit{
			{Metric: "e2e", Op: "<=", Value: 2, PerRequest: true, Allowed: 0.01}, {Metric: "ttft", Op: "<=", Value: 0.25, PerRequest: true, Allowed: 0.01}}, true},
		{"a lower limit turns the percentile round", "output_speed_p05 > 20", []slo.Limit{
			{Metric: "output_speed", Op: ">", Value: 20, Allowed: 0.05}}, true},
		{"the limit on the left, computed", "2 * 250ms >= ttft_p90", []slo.Limit{
			{Metric: "ttft", Op: "<=", Value: 0.5, Allowed: 0.1}}, true},
		{"an error rate is no limit on a request", "ttft<500ms && error_rate<1%", []slo.Limit{
			{Metric: "ttft", Op: "<", Value: 0.5, PerRequest: true, Allowed: 0.01}}, false},
		{"attainment belongs to the limits", "ttft<500ms && attainment>=90%", []slo.Limit{
			{Metric: "ttft", Op: "<", Value: 0.5, PerRequest: true, Allowed: 0.1}}, true},
		{"attainment on the right, beside a percentile", "95% <= attainment && ttft<500ms && tpot_p90<40ms", []slo.Limit{
			{Metric: "ttft", Op: "<", Value: 0.5, PerRequest: true, Allowed: 0.05}, {Metric: "tpot", Op: "<", Value: 0.04, Allowed: 0.1}}, true},
		{"a mean says nothing of one request", "ttft_mean<500ms", nil, false},
		{"a disjunction has no limits", "ttft_p99<500ms || tpot_p95<40ms", nil, false},
	} {
		e, err := slo.Parse(c.expr)
		if err != nil {
			t.Errorf("%s: Parse(%q) = %v", c.name, c.expr, err)
			continue
		}
		got, whole := e.Limits()
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" || whole != c.whole {
			t.Errorf("%s: Limits(%q) whole = %v; want %v (-want +got):\n%s", c.name, c.expr, whole, c.whole, diff)
		}
	}
}

func TestJudge(t *testing.T) {
	e, err := slo.Parse("ttft:500 tpot:40")
	if err != nil {
		t.Fatal(err)
	}
	limits, _ := e.Limits()
	type value struct {
		v       archive.Opt[float64]
		applies bool
	}
	of := func(v float64) value { return value{archive.Some(v), true} }
	for _, c := range []struct {
		name       string
		ttft, tpot value
		want       slo.State
	}{
		{"both within", of(0.5), of(0.01), slo.Met},
		{"one over", of(0.501), of(0.01), slo.Missed},
		{"an answer of one token has no time per token", of(0.1), value{}, slo.Met},
		{"an unknown value leaves it open", of(0.1), value{applies: true}, slo.Undecided},
		{"a miss decides, whatever is unknown", of(0.6), value{applies: true}, slo.Missed},
	} {
		got := slo.Judge(limits, func(metric string) (archive.Opt[float64], bool) {
			v := map[string]value{"ttft": c.ttft, "tpot": c.tpot}[metric]
			return v.v, v.applies
		})
		if got != c.want {
			t.Errorf("%s: Judge = %s; want %s", c.name, got, c.want)
		}
	}
}

func TestFromMetricsScales(t *testing.T) {
	env := slo.FromMetrics([]archive.Metric{
		{ID: "ttft", Unit: "ms", Scope: "all", Stats: map[string]archive.Estimate{"p99": between(400, 480, 500)}},
		{ID: "ttft", Unit: "ms", Scope: "phase:a", Stats: map[string]archive.Estimate{"p99": point(9)}},
		{ID: "goodput", Unit: "req/s", Scope: "all", Stats: map[string]archive.Estimate{"value": point(7)}},
		{ID: "error_rate", Unit: "%", Scope: "all", Stats: map[string]archive.Estimate{"value": {Reason: "no requests"}}},
	}, "all")
	want := slo.Env{"ttft_p99": between(0.4, 0.48, 0.5), "goodput": point(7), "error_rate": {Reason: "no requests"}}
	if diff := cmp.Diff(want, env, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("FromMetrics (-want +got):\n%s", diff)
	}
}

// Whatever the bytes: no panic, a position inside the source, and what parses evaluates to
// one of the three states, undecided when nothing was measured unless a constant decides.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"ttft_p99<500ms && tpot_p95<40ms", "ttft:200 tpot:20", "!(error_rate<1%) || goodput>=5", "1 - -ttft_p50/2s < 3",
		"ttft_p99<", "µ", "((((", "a.b?.c", "x ?? y", "[1,2]", "let a = 1; a", "ttft_p99 < 1e309ms", "\x00", "ttft_p99<5ms,,", "A:\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		e, err := slo.Parse(source)
		if err != nil {
			var at *slo.SyntaxError
			if !errors.As(err, &at) || at.Column < 1 || at.Column > len(source)+2 {
				t.Fatalf("Parse(%q) = %#v; want a SyntaxError with a column of the source", source, err)
			}
			return
		}
		for _, env := range []slo.Env{{}, measured(), {"ttft_p99": point(math.NaN())}} {
			r := e.Eval(env)
			if r.State != slo.Met && r.State != slo.Missed && r.State != slo.Undecided || len(r.Terms) == 0 {
				t.Fatalf("Eval(%q) = %+v", source, r)
			}
		}
		e.Limits()
	})
}
