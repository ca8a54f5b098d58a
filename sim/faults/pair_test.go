package faults

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// A pair leaves the trace of each of its conditions.
func TestPairHoldsBothConditions(t *testing.T) {
	opt := Options{Severity: Mid, Seed: 3, Duration: 40 * time.Second}
	r, err := Play(t.Context(), "F05+F15", opt)
	if err != nil {
		t.Fatal(err)
	}
	if r.Truth.Cause != "admission_cap" || r.Truth.Second != "network" {
		t.Errorf("the truth is %q and %q", r.Truth.Cause, r.Truth.Second)
	}
	var most float64
	for _, s := range r.Samples {
		if s.Source == archive.SourceEngine {
			most = max(most, s.Values["requests_running"])
		}
	}
	if most > 12 {
		t.Errorf("%v requests run above a cap of 12", most)
	}
	fastest := time.Hour
	for _, q := range r.Requests {
		if q.Status == archive.StatusOK {
			fastest = min(fastest, q.T.First.Sub(q.T.Send))
		}
	}
	if fastest < 80*time.Millisecond {
		t.Errorf("a first token came after %v over a round trip of 160 ms", fastest)
	}
}

func TestPairsNameTwoConditions(t *testing.T) {
	if len(Pairs()) < 10 {
		t.Fatalf("%d pairs", len(Pairs()))
	}
	for _, id := range Pairs() {
		first, second, err := lookupPair(id)
		if err != nil || second == nil || first.Cause == "" || second.Cause == "" || first.Cause == second.Cause {
			t.Errorf("%s: %v and %v, %v", id, first.Cause, second, err)
		}
	}
	for _, id := range []string{"F05+F05", "F05+", "F05+F99", "F99+F05"} {
		if _, err := Play(t.Context(), id, Options{}); err == nil || !strings.Contains(err.Error(), "fault") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// An experiment changes one thing of the world.
func TestIntervene(t *testing.T) {
	opt := Options{Severity: Mid, Seed: 3, Duration: 40 * time.Second}
	alone, err := Intervene(t.Context(), "F05", opt, Change{Concurrency: 1, Duration: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	slices.SortFunc(alone.Requests, func(a, b *archive.Request) int { return int(a.T.Send - b.T.Send) })
	for i, q := range alone.Requests[1:] {
		if q.T.Send < alone.Requests[i].T.Done {
			open++
		}
	}
	if open > 0 {
		t.Errorf("%d of %d requests overlap at concurrency 1", open, len(alone.Requests))
	}
	one, err := Intervene(t.Context(), "F05", opt, Change{Concurrency: 1, Output: 1, Duration: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range one.Requests {
		if q.Status == archive.StatusOK && q.Usage.Completion.Or(0) != 1 {
			t.Fatalf("an answer has %d tokens", q.Usage.Completion.Or(0))
		}
	}
}
