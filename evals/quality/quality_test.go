package quality

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/evals/sandbox"
	"github.com/inferencebench/inferencebench/evals/stats"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/server"
)

func TestMain(m *testing.M) {
	sandbox.MaybeInit()
	os.Exit(m.Run())
}

// simulated starts a simulated engine that gets a share of the items right. Which ones is
// a function of its seed and the prompt, as a real server gets the same items right again.
func simulated(t *testing.T, seed uint64, accuracy float64, answers func(string) (string, bool)) *wire.Client {
	t.Helper()
	s, err := server.New(server.Config{Sim: sim.Config{Seed: seed}, ModelName: "simulated", Speed: 1e4, Answers: answers, Accuracy: accuracy})
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, err := wire.New(wire.Config{BaseURL: url, Model: "simulated", Clock: archive.NewRunClock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func runSet(t *testing.T, seed uint64, accuracy float64, set *evals.Set) *Report {
	t.Helper()
	c := simulated(t, seed, accuracy, set.Answer)
	rep, err := Run(context.Background(), Options{Sender: c, Clock: archive.NewRunClock(), Sets: []*evals.Set{set}, Concurrency: 8, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// TestGateAgainstSimulator judges servers of known accuracy. IB_SEEDS sets how many
// seeds; the full measure takes 100.
func TestGateAgainstSimulator(t *testing.T) {
	seeds := 6
	if os.Getenv("IB_SEEDS") == "100" {
		seeds = 100
	}
	failed, passed := 0, 0
	for seed := range uint64(seeds) {
		set := evals.Own(seed)
		base := runSet(t, seed, 0.8, set).Checkpoints
		if got := Compare(base, runSet(t, seed, 0.7, set).Checkpoints, 0.05); len(got) == 1 && got[0].Gate.Verdict == stats.GateFail && len(got[0].Regressions) == got[0].Gate.Pairs.Loss {
			failed++
		}
		if got := Compare(base, runSet(t, seed, 0.8, set).Checkpoints, 0.05); len(got) == 1 && got[0].Gate.Verdict == stats.GatePass {
			passed++
		}
	}
	t.Logf("80 against 70 %%: failed in %d of %d seeds; 80 against 80 %%: passed in %d", failed, seeds, passed)
	if failed < seeds*95/100 || passed < seeds*95/100 {
		t.Errorf("failed %d and passed %d of %d; want 95 %% each", failed, passed, seeds)
	}
}

func TestRun(t *testing.T) {
	runner, off := sandbox.New(context.Background(), sandbox.Options{})
	var run evals.CodeRunner
	if off == nil {
		run = runner
	}
	code, err := evals.Code(run, off)
	if err != nil {
		t.Fatal(err)
	}
	mix := evals.Mix{evals.Own(1), evals.Facts(1), code}
	c := simulated(t, 1, 1, mix.Answer)
	var seen atomic.Int64
	rep, err := Run(context.Background(), Options{Sender: c, Clock: archive.NewRunClock(), Sets: mix, Items: 12, Concurrency: 4, Seed: 1, Repeats: 3,
		Checkpoint: func(archive.Checkpoint) { seen.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Families) != 3 || len(rep.Checkpoints) != 36 || seen.Load() != 36 || rep.Failed != 0 || rep.Requests != 36+2*3*8 {
		t.Errorf("%d families, %d checkpoints, %d requests, %d failed; want 3, 36, 84, 0", len(rep.Families), len(rep.Checkpoints), rep.Requests, rep.Failed)
	}
	for _, f := range rep.Families {
		if score, ok := f.Score.Get(); ok && score < 1 {
			t.Errorf("%s: a server that knows all answers scores %v: %v", f.Kind, score, f.Methods)
		}
	}
	for _, c := range rep.Checkpoints {
		if c.Score.Or(1) < 1 {
			t.Logf("%s: %s: %q, expected %q", c.Item, c.Reason, c.Reply, c.Expected)
		}
	}
	for _, l := range rep.Determinism {
		if l.Replies == 0 || l.Equal != l.Replies {
			t.Errorf("determinism %s: %d of %d equal; the simulated engine repeats itself at temperature 0", l.Name, l.Equal, l.Replies)
		}
	}
	var out bytes.Buffer
	if err := rep.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"own-maths", "own-code", "cannot be seen", "determinism, under_load", "broken replies: 0 of 84"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}
}

func TestRunAgainstDeadServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	defer s.Close()
	clock := archive.NewRunClock()
	c, err := wire.New(wire.Config{BaseURL: s.URL, Model: "m", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rep, err := Run(context.Background(), Options{Sender: c, Clock: clock, Sets: []*evals.Set{evals.Facts(1)}, Items: 5, Seed: 1})
	if !errors.Is(err, ErrAllFailed) {
		t.Errorf("error %v; want ErrAllFailed", err)
	}
	if f := rep.Families[0]; f.Scored != 0 || f.Score.Known() || f.Sent != 5 {
		t.Errorf("%+v; want nothing scored: errors are not wrong answers", f)
	}
}

func TestCompareCountsMissing(t *testing.T) {
	point := func(item string, score archive.Opt[float64]) archive.Checkpoint {
		return archive.Checkpoint{Kind: "gsm8k", Set: "s", Item: item, Score: score, Method: "strict"}
	}
	one, zero, none := archive.Some(1.0), archive.Some(0.0), archive.Opt[float64]{}
	base := []archive.Checkpoint{point("a", one), point("b", one), point("c", zero), point("d", none)}
	cand := []archive.Checkpoint{point("a", one), point("b", none), point("c", one), point("d", one), point("a", zero)}
	got := Compare(base, cand, 0.05)
	if len(got) != 1 || got[0].Gate.Pairs != (stats.Pairs{N: 3, Loss: 1, Win: 1}) || got[0].Dropped != 1 {
		t.Fatalf("Compare = %+v; want 3 pairs, one loss, one win, one dropped", got)
	}
	if r := got[0].Regressions; len(r) != 1 || r[0].Item != "b" {
		t.Errorf("regressions %+v; want b, which the candidate did not answer", r)
	}
	if got := Compare(base, nil, 0.05); len(got) != 0 {
		t.Errorf("without a candidate: %+v", got)
	}
}

// TestBrokenRepliesOfSimulator lets every reply of the simulated engine be spoilt in one
// way and counts how many are found, by their form or because the client refused them.
func TestBrokenRepliesOfSimulator(t *testing.T) {
	for what, faults := range map[string]server.ReplyFaults{
		"none": {}, "loop": {Loop: 1}, "garbage": {Nonsense: 1}, "truncation": {Truncate: 1}, "cut": {Cut: 1}, "corrupt": {Corrupt: 1},
	} {
		s, err := server.New(server.Config{Sim: sim.Config{Seed: 3}, ModelName: "m", Speed: 1e4, Faults: faults})
		if err != nil {
			t.Fatal(err)
		}
		url, err := s.Start("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		clock := archive.NewRunClock()
		c, err := wire.New(wire.Config{BaseURL: url, Model: "m", Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		set := evals.Facts(2)
		for i := range set.Items {
			set.Items[i].Prompt = "Tell me more about this: " + set.Items[i].Prompt
			set.Items[i].MaxTokens = 900
		}
		rep, err := Run(context.Background(), Options{Sender: c, Clock: clock, Sets: []*evals.Set{set}, Concurrency: 8, Seed: 3})
		if err != nil && !errors.Is(err, ErrAllFailed) {
			t.Fatal(err)
		}
		found := rep.Failed + rep.Nonsense.Flagged
		t.Logf("%s: %d of %d found (%d failed, by form %v)", what, found, rep.Requests, rep.Failed, rep.Nonsense.Rules)
		if what == "none" && found > 0 || what != "none" && float64(found) < 0.95*float64(rep.Requests) {
			t.Errorf("%s: %d of %d found", what, found, rep.Requests)
		}
		c.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPassAtK(t *testing.T) {
	var all []archive.Checkpoint
	for i, right := range []float64{1, 0, 0, 1, 1, 1} { // a: 1 of 3, b: 3 of 3
		all = append(all, archive.Checkpoint{Set: "s", Item: string(rune('a' + i/3)), Score: archive.Some(right)})
	}
	all = append(all, archive.Checkpoint{Set: "s", Item: "c", Score: archive.Some(1.0)}, archive.Checkpoint{Set: "t", Item: "d"})
	if got := PassAtK(all, 2); len(got) != 1 || got["s"] < 0.833 || got["s"] > 0.834 {
		t.Errorf("PassAtK(2) = %v; want (2/3 + 1)/2 for s alone", got)
	}
}
