package space_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/tuner/space"
)

var knobs = []engines.Knob{
	{Name: "--max-num-seqs", Type: "int", Default: "by GPU", Search: []string{"16", "64", "256"}},
	{Name: "--max-num-batched-tokens", Type: "int", Default: "2048", Search: []string{"8192", "128", "2048"}},
	{Name: "--kv-cache-dtype", Type: "enum", Default: "auto", Values: []string{"auto", "fp8"}, Search: []string{"auto", "fp8"}, Risks: []string{"quality"}},
	{Name: "--a", Type: "bool", Default: "false", Search: []string{"true"}, Excludes: []string{"--b"}},
	{Name: "--b", Type: "bool", Default: "false", Search: []string{"true"}, With: []string{"--kv-cache-dtype"}},
	{Name: "--trace", Type: "string"},
}

// Knobs become dimensions: what the server runs with is the unset value, numbers are in
// order, and what excludes or needs each other is a constraint.
func TestFromKnobs(t *testing.T) {
	s, err := space.FromKnobs(knobs, space.Options{Settings: map[string]string{"--max-num-seqs": "64"}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, d := range s.Dims {
		got[d.Name] = d.Values
	}
	want := map[string][]string{
		"--max-num-seqs":           {"16", "", "256"},
		"--max-num-batched-tokens": {"128", "", "8192"},
		"--kv-cache-dtype":         {"", "fp8"},
		"--a":                      {"", "true"},
		"--b":                      {"", "true"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []space.Assignment{
		{"--a": "true", "--b": "true", "--kv-cache-dtype": "fp8"},
		{"--b": "true"},
		{"--max-num-seqs": "256", "--max-num-batched-tokens": "128"},
	} {
		if s.Check(bad) == nil {
			t.Errorf("%v was not ruled out", bad)
		}
	}
	if err := s.Check(space.Assignment{"--b": "true", "--kv-cache-dtype": "fp8", "--max-num-batched-tokens": "128"}); err != nil {
		t.Error(err)
	}
	s, err = space.FromKnobs(knobs, space.Options{Narrow: map[string][]string{"--max-num-seqs": {"8", "32"}}})
	if err != nil {
		t.Fatal(err)
	}
	d := &s.Dims[0]
	if len(s.Dims) != 1 || d.Values[0] != "" || d.Distance(0, 2) != 0.5 || d.Distance(1, 2) != 1 {
		t.Errorf("an unset value of unknown meaning: %+v", s.Dims)
	}
	for _, bad := range []space.Options{
		{Narrow: map[string][]string{"--no-such": nil}},
		{Narrow: map[string][]string{"--trace": nil}},
		{Narrow: map[string][]string{"--max-num-seqs": {"many"}}},
		{Narrow: map[string][]string{"--a": nil}, Supported: func(string) bool { return false }},
	} {
		if _, err := space.FromKnobs(knobs, bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// Points, numbers and neighbours agree, and sampling stays inside the constraints.
func TestEnumerate(t *testing.T) {
	s, err := space.FromKnobs(knobs, space.Options{Settings: map[string]string{"--max-num-seqs": "64"}})
	if err != nil {
		t.Fatal(err)
	}
	feasible := 0
	for i := range s.Size() {
		p := s.Nth(i)
		if s.Index(p) != i {
			t.Fatalf("Index(Nth(%d)) = %d", i, s.Index(p))
		}
		if s.Feasible(p) {
			feasible++
		}
	}
	if len(s.All()) != feasible || feasible == s.Size() {
		t.Errorf("%d points listed; %d of %d are feasible", len(s.All()), feasible, s.Size())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[int]bool{}
	for _, p := range s.Sample(rng, feasible+5) {
		seen[s.Index(p)] = true
		for _, q := range s.Neighbours(p) {
			diff := 0
			for d := range q {
				if q[d] != p[d] {
					diff++
				}
			}
			if diff != 1 || !s.Feasible(q) {
				t.Errorf("%v is no feasible neighbour of %v", q, p)
			}
		}
	}
	if len(seen) != feasible {
		t.Errorf("%d different points drawn; want all %d", len(seen), feasible)
	}
	big := &space.Space{Dims: make([]space.Dim, 40)}
	for i := range big.Dims {
		big.Dims[i] = space.Dim{Name: strings.Repeat("x", i+1), Values: []string{"", "1", "2", "3"}}
	}
	if big.All() != nil || len(big.Sample(rng, 50)) != 50 {
		t.Error("a space too large to list is not sampled")
	}
}

// What the memory cannot hold is ruled out by arithmetic; what it holds only with the
// margin is left to the trial.
func TestKVBudget(t *testing.T) {
	gpu, err := sim.LookupGPU("a10g")
	if err != nil {
		t.Fatal(err)
	}
	budget := space.Budget{LongestRequest: 4096, MeanRequest: 1000, Running: 64, Config: func(a space.Assignment) (sim.Config, error) {
		l, err := sim.ParseFlags([]string{"--max-model-len", "4096", "--max-num-seqs", a["--max-num-seqs"]})
		l.Config.GPU = gpu
		return l.Config, err
	}}
	c := space.KVBudget(budget)
	for seqs, ok := range map[string]bool{"8": true, "256": false} {
		if err := c.Check(space.Assignment{"--max-num-seqs": seqs}); (err == nil) != ok {
			t.Errorf("%s sequences on an A10G: %v", seqs, err)
		}
	}
	budget.Margin = 0.5
	if err := space.KVBudget(budget).Check(space.Assignment{"--max-num-seqs": "256"}); err != nil {
		t.Errorf("with half the memory as margin: %v", err)
	}
	d := space.Divides(func(a space.Assignment, k string) (string, bool) { v, ok := a[k]; return v, ok }, "--tensor-parallel-size", 32, "attention heads")
	for tp, ok := range map[string]bool{"4": true, "3": false, "0": false} {
		if err := d.Check(space.Assignment{"--tensor-parallel-size": tp}); (err == nil) != ok {
			t.Errorf("tensor-parallel size %s: %v", tp, err)
		}
	}
}
