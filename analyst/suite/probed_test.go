package suite

import (
	"slices"
	"testing"

	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/sim/faults"
)

// An experiment confirms a cause that is there, and both of two faults are found.
func TestProbesAndPairs(t *testing.T) {
	p := PlayProbed(t.Context(), Job{"F05", Tuning()[0], faults.Options{Severity: faults.Mid, Seed: 7}})
	if p.Before.Err != nil {
		t.Fatal(p.Before.Err)
	}
	if !p.Before.Right() || !p.After.Right() || p.ConfidenceBefore != "medium" || p.ConfidenceAfter != "high" {
		t.Errorf("before %s, %s; after %s, %s: %v", p.Before.Label(), p.ConfidenceBefore, p.After.Label(), p.ConfidenceAfter, p.Outcomes)
	}
	// P4 restarts the server, so that what needs no restart comes first.
	if !slices.ContainsFunc(p.Outcomes, func(o probe.Outcome) bool { return o.Probe == "P4" && o.Answer == probe.Confirmed }) {
		t.Errorf("outcomes %v", p.Outcomes)
	}
	if testing.Short() {
		return
	}
	c := Play(t.Context(), Job{"F05+F19", Tuning()[0], faults.Options{Severity: faults.Mid, Seed: 7}})
	if !c.Both() || !c.Either() {
		t.Errorf("two faults: injected %s and %s, ranked %v (%v)", c.Truth.Cause, c.Truth.Second, c.Ranked, c.Err)
	}
}
