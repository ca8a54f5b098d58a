package report

import (
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func TestCountsLeaveTheWarmUpOut(t *testing.T) {
	a := &archive.Analysis{Counts: archive.Counts{Planned: 20, OK: 15, Failed: 3, Cancelled: 2, Of: map[archive.Kind]archive.Tally{
		archive.KindWarmup:     {OK: 4, Failed: 1, Failures: map[string]int{"http_503": 1}},
		archive.KindLoad:       {OK: 10, Failed: 1, Cancelled: 2, Failures: map[string]int{"cut": 1, archive.FailEnded: 2}},
		archive.KindCheckpoint: {OK: 1, Failed: 1, Failures: map[string]int{"http_503": 1}},
	}}}
	want := []blockRow{
		{Label: "Successful requests", Value: "11", Note: "of 15, warm-up left out; 2 checkpoints (1 failed) among them"},
		{Label: "Failed requests", Value: "2", Note: "cut 1, http_503 1"},
		{Label: "Cancelled requests", Value: "2", Note: "open or not sent when the run ended"},
		{Label: "Warm-up requests", Value: "5", Note: "in no figure; 1 failed: http_503 1"},
	}
	got := countLines(a)
	if len(got) != len(want) {
		t.Fatalf("rows = %+v; want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d = %+v; want %+v", i, got[i], want[i])
		}
	}
}

func TestFailedGatesAreSaidOnce(t *testing.T) {
	a := &archive.Analysis{State: archive.StateInterrupted, Verdict: archive.Verdict{Headline: "The run was interrupted; of what was recorded: only 6 requests succeeded."},
		Gates: []archive.Gate{
			{ID: "window_length", Passed: archive.Some(false), Message: "Only 6 requests succeeded."},
			{ID: "complete", Passed: archive.Some(false), Message: "The run did not come to its end."},
			{ID: "steady", Passed: archive.Some(false), Message: "The run was not in a steady state."},
		}}
	if got := failedGates(a); len(got) != 1 || got[0].ID != "steady" {
		t.Errorf("gates = %+v; want steady alone", got)
	}
}
