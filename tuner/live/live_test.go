package live_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/tasks/workload"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/space"
)

func traffic() live.Traffic {
	c := campaign.Default()
	c.Workload.ISL, c.Workload.OSL, c.Workload.Turns, c.Workload.Think = "120", "40", "uniform(1,2)", "10ms"
	c.Checkpoints.Every, c.Checkpoints.Items = 3, 12
	return live.Traffic{
		Workload: c.Workload, Checkpoints: c.Checkpoints, Concurrency: 8,
		Window: time.Second, Warmup: 200 * time.Millisecond, Sessions: 400,
	}
}

// One seed gives one workload, whatever its salt; orders change the order and nothing else;
// another seed gives another.
func TestFrozenWorkloads(t *testing.T) {
	dir := t.TempDir()
	tr := traffic()
	tr.Sessions = 30
	freeze := func(name string, seed, order uint64, salt string, rate float64) *workload.File {
		t.Helper()
		x := tr
		if rate > 0 {
			x.Rate, x.Concurrency, x.Window = rate, 0, 20*time.Second
		}
		path := filepath.Join(dir, name)
		if _, err := x.Freeze(path, seed, order, salt, "m", 1); err != nil {
			t.Fatal(err)
		}
		f, err := workload.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, rate := range []float64{0, 2} {
		name := map[bool]string{true: "open", false: "closed"}[rate > 0]
		a, b := freeze(name+"a", 1, 0, "x", rate), freeze(name+"b", 1, 0, "y", rate)
		c, d := freeze(name+"c", 1, 2, "x", rate), freeze(name+"d", 2, 0, "x", rate)
		again := freeze(name+"e", 1, 0, "x", rate)
		if a.Content != again.Content || a.Content == b.Content || a.Content == d.Content {
			t.Errorf("%s: content hashes %.8s %.8s %.8s %.8s", name, a.Content, again.Content, b.Content, d.Content)
		}
		shape := func(f *workload.File) (out []string, items int) {
			for _, e := range f.Entries {
				out = append(out, e.Session+e.Item+string(rune('0'+e.Turn)))
				if e.Item != "" {
					items++
				}
			}
			return out, items
		}
		sa, items := shape(a)
		sb, _ := shape(b)
		sc, _ := shape(c)
		if d := cmp.Diff(sa, sb); d != "" {
			t.Errorf("%s: another salt changes the plan: %s", name, d)
		}
		if items < 5 {
			t.Errorf("%s: %d items in %d requests", name, items, len(sa))
		}
		if slices.Equal(sa, sc) {
			t.Errorf("%s: another order is the same order", name)
		}
		for i := range a.Entries {
			if x, y := a.Entries[i], b.Entries[i]; x.At != y.At || x.MaxTokens != y.MaxTokens {
				t.Fatalf("%s: entry %d differs between salts", name, i)
			}
		}
		if rate == 0 {
			sortedA, sortedC := slices.Sorted(slices.Values(sa)), slices.Sorted(slices.Values(sc))
			if d := cmp.Diff(sortedA, sortedC); d != "" {
				t.Errorf("another order changes what is sent: %s", d)
			}
		}
	}
}

// The bench measures the simulated engine: more sequences at once are faster, a configuration
// that does not fit is out of memory, a flag that does not exist does not start.
func TestBenchOnTheSimulation(t *testing.T) {
	items := evals.Own(7)
	control := &live.Sim{
		Argv: []string{"vllm", "serve", "Llama-3.1-8B-Instruct", "--max-num-seqs", "2"}, Speed: 4,
		Answers: items.Answer, Accuracy: 1, Seed: 1, Now: time.Now,
	}
	b, err := live.New(live.Config{
		Dir: t.TempDir(), Control: control, Monitor: campaign.Default().Monitor, Target: campaign.Default().Target, Traffic: traffic(),
		Goal: tuner.Goal{Metric: "output_throughput", Maximise: true}, Constraints: []string{"ttft_p99<20s"},
		Seed: 7, Parts: 4, Simulated: true, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Restore(context.Background())
	measure := func(a space.Assignment) tuner.Measurement {
		t.Helper()
		m, err := b.Measure(context.Background(), a, tuner.Load{Rung: 1})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	slow := measure(nil)
	fast := measure(space.Assignment{"--max-num-seqs": "8"})
	if slow.Outcome != tuner.OK || fast.Outcome != tuner.OK {
		t.Fatalf("%+v\n%+v", slow, fast)
	}
	if v, w := slow.Value.Or(0), fast.Value.Or(0); w < 1.5*v {
		t.Errorf("%.0f tok/s with 2 sequences, %.0f with 8", v, w)
	}
	if len(fast.Blocks) != 4 || len(fast.Slack) != 1 || fast.Slack[0] > 0 || len(fast.Quality) == 0 || fast.Run == "" || fast.Metrics["ttft_p50"] <= 0 {
		t.Errorf("measurement %+v", fast)
	}
	// An objective that the load cannot decide is missed, but where it never can be.
	slowTraffic := traffic()
	slowTraffic.Checkpoints.Enabled = false
	undecided := func(first bool) tuner.Measurement {
		t.Helper()
		bb, err := live.New(live.Config{
			Dir: t.TempDir(), Control: control, Monitor: campaign.Default().Monitor, Target: campaign.Default().Target, Traffic: slowTraffic,
			Goal: tuner.Goal{Metric: "output_throughput", Maximise: true}, Constraints: []string{"attainment>=50%"}, Seed: 7, Simulated: true, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		if !first {
			bb.Resume(make([]tuner.Trial, 3))
		}
		m, err := bb.Measure(context.Background(), nil, tuner.Load{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := undecided(true); m.Outcome != tuner.Invalid || m.Value.Known() {
		t.Errorf("the first trial: %s %s", m.Outcome, m.Reason)
	}
	if m := undecided(false); m.Outcome != tuner.OK || tuner.Feasible(&tuner.Trial{Measurement: m}) {
		t.Errorf("a later trial: %s %s", m.Outcome, m.Reason)
	}
	if m := measure(space.Assignment{"--gpu-memory-utilization": "0.1"}); m.Outcome != tuner.OOM {
		t.Errorf("without memory: %s %s", m.Outcome, m.Reason)
	}
	if m := measure(space.Assignment{"--no-such-flag": "1"}); m.Outcome != tuner.StartFailure || m.Reason == "" {
		t.Errorf("unknown flag: %s %s", m.Outcome, m.Reason)
	}
}

func TestParseGoal(t *testing.T) {
	for _, c := range []struct {
		in, metric string
		up, ok     bool
	}{
		{"max:output_throughput", "output_throughput", true, true},
		{"goodput", "goodput", true, true},
		{"ttft_p99", "ttft_p99", false, true},
		{"min:cost_per_mtok", "cost_per_mtok", false, true},
		{"min:joules_per_token", "joules_per_token", false, true},
		{"max:ttft_p99", "", false, false},
		{"min:goodput", "", false, false},
		{"fast", "", false, false},
		{"more:goodput", "", false, false},
	} {
		metric, up, err := live.ParseGoal(c.in)
		if metric != c.metric || up != c.up || (err == nil) != c.ok {
			t.Errorf("ParseGoal(%s) = %q %v %v", c.in, metric, up, err)
		}
	}
}
