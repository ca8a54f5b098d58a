package narrative

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// random makes an analysis whose facts hang together.
func random(rng *rand.Rand) *archive.Analysis {
	metric := func(id, label, unit string, vals map[string]float64) archive.Metric {
		m := archive.Metric{ID: id, Label: label, Unit: unit, Scope: "all", N: 500, Stats: map[string]archive.Estimate{}}
		for k, v := range vals {
			m.Stats[k] = archive.Estimate{Value: archive.Some(v), Low: archive.Some(v * 0.95), High: archive.Some(v * 1.05)}
		}
		return m
	}
	med := 20 + rng.Float64()*900
	ok, failed := 300+rng.IntN(5000), rng.IntN(20)
	a := &archive.Analysis{
		Verdict: archive.Verdict{State: archive.VerdictBottleneck, Cause: "kv_capacity", Confidence: "medium"},
		Counts:  archive.Counts{Planned: ok + failed, OK: ok, Failed: failed},
		Metrics: []archive.Metric{
			metric("ttft", "Time to first token", "ms", map[string]float64{"mean": med * 1.3, "p50": med, "p99": med * (5 + 10*rng.Float64())}),
			metric("output_rate", "Output token throughput", "tok/s", map[string]float64{"value": 200 + rng.Float64()*9000}),
		},
		Gates: []archive.Gate{{ID: "send_lag", Passed: archive.Some(true), Message: "Requests left when the plan wanted them to."}},
	}
	share, waiting, rise := 0.5+rng.Float64()*0.45, 5+rng.Float64()*90, 2+rng.Float64()*6
	row := func(id, m string, v float64, unit, text string) {
		a.Evidence = append(a.Evidence, archive.Evidence{ID: id, Metric: m, Scope: "phase:push", Value: archive.Some(v), Low: archive.Some(v * 0.9), High: archive.Some(v * 1.1), Unit: unit, Text: text, Family: "engine"})
	}
	row("E1", "kv_cache_usage", share, "", fmt.Sprintf("KV cache use is above 95 %% for %s of phase push.", share1(share)))
	row("E2", "requests_waiting", waiting, "", fmt.Sprintf("On average %s requests wait in the engine's queue.", digits3(waiting)))
	row("E3", "ttft_growth", rise, "", fmt.Sprintf("The time to first token rises %s fold from phase steady to phase push.", digits3(rise)))
	row("E4", "clock_ratio", 0.4+rng.Float64()*0.5, "", fmt.Sprintf("The SM clock falls below %d %% of its maximum.", 90+rng.IntN(9)))
	row("E5", "step_time", 5+rng.Float64()*40, "ms", fmt.Sprintf("A step of the engine takes longer in phase push by %d ms.", 2+rng.IntN(9)))
	tested := []string{"untested", "confirmed", "untested"}[rng.IntN(3)]
	a.Findings = []archive.Finding{
		{ID: "F1", Cause: "kv_capacity", Title: "KV cache capacity", Role: "primary", Score: 0.6 + rng.Float64()*0.4, Confidence: []string{"low", "medium", "high"}[rng.IntN(3)], Summary: "The KV cache is full and requests wait.", For: []string{"E1", "E2", "E3"}, Against: []string{"E4"}, Falsifier: "KV cache use stays below 80 % while requests wait.", Probe: "P3: hold concurrency at 11", Tested: tested},
		{ID: "F2", Cause: "throttle", Title: "Power limit", Role: "contributing", Score: 0.61, Confidence: "low", For: []string{"E4"}, Tested: "untested"},
	}
	a.Recommendations = []archive.Recommendation{{ID: "R1", Finding: "F1", Action: "Give the KV cache more memory.", Knob: "--gpu-memory-utilization 0.95", Predicted: "About 12 % more blocks."}}
	return a
}

func share1(v float64) string { return strings.Replace(share(v), "%", " %", 1) }

func TestTrueNarrativesPass(t *testing.T) {
	n := 0
	for seed := range uint64(50) {
		a := random(rand.New(rand.NewPCG(seed, 1)))
		for _, lang := range []Language{English, Chinese} {
			claims := Write(a, lang)
			if len(claims) < 6 {
				t.Fatalf("seed %d: only %d claims", seed, len(claims))
			}
			for _, p := range Verify(claims, a) {
				t.Errorf("seed %d, %s: %s: %s in %q", seed, lang, p.Rule, p.Text, claims[p.Claim].Text)
			}
			n++
		}
	}
	if n != 100 {
		t.Errorf("%d narratives; want 100", n)
	}
}

// tamper changes one claim; it answers false where this claim has nothing to change.
type tamper struct {
	name string
	do   func(*rand.Rand, *Claim) bool
}

func swap(c *Claim, pairs ...string) bool {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.Contains(c.Text, pairs[i]) {
			c.Text = strings.Replace(c.Text, pairs[i], pairs[i+1], 1)
			return true
		}
	}
	return false
}

var tampers = []tamper{
	{"a changed number", func(rng *rand.Rand, c *Claim) bool {
		if c.Kind == Recommendation {
			return false
		}
		masked := idRE.ReplaceAllStringFunc(percentRE.ReplaceAllStringFunc(c.Text, blank), blank)
		at := numberRE.FindStringSubmatchIndex(masked)
		if at == nil {
			return false
		}
		old := masked[at[4]:at[5]]
		var v int
		if _, err := fmt.Sscan(old, &v); err != nil {
			return false
		}
		c.Text = c.Text[:at[4]] + fmt.Sprint(v+v/7+13+rng.IntN(50)) + c.Text[at[5]:]
		return true
	}},
	{"a wrong direction", func(_ *rand.Rand, c *Claim) bool {
		return swap(c, "rises", "falls", "is above", "is below", "falls below", "rises above", "takes longer", "drops")
	}},
	{"a cause without a probe", func(rng *rand.Rand, c *Claim) bool {
		if c.Kind != Inference || !strings.Contains(c.Text, "F2") {
			return false
		}
		c.Text += []string{" This causes the long waits.", " Latency is high because of it.", " It leads to the queue.", " 这导致了排队。", " 延迟高是由于它。"}[rng.IntN(5)]
		return true
	}},
	{"a wrong id", func(rng *rand.Rand, c *Claim) bool {
		if c.Kind != Observation || !strings.HasPrefix(c.Cites[0], "E") {
			return false
		}
		id := c.Cites[0]
		other := []string{"E99", "E" + fmt.Sprint(1+(int(id[1]-'0'))%5)}[rng.IntN(2)]
		c.Text = strings.ReplaceAll(c.Text, id, other)
		c.Cites = []string{other}
		return true
	}},
	{"a wrong unit", func(_ *rand.Rand, c *Claim) bool {
		if c.Kind == Recommendation {
			return false
		}
		return swap(c, " tok/s", " req/s", " ms", " min", " s ", " ms ", " s.", " ms.", " s。", " ms。", " s，", " ms，", " %", " ms", "requests wait", "ms wait")
	}},
}

func blank(s string) string { return strings.Repeat("_", len(s)) }

func TestTamperedNarrativesAreRejected(t *testing.T) {
	for _, tp := range tampers {
		made := 0
		for seed := uint64(0); made < 40; seed++ {
			if seed > 5000 {
				t.Fatalf("%s: only %d could be made", tp.name, made)
			}
			rng := rand.New(rand.NewPCG(seed, 2))
			a := random(rng)
			claims := Write(a, []Language{English, English, Chinese}[seed%3])
			i := rng.IntN(len(claims))
			claims[i].Cites = slices.Clone(claims[i].Cites)
			before := claims[i].Text
			if !tp.do(rng, &claims[i]) {
				continue
			}
			made++
			if len(Verify(claims, a)) == 0 {
				t.Errorf("%s was not seen: %q became %q citing %v", tp.name, before, claims[i].Text, claims[i].Cites)
			}
		}
	}
}

func TestRules(t *testing.T) {
	a := random(rand.New(rand.NewPCG(1, 1)))
	a.Findings[0].Tested, a.Findings[0].Confidence = "untested", "medium"
	a.Evidence = append(a.Evidence,
		archive.Evidence{ID: "E6", Metric: "change:ttft", Scope: "all", Value: archive.Some(-0.2), Low: archive.Some(-0.3), High: archive.Some(-0.1), Text: "Change of TTFT P50."},
		archive.Evidence{ID: "E7", Metric: "change:tpot", Scope: "all", Value: archive.Some(-0.2), Low: archive.Some(-0.5), High: archive.Some(0.1), Text: "Change of TPOT P50."})
	for _, c := range []struct {
		why, text, cites, rule string
		kind                   Kind
	}{
		{"a claim cites something", "All is well.", "", RuleCite, Observation},
		{"a fall with an interval below zero may be told", "TTFT fell.", "E6", "", Observation},
		{"a rise against it may not", "TTFT rose.", "E6", RuleDirection, Observation},
		{"a change whose interval holds zero has no direction", "TPOT fell.", "E7", RuleDirection, Observation},
		{"a phase needs evidence of that phase", "In phase steady requests wait.", "E2", RuleScope, Observation},
		{"a percentile is the one that is cited", "The P95 is what people see.", "M:ttft/all/p99", RuleStat, Observation},
		{"a mean is not a median", "The average is what people see.", "M:ttft/all/p50", RuleStat, Observation},
		{"a withheld number cannot be cited", "It is slow.", "M:ttft/all/p90", RuleCite, Observation},
		{"a probe that was not run confirms nothing", "A probe confirmed F1.", "F1", RuleTested, Inference},
		{"a finding is not surer than it is", "It is F1 with high confidence.", "F1", RuleSure, Inference},
		{"a setting comes from a recommendation", "Set `--max-num-seqs 8`.", "R1", RuleKnob, Recommendation},
		{"advice cites a recommendation", "Buy a larger GPU.", "F1", RuleKnob, Recommendation},
		{"a sentence is cited where it comes from", "KV cache use stays below 80 % while requests wait.", "E2", RuleQuote, Observation},
	} {
		var cites []string
		if c.cites != "" {
			cites = []string{c.cites}
		}
		got := Verify([]Claim{{c.kind, c.text, cites}}, a)
		rules := make([]string, len(got))
		for i, p := range got {
			rules[i] = p.Rule
		}
		if c.rule == "" && len(got) > 0 || c.rule != "" && !slices.Contains(rules, c.rule) {
			t.Errorf("%s: %q gives %v; want %q", c.why, c.text, rules, c.rule)
		}
	}
}

func TestInvalidRunIsNotExplained(t *testing.T) {
	a := random(rand.New(rand.NewPCG(3, 1)))
	a.Verdict.State = archive.VerdictInvalid
	a.Gates[0].Passed = archive.Some(false)
	claims := Write(a, English)
	if p := Verify(claims, a); len(p) > 0 {
		t.Errorf("%v in %q", p, Text(claims))
	}
	if !strings.Contains(Text(claims), "not valid") || strings.Contains(Text(claims), "points to") {
		t.Errorf("the text of an invalid run is %q", Text(claims))
	}
	bad := append(claims, Claim{Inference, "The evidence points to F1.", []string{"F1"}})
	if p := Verify(bad, a); len(p) == 0 || p[0].Rule != RuleInvalid {
		t.Errorf("an explanation of an invalid run passes: %v", p)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("The first token takes 12 ms at P99.", "E1")
	f.Add("`x` 上升 1,234.5 秒 phase push", "R1")
	a := random(rand.New(rand.NewPCG(1, 1)))
	f.Fuzz(func(t *testing.T, text, cite string) {
		Verify([]Claim{{Observation, text, []string{cite}}}, a)
	})
}
