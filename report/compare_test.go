package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

func TestCompareHTML(t *testing.T) {
	var runs []Compared
	for _, k := range []reporttest.Kind{reporttest.Healthy, reporttest.Saturated, reporttest.Hostile, reporttest.AllFailed} {
		run, a := reporttest.Build(t, k)
		runs = append(runs, Compared{run, a})
	}
	var b bytes.Buffer
	if err := CompareHTML(&b, runs, nil, PageOptions{}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{"not tested", "simulation is compared with a real server", "Time to first token", "gpu.0", "is not valid: Every request failed"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, bad := range []string{"<img", "<script>alert", "http://", "https://", "NaN", "ZgotmplZ"} {
		if strings.Contains(out, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	b.Reset()
	d := []Difference{{Metric: "ttft", Stat: "p50", Run: 1, Text: "+740% [600%, 900%], paired blocks", Verdict: "worse"}}
	if err := CompareHTML(&b, runs[:2], d, PageOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "paired blocks") || strings.Contains(b.String(), "were not tested") {
		t.Error("a tested difference is not shown as tested")
	}
	if CompareHTML(&b, runs[:1], nil, PageOptions{}) == nil {
		t.Error("one run was compared")
	}
}

func TestChangeIsJudgedOnlyApart(t *testing.T) {
	e := func(v, lo, hi float64) archive.Estimate {
		return archive.Estimate{Value: archive.Some(v), Low: archive.Some(lo), High: archive.Some(hi)}
	}
	for _, c := range []struct {
		why          string
		id           string
		a, b         archive.Estimate
		change, word string
	}{
		{"a longer wait is worse", "ttft", e(100, 95, 105), e(150, 140, 160), "+50%", "worse"},
		{"more throughput is better", "output_rate", e(100, 95, 105), e(150, 140, 160), "+50%", "better"},
		{"intervals that overlap say nothing", "ttft", e(100, 80, 120), e(110, 90, 130), "+10%", ""},
		{"a point without interval says nothing", "ttft", e(100, 95, 105), archive.Estimate{Value: archive.Some(150.0)}, "+50%", ""},
		{"a large factor is a factor", "ttft", e(100, 95, 105), e(1000, 900, 1100), "×10", "worse"},
		{"an unknown has no change", "ttft", archive.Estimate{}, e(1, 1, 1), "", ""},
		{"a length has no direction", "output_length", e(100, 95, 105), e(150, 140, 160), "+50%", ""},
	} {
		var got compareCell
		got.change(c.id, c.a, c.b)
		if got.Change != c.change || got.Better != c.word {
			t.Errorf("%s: %q %q; want %q %q", c.why, got.Change, got.Better, c.change, c.word)
		}
	}
}

func TestTestedDifferences(t *testing.T) {
	var runs []Compared
	for _, k := range []reporttest.Kind{reporttest.Healthy, reporttest.Saturated, reporttest.AllFailed} {
		run, a := reporttest.Build(t, k)
		runs = append(runs, Compared{run, a})
	}
	got, err := Tested(runs)
	if err != nil {
		t.Fatal(err)
	}
	worse := false
	for _, d := range got {
		if d.Run == 2 {
			t.Errorf("a run without a success has a difference: %+v", d)
		}
		worse = worse || d.Metric == "ttft" && d.Stat == "mean" && d.Verdict == "worse" && strings.HasPrefix(d.Text, "+")
	}
	if !worse {
		t.Errorf("the saturated run is not worse in its mean TTFT: %+v", got)
	}
}
