package narrative

import (
	"slices"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// A causal word is allowed with the id of a probe that confirmed, and with nothing less.
func TestCausalWordsNeedAProbeThatConfirmed(t *testing.T) {
	a := &archive.Analysis{
		Verdict:  archive.Verdict{State: archive.VerdictBottleneck, Cause: "admission_cap"},
		Findings: []archive.Finding{{ID: "F1", Cause: "admission_cap", Title: "The cap is reached", Role: "primary", Confidence: "medium", Tested: "untested"}},
		Experiments: &archive.Experiments{Probes: []archive.Experiment{
			{Probe: "P4", Cause: "admission_cap", Answer: "confirmed", Observed: "the median time to first token in ms went from 419 to 88."},
			{Probe: "P4b", Cause: "prefix_miss", Answer: "refuted", Observed: "the share went from 0.62 to 0.95."},
			{Probe: "P10", Cause: "queueing", Answer: "untested", Observed: "The time budget was used up before it."},
		}},
	}
	for name, c := range map[string]struct {
		text  string
		cites []string
		rule  string // "" for a claim that may be shown
	}{
		"a confirmed probe":          {"The cap causes the wait: 419 became 88 in P4.", []string{"F1", "P4"}, ""},
		"a probe that says so":       {"P4 confirmed it (F1).", []string{"F1", "P4"}, ""},
		"a refuted one":              {"P4b refuted it.", []string{"P4b"}, ""},
		"the finding alone":          {"The cap (F1) causes the wait.", []string{"F1"}, RuleCause},
		"a probe that refuted":       {"The cap causes the wait.", []string{"F1", "P4b"}, RuleCause},
		"a probe that could not say": {"The load causes the wait.", []string{"P10"}, RuleCause},
		"a probe that was not made":  {"The cap causes the wait.", []string{"P7"}, RuleCite},
		"named and not cited":        {"P4 is one more look at F1.", []string{"F1"}, RuleCite},
		"another number":             {"The cap causes the wait: 419 became 12 in P4.", []string{"F1", "P4"}, RuleNumber},
	} {
		got := Verify([]Claim{{Kind: Inference, Text: c.text, Cites: c.cites}}, a)
		if c.rule == "" && len(got) > 0 {
			t.Errorf("%s: %q is refused: %v", name, c.text, got)
		}
		if c.rule != "" && !slices.ContainsFunc(got, func(p Problem) bool { return p.Rule == c.rule }) {
			t.Errorf("%s: %q passes the rule %q: %v", name, c.text, c.rule, got)
		}
	}
}

// The narrator names the probe that settled a finding, and its own check accepts that.
func TestNarratorNamesTheProbe(t *testing.T) {
	a := &archive.Analysis{
		Verdict:  archive.Verdict{State: archive.VerdictBottleneck, Cause: "admission_cap", Headline: "The cap is reached."},
		Findings: []archive.Finding{{ID: "F1", Cause: "admission_cap", Title: "The cap is reached", Role: "primary", Confidence: "high", Tested: "confirmed"}},
		Experiments: &archive.Experiments{Probes: []archive.Experiment{
			{Probe: "P4", Cause: "admission_cap", Answer: "confirmed", Expected: "x", Observed: "y"},
		}},
	}
	for _, lang := range []Language{English, Chinese} {
		claims := Write(a, lang)
		if !slices.ContainsFunc(claims, func(c Claim) bool { return slices.Contains(c.Cites, "P4") }) {
			t.Errorf("%s: no claim cites P4: %v", lang, claims)
		}
		for _, p := range Verify(claims, a) {
			t.Errorf("%s: %s: %s in %q", lang, p.Rule, p.Text, claims[p.Claim].Text)
		}
	}
}
