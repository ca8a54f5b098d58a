package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

// The page shows what experiments were expected to show and what was seen, with hostile
// text made harmless.
func TestPageShowsExperiments(t *testing.T) {
	run, a := reporttest.Build(t, reporttest.Saturated)
	a.Experiments = &archive.Experiments{
		Probes: []archive.Experiment{{Probe: "P4", Title: "twice the cap", Cause: "admission_cap", Answer: "confirmed", Expected: "It falls <script>alert(1)</script>.", Observed: "It went from 419 to 88."}},
		Fits: []archive.Fit{
			{ID: "step_base", Label: "Step, fixed part", Unit: "ms", Value: archive.Some(7.4), Low: archive.Some(7.2), High: archive.Some(7.6), Method: "least squares"},
			{ID: "host_share", Label: "Host share", Unit: "%", Reason: "the GPU was not seen"},
		},
	}
	var b bytes.Buffer
	if err := HTML(&b, run, a); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Experiments", "It went from 419 to 88.", "Step, fixed part", "the GPU was not seen", "unknown"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(b.String(), "<script>alert") {
		t.Error("a script of the server's reaches the page")
	}
}
