package quality

import (
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/evals/stats"
)

// Family is what the items of one set show.
type Family struct {
	Kind string `json:"kind"`
	Set  string `json:"set"`
	// Sent items are Scored or not; Unscored counts the latter by the start of its reason.
	Sent     int            `json:"sent"`
	Scored   int            `json:"scored"`
	Unscored map[string]int `json:"unscored,omitempty"`
	// Score is the mean score of the scored items, with Wilson's 95 % interval; unknown
	// without any.
	Score    archive.Opt[float64] `json:"score"`
	Interval stats.Interval       `json:"interval"`
	// Strict is the share of scored maths items whose answer kept the demanded format. A
	// fall with a steady score is a loss of instruction following. Unknown for other kinds.
	Strict archive.Opt[float64] `json:"format_kept"`
	// Truncated is how many answers were cut at the token limit.
	Truncated int `json:"truncated"`
	// Methods counts the scored items by the rule that found the answer.
	Methods map[string]int `json:"methods"`
	// Power says what this many items can show.
	Power string `json:"power"`
	// Load is accuracy against requests in flight.
	Load stats.LoadTrend `json:"load"`
}

// PassAtK returns, for each set, the mean over its items of the unbiased chance that one
// of k samples is right. Items with fewer than k scored samples are left out; a set
// without any other is not in the result.
func PassAtK(all []archive.Checkpoint, k int) map[string]float64 {
	type count struct{ n, right int }
	sets := map[string]map[string]*count{}
	for _, c := range all {
		score, ok := c.Score.Get()
		if !ok {
			continue
		}
		if sets[c.Set] == nil {
			sets[c.Set] = map[string]*count{}
		}
		it := sets[c.Set][c.Item]
		if it == nil {
			it = &count{}
			sets[c.Set][c.Item] = it
		}
		it.n++
		if score >= 0.5 {
			it.right++
		}
	}
	out := map[string]float64{}
	for set, items := range sets {
		sum, n := 0.0, 0
		for _, it := range items {
			if it.n >= k && k > 0 {
				sum += stats.PassAtK(it.n, it.right, k)
				n++
			}
		}
		if n > 0 {
			out[set] = sum / float64(n)
		}
	}
	return out
}

// loadLevels is how many levels of load accuracy is told apart by.
const loadLevels = 4

// Families summarises checkpoints by set, in the order in which the sets first appear. An
// item that was sent more than once counts each time.
func Families(all []archive.Checkpoint) []Family {
	var out []Family
	sums := map[string]float64{}
	right := map[string]int{}
	loads := map[string][]stats.AtLoad{}
	for _, c := range all {
		i := slices.IndexFunc(out, func(f Family) bool { return f.Set == c.Set && f.Kind == c.Kind })
		if i < 0 {
			i = len(out)
			out = append(out, Family{Kind: c.Kind, Set: c.Set, Unscored: map[string]int{}, Methods: map[string]int{}})
		}
		f := &out[i]
		f.Sent++
		if strings.Contains(c.Reason, "token limit") {
			f.Truncated++
		}
		score, ok := c.Score.Get()
		if !ok {
			f.Unscored[c.Reason]++
			continue
		}
		f.Scored++
		f.Methods[c.Method]++
		sums[c.Set] += score
		if score >= 0.5 {
			right[c.Set]++
		}
		if c.InFlight > 0 {
			loads[c.Set] = append(loads[c.Set], stats.AtLoad{InFlight: c.InFlight, Right: score >= 0.5})
		}
	}
	for i := range out {
		f := &out[i]
		f.Interval = stats.Wilson(right[f.Set], f.Scored, stats.Z95)
		f.Power = stats.PowerStatement(stats.DefaultChurn, f.Scored)
		f.Load = stats.ByLoad(loads[f.Set], loadLevels)
		if f.Scored == 0 {
			continue
		}
		f.Score = archive.Some(sums[f.Set] / float64(f.Scored))
		if strict := f.Methods[string(answer.Strict)]; strict > 0 || f.Methods[string(answer.Flexible)]+f.Methods[string(answer.Marker)]+f.Methods[string(answer.Boxed)] > 0 {
			f.Strict = archive.Some(float64(strict) / float64(f.Scored))
		}
	}
	return out
}
