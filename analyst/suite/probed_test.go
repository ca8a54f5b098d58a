package suite

import (
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
	if len(p.Outcomes) == 0 || p.Outcomes[0].Probe != "P4" || p.Outcomes[0].Answer != probe.Confirmed {
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
