package export

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/analyst/compare"
)

func TestGateFiles(t *testing.T) {
	d := compare.Difference{Metric: "ttft", Stat: "p50", Base: 100, Head: 110, Change: 0.1, Low: 0.08, High: 0.12, UpIsWorse: true}
	g := []Gated{{Base: "runs/a", Head: "runs/<b>|x", Differences: []compare.Difference{d}, Outcome: compare.Outcome{
		State: compare.Fail, Stages: 2, Reason: "worse beyond the tolerance: ttft p50",
		Checks: []compare.Check{
			{Rule: compare.Rule{Metric: "ttft", Stat: "p50", Tolerance: 0.02}, Difference: &d, Alarm: true, Message: "ttft p50: +10.0 %"},
			{Rule: compare.Rule{Metric: "ttft", Stat: "p99", Tolerance: 0.05}, Message: "ttft p99 cannot be compared"},
		},
	}}}
	var b bytes.Buffer
	if err := GateJUnit(&b, g); err != nil {
		t.Fatal(err)
	}
	var got suites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if s := got.Suites[0]; s.Tests != 3 || s.Failures != 2 || s.Skipped != 1 {
		t.Errorf("suite = %d tests, %d failures, %d skipped; want 3, 2 and 1", s.Tests, s.Failures, s.Skipped)
	}
	b.Reset()
	if err := GateMarkdown(&b, g); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## Performance gate: fail", "second pair of runs", "| ttft p50 (ms) | 100 | 110 | +10.0 % | +8.0 % to +12.0 % | 2 % | **worse** |", "not checked: ttft p99", `&lt;b&gt;\|x`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}
