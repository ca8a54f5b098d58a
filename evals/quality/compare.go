package quality

import (
	"cmp"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/stats"
)

// Change is one item that the two runs answered differently.
type Change struct {
	Item      string
	Baseline  archive.Checkpoint
	Candidate archive.Checkpoint
}

// Comparison is the verdict on one family of items that both runs have.
type Comparison struct {
	Kind, Set string
	Gate      stats.GateResult
	// Dropped items had no baseline score and say nothing.
	Dropped int
	// Regressions were right at the baseline and are not at the candidate; Gains are the
	// other way round. Both are in order of item.
	Regressions, Gains []Change
}

// Compare pairs the checkpoints of two runs by set and item and judges each family
// against the margin, such as 0.05. Families that only one run has are left out: there is
// nothing to pair.
func Compare(baseline, candidate []archive.Checkpoint, margin float64) []Comparison {
	var out []Comparison
	for _, f := range Families(candidate) {
		base, cand := first(baseline, f), first(candidate, f)
		if len(base) == 0 {
			continue
		}
		c := Comparison{Kind: f.Kind, Set: f.Set}
		c.Gate, c.Dropped = stats.Compare(scores(base), scores(cand), margin)
		for _, item := range cand {
			i := slices.IndexFunc(base, func(b archive.Checkpoint) bool { return b.Item == item.Item })
			if i < 0 || !base[i].Score.Known() {
				continue
			}
			b, k := base[i].Score.Or(0), item.Score.Or(0)
			switch change := (Change{item.Item, base[i], item}); {
			case k < b:
				c.Regressions = append(c.Regressions, change)
			case k > b:
				c.Gains = append(c.Gains, change)
			}
		}
		byItem := func(a, b Change) int { return cmp.Compare(a.Item, b.Item) }
		slices.SortFunc(c.Regressions, byItem)
		slices.SortFunc(c.Gains, byItem)
		out = append(out, c)
	}
	return out
}

// first keeps the first scored checkpoint of each item of a family, or the first unscored
// one where there is no other.
func first(all []archive.Checkpoint, f Family) []archive.Checkpoint {
	at := map[string]int{}
	var out []archive.Checkpoint
	for _, c := range all {
		if c.Set != f.Set || c.Kind != f.Kind {
			continue
		}
		i, seen := at[c.Item]
		if !seen {
			at[c.Item] = len(out)
			out = append(out, c)
		} else if !out[i].Score.Known() && c.Score.Known() {
			out[i] = c
		}
	}
	return out
}

func scores(all []archive.Checkpoint) []stats.Score {
	out := make([]stats.Score, len(all))
	for i, c := range all {
		v, ok := c.Score.Get()
		out[i] = stats.Score{Item: c.Item, Value: v, Missing: !ok}
	}
	return out
}
