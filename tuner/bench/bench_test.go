package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/landscape"
	"github.com/inferencebench/inferencebench/tuner/space"
)

func small() *landscape.Spec {
	return &landscape.Spec{
		Name: "small", About: "few at a time", GPU: "a10g", Model: "meta-llama/Llama-3.1-8B-Instruct", Flags: []string{"--max-model-len=8192", "--max-num-seqs=4"},
		Shape: offline.Shape{Input: offline.Between(100, 600), Output: offline.Between(50, 150)}, Users: 16, Time: 40 * time.Second,
		Objective: landscape.Throughput, Longest: 1024, Mean: 400,
		Dims: []space.Dim{
			{Name: "--max-num-seqs", Values: []string{"2", "", "8", "16"}, Ordered: true, Unset: "4"},
			{Name: "--async-scheduling", Values: []string{"", "true"}},
		},
		Quirks: []space.Dim{{Name: "--attention-backend", Values: []string{"", "A", "B"}}, {Name: "--level", Values: []string{"0", "", "3"}, Ordered: true, Unset: "2"}},
	}
}

// A comparison finds the optimum of a small landscape, certifies it, and comes to the same
// figures with any number of workers.
func TestCompare(t *testing.T) {
	o := options{seeds: 2, first: 1000, workers: 2, budget: 2 * time.Hour, strategies: []string{ours, "random"}}
	r, err := compare(context.Background(), o, small())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range o.strategies {
		for i, out := range r.Outcomes[name] {
			if out.Decision != tuner.Change || out.Worse || out.Gain < 0.5*r.Optimum || out.Gain > r.Optimum || out.Found < out.Half || out.Trials < 5 {
				t.Errorf("%s, study %d: %+v; the optimum is %.3f", name, i, out, r.Optimum)
			}
		}
	}
	o.workers = 1
	again, err := compare(context.Background(), o, small())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Outcomes, again.Outcomes); diff != "" {
		t.Errorf("with one worker: %s", diff)
	}
}

// A comparison that was made is not made again, unless an option that matters differs.
func TestKept(t *testing.T) {
	o := options{seeds: 1, first: 1000, workers: 1, budget: time.Hour, strategies: []string{"random"}, cache: t.TempDir()}
	first, err := kept(context.Background(), o, small())
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	again, err := kept(over, o, small())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Outcomes, again.Outcomes); diff != "" || first.Optimum != again.Optimum || again.spec == nil {
		t.Errorf("kept: %s", diff)
	}
	o.first++
	if _, err := kept(over, o, small()); err == nil {
		t.Error("other seeds got the studies of these")
	}
}

// The verdict names every demand that is not met.
func TestVerdict(t *testing.T) {
	spec, still := small(), small()
	still.Still = true
	with := func(loop, tpe, random, kept outcome) board {
		o := options{seeds: 1, strategies: []string{ours, "tpe", "random"}}
		return board{options: o, rows: []*row{
			{spec: spec, Optimum: 1, Outcomes: map[string][]outcome{ours: {loop}, "tpe": {tpe}, "random": {random}}},
			{spec: still, Outcomes: map[string][]outcome{ours: {kept}, "tpe": {kept}, "random": {kept}}},
		}}
	}
	keep := outcome{Decision: tuner.Keep}
	gain := func(g float64) outcome { return outcome{Decision: tuner.Change, Gain: g} }
	bad := gain(0.9)
	bad.Worse = true
	for _, c := range []struct {
		what string
		b    board
		want string
	}{
		{"everything holds", with(gain(0.9), gain(0.8), gain(0.7), keep), ""},
		{"another search is better", with(gain(0.9), gain(0.95), gain(0.7), keep), "tpe 2.586x"},
		{"random is too close", with(gain(0.9), gain(0.8), gain(0.85), keep), "random 0.850"},
		{"something below the default was certified", with(bad, gain(0.8), gain(0.7), keep), "below the default"},
		{"a still landscape was changed", with(gain(0.9), gain(0.8), gain(0.7), gain(0.01)), "the default was kept in 0 of 1"},
	} {
		err := c.b.verdict()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v; want %q", c.what, err, c.want)
		}
	}
}

// The tables replace what stands between the markers and nothing else.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.md")
	if err := os.WriteFile(path, []byte("head\n"+begin+"\nstale\n"+end+"\ntail\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := board{options: options{seeds: 1, first: 1, budget: time.Hour, strategies: []string{ours}}, rows: []*row{
		{spec: small(), Optimum: 1, Outcomes: map[string][]outcome{ours: {{Decision: tuner.Change, Gain: 0.5}}}, Census: [5]int{72, 8, 0, 0, 9}},
	}}
	if err := replace(path, b.markdown()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(raw)
	if !strings.HasPrefix(got, "head\n"+begin+"\n1 landscapes") || !strings.HasSuffix(got, end+"\ntail\n") || strings.Contains(got, "stale") || !strings.Contains(got, "**1.649x**") {
		t.Errorf("%s", got)
	}
	if err := replace(filepath.Join(t.TempDir(), "none.md"), ""); err == nil {
		t.Error("a missing document was replaced")
	}
}
