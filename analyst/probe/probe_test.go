package probe_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
)

func some(v float64) archive.Opt[float64] { return archive.Some(v) }

// Every cause has an experiment, every experiment a cause, and no two share an id.
func TestEveryCauseHasAnExperiment(t *testing.T) {
	var ids, causes []string
	for _, p := range probe.All() {
		if slices.Contains(ids, p.ID) {
			t.Errorf("%s is there twice", p.ID)
		}
		ids, causes = append(ids, p.ID), append(causes, p.Cause)
		if p.Title == "" || p.Expected == "" || len(p.Arms(probe.Seen{})) == 0 {
			t.Errorf("%s lacks words or arms", p.ID)
		}
	}
	for _, c := range []string{
		attribute.Client, attribute.Throttle, attribute.Leak, attribute.Prefix, attribute.KV, attribute.Cap, attribute.Network, attribute.Frontend, attribute.Host,
		attribute.Communication, attribute.Imbalance, attribute.External, attribute.Speculation, attribute.Interference, attribute.Prefill, attribute.Decode, attribute.Queueing,
	} {
		if !slices.Contains(causes, c) {
			t.Errorf("no experiment is about %s", c)
		}
	}
}

func TestJudge(t *testing.T) {
	seen := func(ttft, tpot, kv float64) probe.Seen {
		return probe.Seen{OK: 50, TTFT: some(ttft), TPOT: some(tpot), KV: some(kv), KVMax: some(kv), Requests: some(4), Running: some(10)}
	}
	for _, c := range []struct {
		why, id   string
		base, arm probe.Seen
		want      string
	}{
		{"a queue that a fifth less load dissolves is overload", "P10", seen(4000, 20, 0.5), seen(200, 20, 0.5), probe.Confirmed},
		{"a latency that does not care for the load is not", "P10", seen(200, 20, 0.5), seen(195, 20, 0.5), probe.Refuted},
		{"a response between the two tells nothing", "P10", seen(200, 20, 0.5), seen(160, 20, 0.5), probe.Untested},
		{"a full cache that fewer requests relieve at equal throughput", "P3", seen(9000, 20, 0.97), seen(150, 20, 0.75), probe.Confirmed},
		{"a cache that was never full", "P3", seen(300, 20, 0.4), seen(290, 20, 0.3), probe.Refuted},
		{"steps that follow the batch are decoding", "P2", seen(50, 20, 0.5), seen(50, 13, 0.5), probe.Confirmed},
		{"steps that do not are not", "P2", seen(50, 20, 0.5), seen(50, 20, 0.5), probe.Refuted},
		{"one domain that is faster meets less loaded experts", "P16", seen(50, 20, 0.5), seen(50, 18, 0.5), probe.Confirmed},
		{"one domain that is slower meets the loaded ones", "P16", seen(50, 20, 0.5), seen(50, 22, 0.5), probe.Confirmed},
		{"a domain that changes nothing", "P16", seen(50, 20, 0.5), seen(50, 20.1, 0.5), probe.Refuted},
		{"a change of a thirtieth tells nothing", "P16", seen(50, 20, 0.5), seen(50, 20.6, 0.5), probe.Untested},
		{"too few answers tell nothing", "P2", seen(50, 20, 0.5), probe.Seen{OK: 3, TPOT: some(1)}, probe.Untested},
		{"what was not observed tells nothing", "P2", probe.Seen{OK: 50}, probe.Seen{OK: 50}, probe.Untested},
	} {
		found, unknown := probe.Lookup([]string{strings.ToLower(c.id)})
		if len(found) != 1 || len(unknown) != 0 {
			t.Fatalf("no %s", c.id)
		}
		if o := found[0].Judge([]probe.Seen{c.base, c.arm}); o.Answer != c.want || o.Observed == "" {
			t.Errorf("%s: %s; want %s", c.why, o, c.want)
		}
	}
}

// The experiment about the likeliest of several causes tells most, and tested ones are done.
func TestChoose(t *testing.T) {
	findings := []archive.Finding{
		{ID: "F1", Cause: attribute.Decode, Score: 0.9, Tested: probe.Untested},
		{ID: "F2", Cause: attribute.Queueing, Score: 0.5},
		{ID: "F3", Cause: attribute.Prefill, Score: 0.8, Tested: probe.Refuted},
		{ID: "F4", Cause: attribute.KV, Score: 0},
	}
	got := probe.Choose(findings)
	if len(got) != 2 || got[0].ID != "P2" || got[1].ID != "P10" || !(got[0].Bits >= got[1].Bits) || got[1].Bits <= 0 {
		t.Errorf("chose %+v", got)
	}
}

// An experiment that is passed raises the confidence; one that is failed takes the lead away.
func TestApply(t *testing.T) {
	analysis := func() *archive.Analysis {
		return &archive.Analysis{
			Verdict: archive.Verdict{State: archive.VerdictBottleneck, Cause: attribute.Cap, Confidence: "medium", Headline: "cap"},
			Findings: []archive.Finding{
				{ID: "F1", Cause: attribute.Cap, Title: "Cap", Role: "primary", Score: 0.9, Confidence: "medium", Tested: probe.Untested},
				{ID: "F2", Cause: attribute.KV, Title: "KV", Role: "contributing", Score: 0.7, Confidence: "medium", Tested: probe.Untested},
				{ID: "F3", Cause: attribute.Decode, Title: "Decode", Role: "considered", Score: 0.35, Confidence: "low", Tested: probe.Untested},
			},
		}
	}
	out := func(cause, answer string) probe.Outcome {
		return probe.Outcome{Probe: "P", Cause: cause, Answer: answer, Observed: "seen."}
	}
	for _, c := range []struct {
		why      string
		outcomes []probe.Outcome
		cause    string
		conf     string
		state    string
	}{
		{"confirmed: medium becomes high", []probe.Outcome{out(attribute.Cap, probe.Confirmed)}, attribute.Cap, "high", archive.VerdictBottleneck},
		{"refuted: the next one leads", []probe.Outcome{out(attribute.Cap, probe.Refuted)}, attribute.KV, "medium", archive.VerdictBottleneck},
		{"one refuted and the other confirmed", []probe.Outcome{out(attribute.Cap, probe.Refuted), out(attribute.KV, probe.Confirmed)}, attribute.KV, "high", archive.VerdictBottleneck},
		{"all that were named refuted: undecided", []probe.Outcome{out(attribute.Cap, probe.Refuted), out(attribute.KV, probe.Refuted)}, "", "", archive.VerdictInconclusive},
		{"a weak one that is confirmed does not push an untested leader aside", []probe.Outcome{out(attribute.Decode, probe.Confirmed)}, attribute.Cap, "medium", archive.VerdictBottleneck},
		{"nothing could tell: nothing changes", []probe.Outcome{out(attribute.Cap, probe.Untested)}, attribute.Cap, "medium", archive.VerdictBottleneck},
	} {
		a := analysis()
		probe.Apply(a, c.outcomes)
		if a.Verdict.Cause != c.cause || a.Verdict.Confidence != c.conf || a.Verdict.State != c.state {
			t.Errorf("%s: %+v", c.why, a.Verdict)
		}
		primaries := 0
		for _, f := range a.Findings {
			if f.Role == "primary" {
				primaries++
			}
		}
		if want := 1; c.cause != "" && primaries != want {
			t.Errorf("%s: %d findings lead", c.why, primaries)
		}
	}
	healthy := &archive.Analysis{Verdict: archive.Verdict{State: archive.VerdictNone}, Findings: analysis().Findings[2:]}
	probe.Apply(healthy, []probe.Outcome{out(attribute.Decode, probe.Confirmed)})
	if healthy.Verdict.State != archive.VerdictNone {
		t.Errorf("an experiment made a healthy run sick: %+v", healthy.Verdict)
	}
}
