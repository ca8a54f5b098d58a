package probe

import (
	"fmt"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
)

// Apply lets experiments speak in a diagnosis: each finding becomes confirmed or refuted,
// a confirmed one gains confidence and may lead, and a refuted one no longer limits. Where
// nothing is left, the verdict is undecided.
//
// Grades: a probe that was passed makes medium high and low medium. Findings that no
// experiment was about stay as they are.
func Apply(a *archive.Analysis, outcomes []Outcome) {
	for _, o := range outcomes {
		for i := range a.Findings {
			f := &a.Findings[i]
			if f.Cause != o.Cause || o.Answer == Untested {
				continue
			}
			f.Tested = o.Answer
			f.Summary += fmt.Sprintf(" %s %s it: %s", o.Probe, o.Answer, o.Observed)
		}
	}
	lead(a)
}

// plausible is the score that a finding needs to lead once an experiment confirmed it: a
// response that several causes share must not crown one that the signals speak against.
const plausible = 0.5

// lead chooses the finding that leads after the experiments.
func lead(a *archive.Analysis) {
	if a.Verdict.State != archive.VerdictBottleneck && a.Verdict.State != archive.VerdictInconclusive {
		return // an invalid run and one that nothing limits stay what they are
	}
	best := -1
	for i := range a.Findings {
		f := &a.Findings[i]
		if f.Tested == Refuted {
			f.Confidence = "low"
			if f.Role != "primary" {
				f.Role = "considered"
			}
		} else if f.Role == "primary" {
			best = i
		}
	}
	// The one that led was refuted, or none did: one that an experiment confirmed takes its
	// place, and else the next that was named.
	if best < 0 {
		best = slices.IndexFunc(a.Findings, func(f archive.Finding) bool { return f.Tested == Confirmed && f.Score >= plausible })
	}
	if best < 0 {
		best = slices.IndexFunc(a.Findings, func(f archive.Finding) bool { return f.Role == "contributing" && f.Tested != Refuted })
	}
	if best < 0 {
		if a.Verdict.State == archive.VerdictBottleneck {
			a.Verdict = archive.Verdict{
				State: archive.VerdictInconclusive, Headline: "What limits the server is undecided: an experiment refuted what the signals pointed at.",
				Next: "Look at the findings that were refuted, and at the signals that are missing.",
			}
		}
		return
	}
	for i := range a.Findings {
		if f := &a.Findings[i]; f.Role == "primary" && i != best {
			f.Role = "contributing"
			if f.Tested == Refuted {
				f.Role = "considered"
			}
		}
	}
	f := &a.Findings[best]
	f.Role = "primary"
	if f.Tested == Confirmed {
		f.Confidence = map[string]string{"low": "medium"}[f.Confidence]
		if f.Confidence == "" {
			f.Confidence = "high"
		}
	}
	if a.Verdict.Cause != f.Cause {
		a.Verdict.State, a.Verdict.Cause = archive.VerdictBottleneck, f.Cause
		a.Verdict.Headline = f.Title + ": an experiment confirmed it."
		if f.Tested != Confirmed {
			a.Verdict.Headline = f.Title + ": an experiment refuted what seemed likelier."
		}
		if i := slices.IndexFunc(a.Recommendations, func(r archive.Recommendation) bool { return r.Finding == f.ID }); i >= 0 {
			a.Verdict.Next = a.Recommendations[i].Action
		} else {
			a.Verdict.Next = f.Probe
		}
	}
	a.Verdict.Confidence = f.Confidence
}
