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
	// Minutes is about how long it takes, a change of the server included.
	Minutes float64
	// Finding is the id of the finding that it is about.
	Finding string
}

// candidates is how many findings compete.
const candidates = 3

// Choose orders the experiments about the best findings by how much each is expected to
// tell in a minute. Findings that were tested already, and those that score nothing, are
// left out.
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
		for _, f := range ranked {
			if f.Cause == p.Cause {
				out = append(out, Choice{Probe: p, Bits: gain(weights, likelihoods(p.ID, ranked)), Minutes: p.minutes(), Finding: f.ID})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Choice) int { return cmp.Compare(b.Bits/b.Minutes, a.Bits/a.Minutes) })
	return out
}

// likelihoods are how likely the experiment is to confirm under each candidate, and under
// a cause that is not among them.
func likelihoods(probe string, ranked []archive.Finding) []float64 {
	var out []float64
	for _, f := range ranked {
		out = append(out, confirms(probe, f.Cause))
	}
	return append(out, rarely)
}

// gain is the expected fall of the entropy, in bits, over causes with these weights when an
// experiment is made that confirms with these likelihoods.
func gain(weights, confirm []float64) float64 {
	left := 0.0
	for _, yes := range []bool{true, false} {
		post := make([]float64, len(weights))
		p := 0.0
		for j, w := range weights {
			like := confirm[j]
			if !yes {
				like = 1 - like
			}
			post[j] = w * like
			p += post[j]
		}
		if p == 0 {
			continue // such an answer cannot come
		}
		for j := range post {
			post[j] /= p
		}
		left += p * entropy(post)
	}
	return entropy(weights) - left
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
