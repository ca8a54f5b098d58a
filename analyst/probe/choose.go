package probe

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// Choice is an experiment with what it is expected to tell.
type Choice struct {
	Probe
	// Bits is the expected fall of the entropy over the candidates, in bits.
	Bits float64
	// Finding is the id of the finding that it is about.
	Finding string
}

// How often an experiment answers rightly, over the simulator's conditions: it confirms a
// cause that is the limit, and confirms one that is not. The figures are rounded down from
// those that docs/attribution.md states.
const (
	hitRate   = 0.85
	falseRate = 0.10
)

// candidates is how many findings compete.
const candidates = 3

// Choose orders the experiments about the best findings by how much each is expected to
// tell. Findings that were tested already, and those that score nothing, are left out.
func Choose(findings []archive.Finding) []Choice {
	var ranked []archive.Finding
	for _, f := range findings {
		if f.Score > 0 && (f.Tested == "" || f.Tested == Untested) {
			ranked = append(ranked, f)
		}
	}
	slices.SortStableFunc(ranked, func(a, b archive.Finding) int { return cmp.Compare(b.Score, a.Score) })
	ranked = ranked[:min(candidates, len(ranked))]
	var weights []float64
	total := 0.1 // for a cause that is not among them
	for _, f := range ranked {
		total += f.Score
	}
	for _, f := range ranked {
		weights = append(weights, f.Score/total)
	}
	weights = append(weights, 0.1/total)
	var out []Choice
	for _, p := range All() {
		for i, f := range ranked {
			if f.Cause == p.Cause {
				out = append(out, Choice{Probe: p, Bits: gain(weights, i), Finding: f.ID})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Choice) int { return cmp.Compare(b.Bits, a.Bits) })
	return out
}

// gain is the expected fall of the entropy when the experiment about candidate i is made.
func gain(weights []float64, i int) float64 {
	before, after := entropy(weights), 0.0
	for _, confirm := range []bool{true, false} {
		post := make([]float64, len(weights))
		p := 0.0
		for j, w := range weights {
			like := falseRate
			if j == i {
				like = hitRate
			}
			if !confirm {
				like = 1 - like
			}
			post[j] = w * like
			p += post[j]
		}
		for j := range post {
			post[j] /= p
		}
		after += p * entropy(post)
	}
	return before - after
}

func entropy(w []float64) float64 {
	h := 0.0
	for _, p := range w {
		if p > 0 {
			h -= p * math.Log2(p)
		}
	}
	return h
}

// Lookup returns the experiments of these ids, such as "P10"; case does not matter. unknown
// are the ids that there are none of.
func Lookup(ids []string) (found []Probe, unknown []string) {
	for _, id := range ids {
		i := slices.IndexFunc(All(), func(p Probe) bool { return strings.EqualFold(p.ID, strings.TrimSpace(id)) })
		if i < 0 {
			unknown = append(unknown, id)
			continue
		}
		found = append(found, All()[i])
	}
	return found, unknown
}
