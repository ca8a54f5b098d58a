package main

import (
	"path/filepath"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// bodies are the hashes of what a run sent, by session and turn.
func bodies(t *testing.T, run *archive.Run) map[string]int {
	t.Helper()
	out := map[string]int{}
	n := 0
	for r, err := range run.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != archive.StatusOK || r.BodySHA256 == "" {
			t.Errorf("%s: %s, body %q", r.ID, r.Status, r.BodySHA256)
		}
		out[r.BodySHA256]++
		n++
	}
	if n == 0 {
		t.Fatal("no records")
	}
	return out
}

// TestReplaySendsTheSameBytes replays a frozen run against a server that answers
// otherwise: every body is the same, and so is the content hash.
func TestReplaySendsTheSameBytes(t *testing.T) {
	out := t.TempDir()
	short := []string{"--concurrency", "4", "--requests", "24", "--isl", "uniform(20,200)", "--osl", "16", "--turns", "uniform(1,3)", "--think", "10ms", "--checkpoint-every", "3"}
	if code, _, msg := command(t, append([]string{"run", "--no-calibration", "--out", filepath.Join(out, "a")}, short...)...); code != exitOK {
		t.Fatalf("run = %d\n%s", code, msg)
	}
	first := onlyRun(t, filepath.Join(out, "a"))
	if first.Manifest.WorkloadSHA256 == "" {
		t.Fatal("the manifest lacks the workload's hash")
	}
	if code, _, msg := command(t, "replay", first.Dir, "--no-calibration", "--out", filepath.Join(out, "b"), "--seed", "99"); code != exitOK {
		t.Fatalf("replay = %d\n%s", code, msg)
	}
	second := onlyRun(t, filepath.Join(out, "b"))
	want, got := bodies(t, first), bodies(t, second)
	for h, n := range want {
		if got[h] != n {
			t.Errorf("body %s was sent %d times, then %d times", h[:8], n, got[h])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d different bodies, then %d", len(want), len(got))
	}
	if first.Manifest.WorkloadSHA256 != second.Manifest.WorkloadSHA256 {
		t.Errorf("content hashes differ: %s, %s", first.Manifest.WorkloadSHA256, second.Manifest.WorkloadSHA256)
	}
}
