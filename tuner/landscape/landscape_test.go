package landscape_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/landscape"
	"github.com/inferencebench/inferencebench/tuner/space"
)

var _ tuner.Bench = (*landscape.Bench)(nil)

// small is a landscape that takes little to build.
func small(still bool) *landscape.Spec {
	return &landscape.Spec{
		Name: "small", GPU: "a10g", Model: "meta-llama/Llama-3.1-8B-Instruct", Flags: []string{"--max-model-len=8192"},
		Shape: offline.Shape{Input: offline.Between(100, 600), Output: offline.Between(50, 150)}, Users: 16, Time: 40 * time.Second,
		Objective: landscape.Throughput, TTFT: 2, Longest: 1024, Mean: 400, Still: still,
		Dims: []space.Dim{
			{Name: "--max-num-seqs", Values: []string{"2", "8", ""}, Ordered: true, Unset: "256"},
			{Name: "--gpu-memory-utilization", Values: []string{"0.6", "0.72", "", "0.95"}, Ordered: true, Unset: "0.92"},
			{Name: "--async-scheduling", Values: []string{"", "true"}},
		},
		Quirks: []space.Dim{{Name: "--attention-backend", Values: []string{"", "A", "B"}}, {Name: "--level", Values: []string{"0", "", "3"}, Ordered: true, Unset: "2"}},
		Traps:  []landscape.Trap{{When: map[string][]string{"--attention-backend": {"B"}, "--level": {"3"}}, Outcome: tuner.Crash, Reason: "B cannot do it"}},
	}
}

func build(t *testing.T, s *landscape.Spec) *landscape.Landscape {
	t.Helper()
	l, err := s.Build(context.Background(), 2, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The truth knows the default, the best, what fails and how; the kept table says the same.
func TestBuild(t *testing.T) {
	s := small(false)
	dir := t.TempDir()
	l, err := s.Build(context.Background(), 2, dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Build(context.Background(), 1, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.Space().All() {
		a := l.Space().At(p)
		if diff := cmp.Diff(l.Truth(a), again.Truth(a)); diff != "" {
			t.Fatalf("%v from the kept table: %s", a, diff)
		}
	}
	best, gain := l.Optimum()
	if g, ok := l.Gain(best); !ok || g != gain || g <= 0 {
		t.Errorf("the optimum %v gains %.3f, %v; want %.3f", best, g, ok, gain)
	}
	if g, ok := l.Gain(space.Assignment{}); !ok || g != 0 {
		t.Errorf("the default gains %.3f, %v", g, ok)
	}
	for _, c := range []struct {
		a    space.Assignment
		want tuner.Outcome
	}{
		{space.Assignment{"--attention-backend": "B", "--level": "3"}, tuner.Crash},
		{space.Assignment{"--attention-backend": "B"}, tuner.OK},
		{space.Assignment{"--gpu-memory-utilization": "0.72"}, tuner.OOM},
	} {
		if got := l.Truth(c.a); got.Outcome != c.want {
			t.Errorf("%v: %s (%s); want %s", c.a, got.Outcome, got.Reason, c.want)
		}
	}
	if _, ok := l.Gain(space.Assignment{"--max-num-seqs": "2"}); ok {
		t.Error("two at a time meets the limit on the first token")
	}
	if err := l.Space().Check(space.Assignment{"--gpu-memory-utilization": "0.6"}); err == nil {
		t.Error("arithmetic lets a configuration through whose weights do not fit")
	}
	all, different, fail, over, better := l.Census()
	if different >= all || fail == 0 || over == 0 || better == 0 {
		t.Errorf("census: %d points, %d different, %d fail, %d over a limit, %d better", all, different, fail, over, better)
	}
}

// On a still landscape no quirk helps.
func TestStill(t *testing.T) {
	l := build(t, small(true))
	for _, p := range l.Space().All() {
		a := l.Space().At(p)
		plain := space.Assignment{}
		for k, v := range a {
			if k != "--attention-backend" && k != "--level" {
				plain[k] = v
			}
		}
		if x, y := l.Truth(a), l.Truth(plain); x.Outcome == tuner.OK && x.Value > y.Value {
			t.Errorf("%v has %.1f, and %.1f without its quirks", a, x.Value, y.Value)
		}
	}
}

func measure(t *testing.T, b *landscape.Bench, a space.Assignment, load tuner.Load) tuner.Measurement {
	t.Helper()
	m, err := b.Measure(context.Background(), a, load)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Time passes as it would: a start only when the configuration changes, a crash soon.
func TestClock(t *testing.T) {
	b := build(t, small(false)).Bench(1)
	one := measure(t, b, space.Assignment{}, tuner.Load{Rung: 1})
	if one.StartUp < 20*time.Second || one.Took != one.StartUp+90*time.Second {
		t.Errorf("the first trial took %v with a start-up of %v", one.Took, one.StartUp)
	}
	if two := measure(t, b, space.Assignment{}, tuner.Load{Rung: 2}); two.StartUp != 0 || two.Took != 180*time.Second || len(two.Blocks) != 12 {
		t.Errorf("going on: start-up %v, took %v, %d parts", two.StartUp, two.Took, len(two.Blocks))
	}
	crash := measure(t, b, space.Assignment{"--attention-backend": "B", "--level": "3"}, tuner.Load{Rung: 1})
	if crash.Outcome != tuner.Crash || crash.Value.Known() || crash.Took-crash.StartUp > 30*time.Second {
		t.Errorf("a crash: %+v", crash)
	}
	before := b.Elapsed()
	if err := b.Relaunch(context.Background()); err != nil {
		t.Fatal(err)
	}
	if again := measure(t, b, space.Assignment{}, tuner.Load{}); again.StartUp == 0 || b.Elapsed()-before < again.Took {
		t.Errorf("after a relaunch: start-up %v", again.StartUp)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Measure(ctx, space.Assignment{}, tuner.Load{}); err == nil {
		t.Error("a cancelled measurement ended well")
	}
}

// Equal loads make equal traffic: differences within pairs scatter less than values do.
// Equal seeds give equal measurements.
func TestNoise(t *testing.T) {
	l := build(t, small(false))
	a, b := l.Bench(1), l.Bench(1)
	var single, pair []float64
	truth := math.Log(l.Truth(space.Assignment{}).Value)
	for i := range 60 {
		load := tuner.Load{Rung: 1, Order: uint64(i)}
		x := measure(t, a, space.Assignment{}, load)
		y := measure(t, a, space.Assignment{"--max-num-seqs": "8"}, load)
		if i < 3 {
			if diff := cmp.Diff(x, measure(t, b, space.Assignment{}, load), cmp.Comparer(func(a, b tuner.Measurement) bool { return a.Value.Equal(b.Value) })); diff != "" {
				t.Errorf("equal seeds differ: %s", diff)
			}
			measure(t, b, space.Assignment{"--max-num-seqs": "8"}, load)
		}
		single = append(single, math.Log(x.Value.Or(0))-truth)
		pair = append(pair, math.Log(x.Value.Or(0)/y.Value.Or(0)))
	}
	if s, p := sd(single), sd(pair); p > 0.9*s || s < 0.01 || s > 0.06 {
		t.Errorf("values scatter by %.4f, pairs by %.4f", s, p)
	}
	mean := 0.0
	for _, x := range single {
		mean += x / float64(len(single))
	}
	if math.Abs(mean) > 0.01 {
		t.Errorf("measurements are off by %.4f on average", mean)
	}
}

func sd(v []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum / float64(len(v)-1))
}

// The prior ranks much as the truth does, and is wrong about much.
func TestPriorIsMistaken(t *testing.T) {
	l := build(t, small(false))
	p, err := l.Prior(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0.0
	for _, q := range l.Space().All() {
		a := l.Space().At(q)
		g, ok := p.Guess(a)
		gain, runs := l.Gain(a)
		if ok && runs {
			wrong = max(wrong, math.Abs(g.Gain-gain))
		}
		if _, trap := p.Guess(space.Assignment{"--attention-backend": "B", "--level": "3"}); !trap {
			t.Fatal("the prior knows of a trap")
		}
	}
	if wrong < 0.03 {
		t.Errorf("the prior is within %.3f everywhere", wrong)
	}
}

// Every landscape of the benchmark has a space that can be listed and a default that can be
// tuned: it starts, and its memory holds the load.
func TestSpecs(t *testing.T) {
	names := map[string]bool{}
	scenarios := map[string]int{}
	for _, s := range append(landscape.Twelve(), landscape.Still()...) {
		if names[s.Name] {
			t.Errorf("two landscapes are called %s", s.Name)
		}
		names[s.Name] = true
		if !s.Still {
			scenarios[s.Scenario]++
		}
		sp := s.Space()
		if sp.Size() > space.Most {
			t.Errorf("%s: %d points cannot be listed", s.Name, sp.Size())
		}
		if err := sp.Check(space.Assignment{}); err != nil || sp.Default() == nil {
			t.Errorf("%s: arithmetic rules the default out: %v", s.Name, err)
		}
		if _, err := s.Server(space.Assignment{}); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		for _, trap := range s.Traps {
			for k, values := range trap.When {
				at := -1
				for i, d := range sp.Dims {
					if d.Name == k {
						at = i
					}
				}
				if at < 0 {
					t.Errorf("%s: a trap names %s, which is no knob", s.Name, k)
					continue
				}
				some := false
				for _, v := range values {
					for _, have := range sp.Dims[at].Values {
						some = some || have == v
					}
				}
				if !some {
					t.Errorf("%s: no value of %s springs the trap %v", s.Name, k, values)
				}
			}
		}
	}
	if len(landscape.Twelve()) != 12 || len(landscape.Still()) != 2 || len(scenarios) != 4 {
		t.Errorf("%d landscapes over %v, and %d still ones", len(landscape.Twelve()), scenarios, len(landscape.Still()))
	}
}
