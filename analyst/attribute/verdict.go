package attribute

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/archive"
)

// Threshold is the score that a cause needs to be named.
const Threshold = 0.6

// considered is the score from which a cause that is not named is still listed.
const considered = 0.3

// Result is the attribution of one window.
type Result struct {
	Findings        []archive.Finding
	Recommendations []archive.Recommendation
	// Cause is the primary cause, "" when none reached the threshold.
	Cause, Title, Confidence string
	// Score is the highest score of all causes.
	Score float64
	// Missing lists what the best candidates lack.
	Missing []string
	// Probe is the experiment of the best candidate.
	Probe string
}

// Defect reports whether a cause is something gone wrong, which is worth saying even
// where every objective is met, and not a limit of what the server can do.
func Defect(cause string) bool {
	switch cause {
	case Client, Throttle, Leak, Network, Frontend, Host, Communication, External, Speculation, Prefix:
		return true
	}
	return false
}

type scored struct {
	cause
	hypothesis
	order int
}

// Attribute scores every cause over the facts. book must hold their evidence.
func Attribute(f *Facts, book *evidence.Book) Result {
	var all []scored
	for i, c := range causes() {
		h := score(c.id, f)
		if !h.inapplicable {
			all = append(all, scored{c, h, i})
		}
	}
	// Queueing is what every other limit looks like from outside, and prefill what shared
	// prefixes that are computed again look like inside: each is a cause only where what
	// makes it is not.
	named := func(id string) bool {
		return slices.ContainsFunc(all, func(x scored) bool { return x.score >= Threshold && (x.id == id || id == "" && x.id != Queueing) })
	}
	for i := range all {
		if all[i].id == Queueing && named("") || all[i].id == Prefill && named(Prefix) {
			all[i].score = min(all[i].score, Threshold-0.01)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		if d := cmp.Compare(round(b.score), round(a.score)); d != 0 {
			return d
		}
		return a.order - b.order
	})
	var r Result
	if f.BlackBox() {
		r.Missing = append(r.Missing, needMetrics)
	}
	for i, x := range all {
		if i == 0 {
			r.Score, r.Probe = x.score, x.probe
		}
		if x.score >= considered || len(x.missing) > 0 && x.score > 0 {
			r.add(f, book, all, i)
		}
		if i < 3 {
			for _, m := range x.missing {
				if !slices.Contains(r.Missing, m) {
					r.Missing = append(r.Missing, m)
				}
			}
		}
	}
	if len(r.Findings) == 0 {
		for _, x := range all {
			for _, m := range x.missing {
				if !slices.Contains(r.Missing, m) {
					r.Missing = append(r.Missing, m)
				}
			}
		}
	}
	return r
}

// round keeps causes whose scores differ by less than the rules can mean at a tie.
func round(v float64) float64 { return float64(int(v*20+0.5)) / 20 }

func (r *Result) add(f *Facts, book *evidence.Book, all []scored, i int) {
	x := all[i]
	find := archive.Finding{
		ID: fmt.Sprintf("F%d", len(r.Findings)+1), Cause: x.id, Title: x.title, Score: x.score,
		Role: "considered", Summary: x.summary, For: ids(x.pro), Against: ids(x.con), Missing: x.missing,
		Falsifier: x.falsifier, Probe: x.probe, Tested: "untested",
	}
	find.Confidence = confidence(all, i, book)
	if x.score >= Threshold {
		find.Role = "contributing"
		if i == 0 {
			find.Role = "primary"
			r.Cause, r.Title, r.Confidence = x.id, x.title, find.Confidence
		}
		for _, a := range advice(x.id, f.Engine) {
			a.aim(x.id, f)
			r.Recommendations = append(r.Recommendations, archive.Recommendation{
				ID: fmt.Sprintf("R%d", len(r.Recommendations)+1), Finding: find.ID, Action: a.action, Knob: a.knob, From: a.from, To: a.to,
				Predicted: a.predicted, Risk: a.risk, Evidence: find.For,
			})
		}
	}
	r.Findings = append(r.Findings, find)
}

func ids(fs []evidence.Fact) []string {
	out := []string{}
	for _, f := range fs {
		if !slices.Contains(out, f.ID) {
			out = append(out, f.ID)
		}
	}
	return out
}

// confidence grades a finding by what supports it: a score of at least 0.8, a margin of
// at least 0.2 over the next cause, facts of two signal families, and a probe that it
// passed. All four are high, two are medium. No probe has run here, so nothing is high.
func confidence(all []scored, i int, book *evidence.Book) string {
	x, points := all[i], 0
	if x.score >= 0.8 {
		points++
	}
	next := 0.0
	for j, y := range all {
		if j != i {
			next = max(next, y.score)
		}
	}
	if x.score-next >= 0.2 {
		points++
	}
	families := map[string]bool{}
	for _, p := range x.pro {
		if row, ok := book.Row(p.ID); ok {
			families[row.Family] = true
		}
	}
	if len(families) >= 2 {
		points++
	}
	if points >= 2 {
		return "medium"
	}
	return "low"
}
