package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

// climbing is an analysis of phases at rising concurrency.
func climbing(loads ...float64) *archive.Analysis {
	a := &archive.Analysis{Definitions: archive.Definitions}
	for _, c := range loads {
		name := "c" + itoa(int(c))
		a.Windows = append(a.Windows, archive.Window{Phase: name, Load: name, AskedConcurrency: archive.Some(c), EffectiveConcurrency: archive.Some(min(c, 33))})
		a.Metrics = append(a.Metrics,
			archive.Metric{ID: "output_rate", Label: "Output token throughput", Unit: "tok/s", Scope: "phase:" + name, N: 100, Stats: map[string]archive.Estimate{"value": {Value: archive.Some(min(c, 33) * 40)}}},
			archive.Metric{ID: "ttft", Label: "Time to first token", Unit: "ms", Scope: "phase:" + name, N: 100, Stats: map[string]archive.Estimate{"p50": {Value: archive.Some(20 + c)}, "p99": {Reason: "needs 299", Sample: archive.Some(50 + 3*c)}}})
	}
	return a
}

func TestSweepNeedsThreeLoads(t *testing.T) {
	if sweep(climbing(1, 8)) != nil || sweep(climbing(4, 4, 4)) != nil {
		t.Error("two loads make a curve")
	}
	a := climbing(64, 1, 8, 32, 128)
	a.Evidence = []archive.Evidence{{ID: "E1", Metric: "client_limit", Value: archive.Some(33.0), Text: "The client had at most 33 open."}}
	run, _ := reporttest.Build(t, reporttest.BlackBox)
	var b bytes.Buffer
	if err := HTML(&b, run, a); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="s-rate"`, `id="s-kept"`, "Concurrency that was reached", "The client had at most 33 open."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	points, unit := sweepPoints(a)
	if len(points) != 5 || points[0].asked != 1 || points[4].asked != 128 || unit != "" {
		t.Errorf("points %v in %q; want five in order", points, unit)
	}
}

func TestTableWithoutAWholeHasItsOwnNumbers(t *testing.T) {
	k := keys(climbing(1, 8, 32, 128))
	if len(k) != 3 || k[0].Number != "4" || k[1].Number != "1320" || k[1].Sub != "at c128" && k[1].Sub != "at c32" || k[2].Number != "33" {
		t.Errorf("keys %+v; want 4 loads, 1320 tok/s at best, 33 reached", k)
	}
	a := climbing(1, 8, 32)
	a.Counts.Planned = 10
	if keys(a)[0].Label == "Loads" {
		t.Error("a run with requests is shown as a table")
	}
}
