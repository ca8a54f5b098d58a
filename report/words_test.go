package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

func TestTidy(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"a duration is rounded", "send lag 627.814µs", "send lag 628µs"},
		{"a rate is rounded", "sent 512.9259878164295/s", "sent 513/s"},
		{"the seconds of a long duration too", "after 1m2.345678s", "after 1m2.35s"},
		{"a number without a unit when it is long", "a share of 0.123456789.", "a share of 0.123."},
		{"a short number stays", "20.4 ms of 0.85", "20.4 ms of 0.85"},
		{"a version stays", "v1.24.12345 of 0.12.345s", "v1.24.12345 of 0.12.345s"},
		{"an address stays", "http://10.0.0.123:8000/s", "http://10.0.0.123:8000/s"},
	} {
		if got := tidy(c.in); got != c.want {
			t.Errorf("%s: tidy(%q) = %q; want %q", c.why, c.in, got, c.want)
		}
	}
}

func TestWordsKeepFlagsWhole(t *testing.T) {
	got := string(words(`Raise --max-num-seqs (now max_num_seqs 8) <b> (--parallel)`))
	want := `Raise <span class="nb">--max-num-seqs</span> (now <span class="nb">max_num_seqs</span> 8) &lt;b&gt; <span class="nb">(--parallel)</span>`
	if got != want {
		t.Errorf("words = %s; want %s", got, want)
	}
}

func TestFailedChecksAreNotCalledGates(t *testing.T) {
	run, a := reporttest.Build(t, reporttest.Saturated)
	for _, c := range []struct{ why, state, id, want string }{
		{"a check that only limits the verdict", archive.VerdictBottleneck, "steady", "CHECK FAILED"},
		{"a check that refuses the figures", archive.VerdictInvalid, "send_lag", "NOT VALID"},
	} {
		a.Verdict.State = c.state
		a.Gates = []archive.Gate{{ID: c.id, Passed: archive.Some(false), Message: "It failed.", Observed: "627.814µs", Limit: "1ms"}}
		var b bytes.Buffer
		if err := Terminal(&b, run, a, TerminalOptions{Width: 96}); err != nil {
			t.Fatal(err)
		}
		if out := b.String(); !strings.Contains(out, c.want+" ") || !strings.Contains(out, "("+c.id+": 628µs") || strings.Contains(out, "GATE") {
			t.Errorf("%s: the terminal does not say %q with the id:\n%s", c.why, c.want, out[:300])
		}
	}
}

func TestOneIsSingular(t *testing.T) {
	if got := kinds(map[archive.Kind]int{archive.KindCheckpoint: 1, archive.KindProbe: 2}); got != ", 1 checkpoint, 2 probes" {
		t.Errorf("kinds = %q", got)
	}
}

func TestComparisonSaysTheChangeFirst(t *testing.T) {
	var runs []Compared
	for _, k := range []reporttest.Kind{reporttest.Healthy, reporttest.Saturated} {
		run, a := reporttest.Build(t, k)
		runs = append(runs, Compared{run, a})
	}
	d := []Difference{
		{Metric: "ttft", Stat: "p50", Run: 1, Text: "ttft p50: +40.0 % [+35.0, +45.5] (100 → 140; unpaired blocks of time)", Verdict: "worse"},
		{Metric: "output_rate", Stat: "value", Run: 1, Text: "output_rate value: +1.0 % [-13.0, +19.5] (417.5 → 421.5; unpaired blocks of time)", Verdict: "undecided"},
	}
	var b bytes.Buffer
	if err := CompareHTML(&b, runs, d, PageOptions{}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	top, _, _ := strings.Cut(out, `id="figures"`)
	for _, want := range []string{"Worse (1 worse, 1 undecided)", "<b>&#43;40.0 % [&#43;35.0, &#43;45.5]</b>", "<b>&#43;1.0 % [−13.0, &#43;19.5]</b>", "by unpaired blocks of time"} {
		if !strings.Contains(top, want) {
			t.Errorf("above the table the page does not say %q", want)
		}
	}
	if strings.Contains(out, "417.5 →") {
		t.Error("the values of the runs stand a second time beside the change")
	}
	b.Reset()
	if err := CompareHTML(&b, runs, nil, PageOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), ", not tested</h2>") {
		t.Error("an untested change is not said to be untested at the top")
	}
}
