package propose

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

var goal = tuner.Goal{Metric: "output_throughput", Maximise: true, MinGain: 0.02}

func vllm(t testing.TB) *space.Space {
	t.Helper()
	a, ok := engines.Lookup("vllm")
	if !ok {
		t.Fatal("the adapter of vLLM is gone")
	}
	s, err := space.FromKnobs(a.Knobs, space.Options{
		Narrow: map[string][]string{
			"--max-num-seqs": nil, "--max-num-batched-tokens": nil, "--gpu-memory-utilization": nil, "--kv-cache-dtype": nil,
			"--enable-prefix-caching": nil, "--async-scheduling": nil, "--stream-interval": nil,
		},
		Settings: map[string]string{"--max-num-seqs": "256", "--max-num-batched-tokens": "8192", "--gpu-memory-utilization": "0.92", "--enable-prefix-caching": "true"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trial(n int, role string, source string, a space.Assignment, value float64) tuner.Trial {
	t := tuner.Trial{N: n, Role: role, Load: tuner.Load{Rung: 1}, Proposal: tuner.Proposal{Config: a, Source: source}}
	t.Outcome, t.Value = tuner.OK, archive.Some(value)
	return t
}

func found(cause string, score float64) Findings {
	return func([]tuner.Trial) []archive.Finding {
		return []archive.Finding{{Cause: cause, Role: "primary", Score: score}}
	}
}

func TestRulesMoveTowardsRelief(t *testing.T) {
	s := vllm(t)
	start := []tuner.Trial{trial(1, tuner.RoleDefault, "default", nil, 100)}
	for _, row := range []struct {
		name, cause string
		want        []string // keys in order, all of them
	}{
		{"a full cache: more memory, half the bytes, fewer requests", attribute.KV, []string{
			"--max-num-seqs=128", "--max-num-seqs=64", "--gpu-memory-utilization=0.94", "--gpu-memory-utilization=0.95",
			"--kv-cache-dtype=fp8", "--gpu-memory-utilization=0.94 --max-num-seqs=128",
		}},
		{"a cap: raise it", attribute.Cap, []string{"--max-num-seqs=512", "--max-num-seqs=1024"}},
		{"prompts in the way of generations: smaller steps", attribute.Interference, []string{"--max-num-batched-tokens=4096", "--max-num-batched-tokens=2048"}},
		{"prompts limit: larger steps, and never prefix caching off", attribute.Prefill, []string{"--max-num-batched-tokens=16384", "--max-num-batched-tokens=32768"}},
		{"the network has no knob", attribute.Network, nil},
	} {
		var got []string
		for _, p := range NewRules(s, goal, found(row.cause, 0.8)).Ask(nil, start, 100) {
			got = append(got, p.Config.Key())
			if p.Hypothesis == "" || p.Falsifier == "" || p.Predicted == nil || p.Source != SourceRules {
				t.Errorf("%s: %+v commits itself to nothing", row.name, p)
			}
		}
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, d)
		}
	}
}

func TestRulesGoOnFromTheBest(t *testing.T) {
	h := []tuner.Trial{
		trial(1, tuner.RoleDefault, "default", nil, 100),
		trial(2, tuner.RoleSearch, "rules", space.Assignment{"--max-num-seqs": "512"}, 120),
	}
	got := NewRules(vllm(t), goal, found(attribute.Cap, 0.9)).Ask(nil, h, 10)
	if len(got) != 1 || got[0].Config.Key() != "--max-num-seqs=1024" {
		t.Errorf("Ask after 512 won = %+v; want 1024 alone", got)
	}
	if got := NewRules(vllm(t), goal, found(attribute.Cap, 0.9)).Ask(nil, nil, 10); got != nil {
		t.Errorf("Ask without a default = %+v; want nothing", got)
	}
	if got := NewRules(vllm(t), goal, found(attribute.Cap, 0.1)).Ask(nil, h, 10); got != nil {
		t.Errorf("Ask on a finding of score 0.1 = %+v; want nothing", got)
	}
}

// TestEveryDiagnosisIsMapped wants each relief to be a word that knobs use.
func TestEveryDiagnosisIsMapped(t *testing.T) {
	words := engines.Causes()
	for cause, reliefs := range relieved {
		for _, r := range reliefs {
			if words[r] == "" {
				t.Errorf("%s is relieved by %q, which no knob claims", cause, r)
			}
		}
	}
	got := Causes([]archive.Finding{
		{Cause: attribute.Decode, Role: "contributing", Score: 0.9},
		{Cause: attribute.KV, Role: "primary", Score: 0.7},
		{Cause: attribute.Host, Role: "considered", Score: 0.9, Tested: "refuted"},
	})
	if len(got) != 2 || got[0].Name != "kv_capacity" || got[1].Name != "decode_bound" {
		t.Errorf("Causes = %+v; want the primary one first and the refuted one left out", got)
	}
}

func TestScoreCountsCoverageAndShares(t *testing.T) {
	h := []tuner.Trial{trial(1, tuner.RoleDefault, "default", nil, 100)}
	add := func(source string, value, low, high float64) {
		x := trial(len(h)+1, tuner.RoleSearch, source, space.Assignment{"k": string(rune('a' + len(h)))}, value)
		x.Predicted = &tuner.Interval{Low: low, High: high}
		h = append(h, x)
	}
	add("model", 110, 0.05, 0.15) // right, and the best so far
	add("model", 105, 0.2, 0.4)   // far too hopeful
	add("gp", 108, 0, 0.1)        // right, no improvement
	bad := trial(5, tuner.RoleSearch, "model", space.Assignment{"k": "x"}, 0)
	bad.Outcome = tuner.OOM
	h = append(h, bad)
	tracks := Score(goal, h)
	if len(tracks) != 2 || tracks[0].Source != "gp" || tracks[1].Source != "model" {
		t.Fatalf("Score = %+v; want gp and model", tracks)
	}
	m := tracks[1]
	if m.Trials != 3 || m.Improved != 1 || m.Failed != 1 || m.Predicted != 2 || m.Covered != 1 || m.Coverage.Or(-1) != 0.5 {
		t.Errorf("model: %+v; want 3 trials, 1 improved, 1 failed, 1 of 2 intervals right", m)
	}
	if b := m.Brier.Or(-1); b < 0 || b > 0.05 {
		t.Errorf("Brier %.3f: both gains were above the margin and said to be, so it should be near 0", b)
	}
	if got := tracks[0].Share; math.Abs(got-(1.0/3)/(1.0/3+2.0/5)) > 1e-9 {
		t.Errorf("gp's share = %.3f", got)
	}
}

func TestSharesStayBetweenFloorAndCeiling(t *testing.T) {
	var ls []lesson
	for range 50 {
		ls = append(ls, lesson{source: "bad"}, lesson{source: "good", improved: true})
	}
	if got := share(ls, "bad"); got != Floor {
		t.Errorf("share of one that never won = %g; want %g", got, Floor)
	}
	if got := share(ls, "good"); got != Ceiling {
		t.Errorf("share of one that always won = %g; want %g", got, Ceiling)
	}
	if got := share(nil, "new"); got != 0.5 {
		t.Errorf("share of a new one = %g; want 0.5", got)
	}
}

func TestExpectationLearns(t *testing.T) {
	h := []tuner.Trial{trial(1, tuner.RoleDefault, "default", nil, 100)}
	if low, high := expectation(goal, h, SourceRules); low != -0.05 || high != 0.15 {
		t.Errorf("without experience: %g to %g", low, high)
	}
	for i := range 11 {
		h = append(h, trial(i+2, tuner.RoleSearch, SourceRules, space.Assignment{"k": string(rune('a' + i))}, 100+float64(i)))
	}
	if low, high := expectation(goal, h, SourceRules); math.Abs(low-0.01) > 1e-9 || math.Abs(high-0.09) > 1e-9 {
		t.Errorf("after gains of 0 to 10 %%: %g to %g; want the middle 80 %%", low, high)
	}
}

// fixed proposes the same each time.
type fixed struct{ name string }

func (f fixed) Name() string { return f.name }
func (f fixed) Ask(*rand.Rand, []tuner.Trial, int) []tuner.Proposal {
	return []tuner.Proposal{{Source: f.name, Config: space.Assignment{"by": f.name}}}
}

func TestPanelDealsTurnsByShare(t *testing.T) {
	h := []tuner.Trial{trial(1, tuner.RoleDefault, "default", nil, 100)}
	for i := range 30 { // "good" improves each time, "bad" never does
		h = append(h, trial(2*i+2, tuner.RoleSearch, "good", space.Assignment{"g": strings.Repeat("x", i)}, 101+float64(i)),
			trial(2*i+3, tuner.RoleSearch, "bad", space.Assignment{"b": strings.Repeat("x", i)}, 90))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	turns := map[string]int{}
	p := NewPanel(goal, fixed{"good"}, fixed{"bad"})
	for range 1000 {
		for _, x := range p.Ask(rng, h, 5) {
			turns[x.Source]++
		}
	}
	if turns["good"] < 440 || turns["good"] > 560 || turns["bad"] < 60 || turns["bad"] > 140 {
		t.Errorf("turns in 1000: %v; want about 500 for good and 100 for bad", turns)
	}
}
