package tuner_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
	"github.com/inferencebench/inferencebench/tuner/tunertest"
)

func study() tuner.Study {
	return tuner.Study{
		Name: "test", Seed: 1,
		Goal:   tuner.Goal{Metric: "output_throughput", Maximise: true, MinGain: 0.02},
		Budget: tuner.Budget{Time: 2 * time.Hour},
	}
}

func bench(truths map[string]tunertest.Truth) *tunertest.Bench {
	return &tunertest.Bench{Seed: 1, Truths: truths, Noise: 0.01, Parts: 6, StartUp: 30 * time.Second, Each: 30 * time.Second}
}

func config(kv ...string) space.Assignment {
	a := space.Assignment{}
	for _, s := range kv {
		k, v, _ := strings.Cut(s, "=")
		a[k] = v
	}
	return a
}

func list(configs ...space.Assignment) tunertest.List {
	return tunertest.List{Configs: configs, Rung: 1}
}

func run(t *testing.T, s tuner.Study, b *tunertest.Bench, l tuner.Strategy, o tuner.Options) *tuner.Result {
	t.Helper()
	r, err := tuner.Run(context.Background(), s, b, l, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each row is a study with one challenger, a=1, and what must come of it.
func TestStudyDecides(t *testing.T) {
	for _, c := range []struct {
		name   string
		truth  tunertest.Truth
		base   tunertest.Truth
		items  int
		slo    []string
		risky  []string
		checks []tuner.Check
		want   tuner.Decision
		reason string
	}{
		{name: "a gain of 10 % is certified", truth: tunertest.Truth{Gain: 0.1}, want: tuner.Change},
		{name: "no gain keeps the default", truth: tunertest.Truth{}, want: tuner.Keep},
		{name: "a gain of 1 % is below the margin", truth: tunertest.Truth{Gain: 0.01}, want: tuner.Keep},
		{name: "a slower one keeps the default", truth: tunertest.Truth{Gain: -0.3}, want: tuner.Keep},
		{name: "a gain that is gone on the held-out workload is not certified", truth: tunertest.Truth{Gain: 0.1, HeldOut: -0.15}, want: tuner.Keep, reason: "not better than the default"},
		{name: "an objective that is missed forbids it", truth: tunertest.Truth{Gain: 0.3, Slack: []float64{0.2}}, base: tunertest.Truth{Slack: []float64{-0.5}}, slo: []string{"ttft_p99<500ms"}, want: tuner.Keep},
		{name: "an objective that may be missed forbids it", truth: tunertest.Truth{Gain: 0.3, Slack: []float64{-0.002}}, base: tunertest.Truth{Slack: []float64{-0.5}}, slo: []string{"ttft_p99<500ms"}, want: tuner.Keep},
		{name: "a default that misses the objective is repaired, at a price", truth: tunertest.Truth{Gain: -0.1, Slack: []float64{-0.3}}, base: tunertest.Truth{Slack: []float64{0.5}}, slo: []string{"ttft_p99<500ms"}, want: tuner.Change, reason: "the default misses"},
		{name: "a new kind of error forbids it", truth: tunertest.Truth{Gain: 0.3, Errors: map[string]int{"timeout": 1}}, want: tuner.Keep, reason: "timeout (6)"},
		{name: "errors that the default has too do not", truth: tunertest.Truth{Gain: 0.3, Errors: map[string]int{"timeout": 1}}, base: tunertest.Truth{Errors: map[string]int{"timeout": 1}}, want: tuner.Change},
		{name: "worse answers forbid it", truth: tunertest.Truth{Gain: 0.3, Wrong: 30}, items: 100, want: tuner.Keep},
		{name: "equal answers do not", truth: tunertest.Truth{Gain: 0.3}, items: 30, want: tuner.Change},
		{name: "a knob that may change answers needs items enough", truth: tunertest.Truth{Gain: 0.3}, items: 30, risky: []string{"a"}, want: tuner.Keep, reason: "may change the answers"},
		{name: "and with them it may", truth: tunertest.Truth{Gain: 0.3}, items: 400, risky: []string{"a"}, want: tuner.Change},
		{name: "a knob that may change answers needs items at all", truth: tunertest.Truth{Gain: 0.3}, risky: []string{"a"}, want: tuner.Keep, reason: "quality was not measured"},
		{name: "a check that fails forbids it", truth: tunertest.Truth{Gain: 0.3}, checks: []tuner.Check{refuse("a=1")}, want: tuner.Keep},
		{name: "a configuration that does not start is no candidate", truth: tunertest.Truth{Outcome: tuner.OOM}, want: tuner.Keep},
		{name: "a default that does not start ends the study", truth: tunertest.Truth{Gain: 0.3}, base: tunertest.Truth{Outcome: tuner.StartFailure}, want: tuner.NoBaseline},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := study()
			s.Constraints, s.QualityKnobs = c.slo, c.risky
			b := bench(map[string]tunertest.Truth{"": c.base, "a=1": c.truth})
			b.Items = c.items
			r := run(t, s, b, list(config("a=1")), tuner.Options{Checks: c.checks})
			if r.Decision != c.want {
				t.Fatalf("decision %q (%s), want %q\n%+v", r.Decision, r.Reason, c.want, r.Candidates)
			}
			all := r.Reason
			for _, a := range r.Candidates {
				all += "\n" + a.Reason
			}
			for _, a := range r.Certifications {
				all += "\n" + a.Reason
			}
			if !strings.Contains(all, c.reason) {
				t.Errorf("reasons %q do not say %q", all, c.reason)
			}
			if b.Restored != 1 {
				t.Errorf("restored %d times, want once", b.Restored)
			}
			if worst, in, ok := r.Gain(); ok != (c.want == tuner.Change) || (ok && worst > in.High) {
				t.Errorf("gain %v %v %v with decision %q", worst, in, ok, r.Decision)
			}
		})
	}
}

// refuse is a check that refuses the configuration of a key.
type refuse string

func (r refuse) Name() string { return "test" }
func (r refuse) Judge(_, challenger []tuner.Trial) []tuner.Verdict {
	bad := len(challenger) > 0 && challenger[0].Config.Key() == string(r)
	return []tuner.Verdict{{Check: "test", Passed: archive.Some(!bad), Message: "because"}}
}

// A knob that may change the answers is not tried where the load scores too few items to
// prove it; what else its proposal sets is.
func TestRiskyKnobsAreLeftAlone(t *testing.T) {
	s := study()
	s.QualityKnobs = []string{"risky"}
	both := config("a=1", "risky=1")
	b := bench(map[string]tunertest.Truth{both.Key(): {Gain: 0.4}, "a=1": {Gain: 0.2}})
	b.Items = 5
	r := run(t, s, b, list(both, config("risky=1")), tuner.Options{})
	if r.Decision != tuner.Change || r.Config.Key() != "a=1" {
		t.Errorf("decision %s %v (%s), want a=1", r.Decision, r.Config, r.Reason)
	}
	for _, key := range b.Log {
		if strings.Contains(key, "risky") {
			t.Errorf("%s was launched", key)
		}
	}
	if want := "risky may change the answers, and to show that they do not takes"; !strings.HasPrefix(r.LeftAlone, want) {
		t.Errorf("left alone: %q, want %q…", r.LeftAlone, want)
	}
}

// The order of a study: the default first, ABBA blocks of equal load, clean relaunches and
// held-out orders at the end.
func TestStudyKeepsTheOrder(t *testing.T) {
	b := bench(map[string]tunertest.Truth{"a=1": {Gain: 0.2}})
	r := run(t, study(), b, list(config("a=1")), tuner.Options{})
	var got []string
	for _, x := range r.Trials {
		got = append(got, fmt.Sprintf("%s %s held=%v order=%d pair=%d", x.Role, x.Config.Key(), x.Load.HeldOut, x.Load.Order, x.Pair))
	}
	want := []string{"default  held=false order=0 pair=0", "search a=1 held=false order=0 pair=0"}
	for n := 1; n <= 3; n++ {
		for _, side := range []string{"", "a=1", "a=1", ""} {
			want = append(want, fmt.Sprintf("block %s held=false order=0 pair=%d", side, n))
		}
	}
	for n, side := range []string{"a=1", "", "", "a=1", "a=1", ""} {
		want = append(want, fmt.Sprintf("certify %s held=true order=%d pair=%d", side, n/2+1, n/2+1))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if b.Relaunchs != 4 {
		t.Errorf("%d clean relaunches in the certification, want 4", b.Relaunchs)
	}
}

// A strategy cannot make the loop launch what is not allowed, measure the same twice, or keep
// on crashing the server.
func TestLoopRefusesProposals(t *testing.T) {
	truths := map[string]tunertest.Truth{}
	var all []space.Assignment
	for i := range 8 {
		c := config("bad=1", fmt.Sprint("x=", i))
		truths[c.Key()] = tunertest.Truth{Outcome: tuner.Crash}
		all = append(all, c)
	}
	all = append(all, config("forbidden=1"), config("good=1"))
	truths["forbidden=1"] = tunertest.Truth{Gain: 1}
	truths["good=1"] = tunertest.Truth{Gain: 0.2}
	b := bench(truths)
	r := run(t, study(), b, stubborn{all}, tuner.Options{Allow: func(a space.Assignment) error {
		if a["forbidden"] != "" {
			return errors.New("not on the list")
		}
		return nil
	}})
	crashes := 0
	for _, key := range b.Log {
		if strings.Contains(key, "bad=1") {
			crashes++
		}
		if key == "forbidden=1" {
			t.Error("a forbidden configuration was launched")
		}
	}
	if crashes != 2 {
		t.Errorf("%d launches of what crashed, want the breaker to stop after 2", crashes)
	}
	if r.Decision != tuner.Change || r.Config.Key() != "good=1" {
		t.Errorf("decision %s %v, want good=1", r.Decision, r.Config)
	}
}

// stubborn proposes everything every time, in an order that depends on the dice.
type stubborn struct{ all []space.Assignment }

func (stubborn) Name() string { return "stubborn" }
func (s stubborn) Ask(rng *rand.Rand, _ []tuner.Trial, n int) []tuner.Proposal {
	var out []tuner.Proposal
	for _, i := range rng.Perm(len(s.all))[:n] {
		out = append(out, tuner.Proposal{Config: s.all[i], Source: "stubborn", Rung: 1})
	}
	return out
}

// The budget is kept: searching stops in time for the proof, and what cannot be proved within
// it is not begun.
func TestBudgetIsKept(t *testing.T) {
	var all []space.Assignment
	truths := map[string]tunertest.Truth{}
	for i := range 100 {
		c := config(fmt.Sprint("x=", i))
		truths[c.Key()] = tunertest.Truth{Gain: float64(i%17) / 50}
		all = append(all, c)
	}
	for _, c := range []struct {
		budget tuner.Budget
		want   tuner.Decision
	}{
		{tuner.Budget{Time: 2 * time.Hour}, tuner.Change},
		{tuner.Budget{Trials: 40}, tuner.Change},
		{tuner.Budget{USD: 4}, tuner.Change},
		{tuner.Budget{Time: 10 * time.Minute}, tuner.Keep},
		{tuner.Budget{Trials: 10}, tuner.Keep},
	} {
		s := study()
		s.Budget, s.USDHour = c.budget, 2
		r := run(t, s, bench(truths), list(all...), tuner.Options{})
		if r.Decision != c.want {
			t.Errorf("budget %+v: %s (%s), want %s", c.budget, r.Decision, r.Reason, c.want)
		}
		if over := float64(r.Spent) / float64(c.budget.Time); c.budget.Time > 0 && over > 1 {
			t.Errorf("budget %+v: spent %v", c.budget, r.Spent)
		}
		if c.budget.Trials > 0 && len(r.Trials) > c.budget.Trials {
			t.Errorf("budget %+v: %d trials", c.budget, len(r.Trials))
		}
		if c.budget.USD > 0 && r.USD > c.budget.USD {
			t.Errorf("budget %+v: spent $%.2f", c.budget, r.USD)
		}
	}
}

// A machine that becomes slower during the search does not make later configurations look
// worse than they are.
func TestDriftIsCorrected(t *testing.T) {
	var all []space.Assignment
	truths := map[string]tunertest.Truth{}
	for i := range 24 {
		c := config(fmt.Sprint("x=", i))
		truths[c.Key()] = tunertest.Truth{Gain: float64(i) / 100}
		all = append(all, c)
	}
	b := bench(truths)
	b.Noise, b.Drift, b.After = 0.002, -0.3, 12
	s := study()
	s.Budget.Time = 4 * time.Hour
	r := run(t, s, b, list(all...), tuner.Options{})
	if r.Decision != tuner.Change || r.Config["x"] != "23" {
		t.Errorf("%s %v, want x=23", r.Decision, r.Config)
	}
	taken := 0
	for _, sh := range r.Shifts {
		if sh.Taken {
			taken++
		}
	}
	if taken == 0 {
		t.Errorf("no shift was seen: %+v", r.Shifts)
	}
}

// Whatever the truths, what is certified is truly better than the default; and where nothing
// is, the default is kept 19 times of 20.
func TestNothingWorseIsCertified(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 40
	}
	changed, wrong := 0, 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 7))
		truths := map[string]tunertest.Truth{}
		var all []space.Assignment
		for i := range 20 {
			c := config(fmt.Sprint("x=", i))
			truths[c.Key()] = tunertest.Truth{Gain: -math.Abs(0.03 * rng.NormFloat64())}
			all = append(all, c)
		}
		b := bench(truths)
		b.Seed, b.Noise = seed, 0.02
		r := run(t, study(), b, list(all...), tuner.Options{})
		if r.Decision == tuner.Change {
			changed++
			if truths[r.Config.Key()].Gain < 0 {
				wrong++
			}
		}
	}
	if changed > n/20 {
		t.Errorf("%d of %d studies changed a default that is the best", changed, n)
	}
	if wrong > 0 {
		t.Errorf("%d of %d studies certified something worse", wrong, n)
	}
}

// Knobs that add nothing are left out of the answer; those that do stay.
func TestAnswerIsSimplified(t *testing.T) {
	truths := map[string]tunertest.Truth{}
	for _, extra := range []string{"", "b=1", "c=1", "b=1 c=1"} {
		truths[strings.TrimSpace("a=1 "+extra)] = tunertest.Truth{Gain: 0.2}
	}
	for _, simplify := range []bool{true, false} {
		s := study()
		s.Protocol.Simplify = simplify
		b := bench(truths)
		b.Noise = 0.001
		r := run(t, s, b, list(config("x=1"), config("a=1", "b=1", "c=1")), tuner.Options{})
		want := map[bool]string{true: "a=1", false: "a=1 b=1 c=1"}[simplify]
		if r.Decision != tuner.Change || r.Config.Key() != want {
			t.Errorf("simplify %v: %s %v (%s), want %s", simplify, r.Decision, r.Config, r.Reason, want)
		}
	}
}

// What a journal means can be asked at any time, and is what Run returned at its end.
func TestJudgeIsRun(t *testing.T) {
	b := bench(map[string]tunertest.Truth{"a=1": {Gain: 0.2}, "a=2": {Gain: 0.1}})
	l := list(config("a=2"), config("a=1"))
	r := run(t, study(), b, l, tuner.Options{})
	for n := range len(r.Trials) + 1 {
		got, err := tuner.Judge(study(), l, r.Trials[:n], tuner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n < len(r.Trials) && got.Decision != tuner.Interrupted {
			t.Errorf("after %d trials: %s", n, got.Decision)
		}
		if n == len(r.Trials) {
			if d := cmp.Diff(r, got, cmp.AllowUnexported(archive.Opt[float64]{})); d != "" {
				t.Error(d)
			}
		}
	}
}

// A cancelled study is a result, and the server is restored.
func TestCancelIsAResult(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	b := bench(nil)
	b.Stop = func(n int) error {
		if n == 3 {
			cancel(errors.New("stopped by the user"))
			return ctx.Err()
		}
		return nil
	}
	r, err := tuner.Run(ctx, study(), b, list(config("a=1"), config("a=2"), config("a=3")), tuner.Options{})
	if err != nil || r.Decision != tuner.Interrupted || r.Reason != "stopped by the user" || len(r.Trials) != 2 || b.Restored != 1 {
		t.Errorf("got %+v, %v; restored %d times", r, err, b.Restored)
	}
}
