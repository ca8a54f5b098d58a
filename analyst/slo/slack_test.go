package slo_test

import (
	"math"
	"testing"

	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/archive"
)

func TestSlack(t *testing.T) {
	v := func(x float64) archive.Estimate { return archive.Estimate{Value: archive.Some(x)} }
	env := slo.Env{"ttft_p99": v(0.25), "tpot_p95": v(0.08), "error_rate": v(0), "attainment": v(0.98), "goodput": v(5)}
	for _, c := range []struct {
		expr string
		want float64
		ok   bool
	}{
		{"ttft_p99 < 500ms", math.Log(0.5), true},
		{"ttft_p99 < 500ms && tpot_p95 < 40ms", math.Log(2), true},
		{"ttft_p99 < 500ms || tpot_p95 < 40ms", math.Log(0.5), true},
		{"!(ttft_p99 < 500ms)", math.Log(2), true},
		{"goodput > 10", math.Log(2), true},
		{"goodput >= 2.5", math.Log(0.5), true},
		{"error_rate < 1%", -slo.MostSlack, true},
		{"ttft < 500ms", math.Log(2), true},                        // 2 % miss where 1 % may
		{"ttft < 500ms && attainment >= 96%", math.Log(0.5), true}, // 2 % miss where 4 % may
		{"e2e_p99 < 1s", 0, false},
	} {
		e, err := slo.Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		got, ok, reason := e.Slack(env)
		if ok != c.ok || (reason == "") != ok || ok && math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Slack(%s) = %v %v %q, want %v %v", c.expr, got, ok, reason, c.want, c.ok)
		}
		if met := e.EvalPoints(env).State == slo.Met; ok && met != (got <= 0) {
			t.Errorf("%s: slack %v, but met is %v", c.expr, got, met)
		}
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct {
		name, key string
		seconds   bool
		ok        bool
	}{
		{"output_throughput", "output_rate", false, true},
		{"ttft_p99", "ttft_p99", true, true},
		{"tpot_median", "tpot_p50", true, true},
		{"goodput", "goodput", false, true},
		{"ttft", "", false, false},
		{"speed", "", false, false},
	} {
		key, sec, err := slo.Name(c.name)
		if key != c.key || sec != c.seconds || (err == nil) != c.ok {
			t.Errorf("Name(%s) = %q %v %v", c.name, key, sec, err)
		}
	}
}
