package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/sim/faults"
)

// One condition of each family is attributed on one server: the whole suite is measured
// by make attribution.
func TestSampleOfTheSuite(t *testing.T) {
	jobs := Jobs([]string{"F00", "F02", "F05", "F07", "F12", "F17", "F19", "F21"}, Tuning()[:1], []faults.Severity{faults.Mid}, []uint64{1})
	cases := Run(t.Context(), jobs, 2, nil)
	for i := range cases {
		c := &cases[i]
		if c.Err != nil || !c.Grounded() {
			t.Errorf("%s: injected %q, named %q, cited %v, error %v: %s", c.Condition, c.Truth.Cause, c.Label(), c.Cited, c.Err, c.Verdict.Headline)
		}
	}
	var b strings.Builder
	if err := (&Results{Tuning: cases, Held: cases, Healthy: cases[:1]}).Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| admission_cap |", "8 of 8", "0 of 1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, b.String())
		}
	}
}

// The engine's metrics are withheld: a cause inside the engine is not made up.
func TestWithheldSignals(t *testing.T) {
	jobs := Jobs([]string{"F05", "F12"}, Tuning()[:1], []faults.Severity{faults.Mid}, []uint64{1})
	for i := range jobs {
		jobs[i].Options.Withhold = []string{"engine"}
	}
	for _, c := range Run(t.Context(), jobs, 2, nil) {
		if !c.Undecided() && !c.Right() {
			t.Errorf("%s without the engine's metrics: named %q: %s", c.Condition, c.Label(), c.Verdict.Headline)
		}
	}
}

func TestCombosAreDisjoint(t *testing.T) {
	for _, h := range Held() {
		if slices.ContainsFunc(Tuning(), func(c Combo) bool { return c.String() == h.String() }) {
			t.Errorf("%s is both tuned on and held out", h)
		}
		if _, err := h.Engine(); err != nil {
			t.Error(err)
		}
	}
}
