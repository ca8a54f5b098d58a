// Package narrative turns an analysis into prose, and checks prose against an analysis.
//
// [Write] is the narrator that needs no model: templates in English and Chinese whose
// every figure is copied from the analysis. [Verify] is the check that any prose has to
// pass before it is shown, whoever wrote it: each number must follow from what the claim
// cites, by a change of unit or by rounding; cited ids must exist; a direction must agree
// with the evidence and its interval; a causal word needs a probe that confirmed, or a
// finding that one did; and a run that is not valid supports no explanation. What is quoted word for
// word from a cited item is true as far as the item is.
//
// Functions are pure and safe for concurrent use.
package narrative

import (
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// Kind is what sort of statement a claim is.
type Kind string

// The kinds.
const (
	Observation    Kind = "observation"    // what was measured
	Inference      Kind = "inference"      // what it points to
	Prediction     Kind = "prediction"     // what a change would do
	Recommendation Kind = "recommendation" // what to do
)

// Claim is one statement with what it rests on.
type Claim struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
	// Cites are ids: evidence (E1), findings (F1), recommendations (R1), experiments that
	// were made (P10), gates (G:send_lag), a statistic of a metric (M:ttft/all/p99), or the request counts (C).
	Cites []string `json:"cites"`
}

// Text joins claims to a paragraph.
func Text(claims []Claim) string {
	parts := make([]string, len(claims))
	for i, c := range claims {
		parts[i] = c.Text
	}
	return strings.Join(parts, " ")
}

// source is what one id stands for: the numbers and the sentences that may be used.
type source struct {
	values []quantity
	texts  []string
	scope  string
	// change is set for evidence of a difference: its sign, and whether the interval
	// leaves zero out.
	change int
	// tested and confidence are those of a finding.
	tested, confidence string
}

// sources indexes an analysis by the ids that claims may cite.
func sources(a *archive.Analysis) map[string]source {
	out := map[string]source{}
	for _, e := range a.Evidence {
		s := source{texts: []string{e.Text}, scope: e.Scope}
		for _, o := range []archive.Opt[float64]{e.Value, e.Low, e.High} {
			if v, ok := o.Get(); ok {
				s.values = append(s.values, quantity{v, e.Unit, 0})
			}
		}
		s.change = sign(e)
		out[e.ID] = s
	}
	for _, f := range a.Findings {
		out[f.ID] = source{
			values: []quantity{{f.Score, "", 0}}, texts: []string{f.Title, f.Summary, f.Falsifier, f.Probe}, scope: "all",
			tested: f.Tested, confidence: f.Confidence,
		}
	}
	for _, r := range a.Recommendations {
		out[r.ID] = source{texts: []string{r.Action, r.Knob, r.Predicted, r.Risk}, scope: "all"}
	}
	if a.Experiments != nil {
		for _, x := range a.Experiments.Probes {
			s := source{texts: []string{x.Title, x.Expected, x.Observed}, scope: "all", tested: x.Answer}
			if before, twice := out[x.Probe]; twice { // one id, two causes: only what both say
				s.texts = append(s.texts, before.texts...)
				if before.tested != s.tested {
					s.tested = "untested"
				}
			}
			out[x.Probe] = s
		}
	}
	for _, g := range a.Gates {
		out["G:"+g.ID] = source{texts: []string{g.Message, g.Observed, g.Limit}, scope: "all"}
	}
	for _, m := range a.Metrics {
		for stat, e := range m.Stats {
			s := source{scope: m.Scope, texts: []string{m.Label}}
			for _, o := range []archive.Opt[float64]{e.Value, e.Low, e.High} {
				if v, ok := o.Get(); ok {
					s.values = append(s.values, quantity{v, m.Unit, 0})
				}
			}
			if len(s.values) > 0 { // a withheld number cannot be cited
				out["M:"+m.ID+"/"+m.Scope+"/"+stat] = s
			}
		}
	}
	c := a.Counts
	counts := source{scope: "all"}
	for _, n := range []int{c.Planned, c.OK, c.Failed, c.Cancelled} {
		counts.values = append(counts.values, quantity{float64(n), "", 0})
	}
	out["C"] = counts
	return out
}

// sign is the direction of evidence about a change: +1 or −1 when its interval leaves
// zero out, 0 when it does not or when the evidence is no change.
func sign(e archive.Evidence) int {
	if !strings.HasPrefix(e.Metric, "change:") {
		return 0
	}
	lo, ok1 := e.Low.Get()
	hi, ok2 := e.High.Get()
	switch {
	case ok1 && ok2 && lo > 0:
		return 1
	case ok1 && ok2 && hi < 0:
		return -1
	}
	return 0
}
