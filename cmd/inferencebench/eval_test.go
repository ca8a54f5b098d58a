package main

import (
	"path/filepath"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// items are the ids of the scored items of a run, with how often each came.
func items(t *testing.T, run *archive.Run) map[string]int {
	t.Helper()
	out := map[string]int{}
	for c, err := range run.Checkpoints() {
		if err != nil {
			t.Fatal(err)
		}
		out[c.Item]++
	}
	return out
}

// TestEvalResumes: an evaluation that goes on after another asks only for what is left.
func TestEvalResumes(t *testing.T) {
	out := t.TempDir()
	eval := func(dir string, more ...string) *archive.Run {
		t.Helper()
		args := append([]string{"eval", "--no-calibration", "--out", filepath.Join(out, dir)}, more...)
		if code, _, msg := command(t, args...); code != exitOK {
			t.Fatalf("eval = %d\n%s", code, msg)
		}
		return onlyRun(t, filepath.Join(out, dir))
	}
	first := eval("a", "--checkpoint-items", "6")
	rest := eval("b", "--checkpoint-items", "10", "--resume", first.Dir)
	a, b := items(t, first), items(t, rest)
	if len(a) != 6 || len(b) != 4 {
		t.Errorf("%d items, then %d; want 6, then the other 4 of 10", len(a), len(b))
	}
	for id := range a {
		if b[id] > 0 {
			t.Errorf("item %s was asked again", id)
		}
	}
	if code, _, msg := command(t, "eval", "--no-calibration", "--out", out, "--checkpoint-items", "6", "--resume", first.Dir); code != exitUsage {
		t.Errorf("resuming what is complete = %d, %s; want %d", code, msg, exitUsage)
	}
}

// TestBoundaryItems: the same items come before each phase and after the last.
func TestBoundaryItems(t *testing.T) {
	out := t.TempDir()
	code, _, msg := command(t, "run", "--no-calibration", "--out", out, "--concurrency", "4", "--requests", "12", "--osl", "8",
		"--checkpoint-every", "0", "--checkpoint-boundary", "5")
	if code != exitOK {
		t.Fatalf("run = %d\n%s", code, msg)
	}
	got := items(t, onlyRun(t, out))
	if len(got) != 5 {
		t.Errorf("%d different items; want 5", len(got))
	}
	for id, n := range got {
		if n != 2 {
			t.Errorf("item %s came %d times; want before and after the phase", id, n)
		}
	}
}
