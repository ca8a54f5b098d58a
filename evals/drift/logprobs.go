package drift

import (
	"math"

	"github.com/inferencebench/inferencebench/archive"
)

// Position is one generated token with its log-probabilities, natural logarithms.
type Position struct {
	Token   string
	LogProb float64
	// Top are the most likely tokens and their log-probabilities, the chosen one included
	// where the server lists it.
	Top map[string]float64
}

// Distance is how far apart the log-probabilities of two replies to one prompt lie, over
// the positions at which both texts still share the same beginning.
type Distance struct {
	// Positions is how many were compared.
	Positions int `json:"positions"`
	// Top1 is the share of positions at which the most likely token is the same.
	Top1 archive.Opt[float64] `json:"top1"`
	// Delta is the mean absolute difference of the chosen token's log-probability.
	Delta archive.Opt[float64] `json:"delta"`
	// KL is a lower bound of the mean Kullback-Leibler divergence, in nats: all tokens
	// that are not in both lists are one bucket. It is safe for alarms and is not the
	// divergence itself.
	KL archive.Opt[float64] `json:"kl_lower_bound"`
	// Margin is by how much, at the first position where the texts part, the reference
	// preferred its token to the other's: under 0.05 is numerical noise, over 0.5 damage.
	// Unknown when the texts do not part, or the other token is not in the list.
	Margin archive.Opt[float64] `json:"margin"`
}

// Compare measures the distance between a reference and another reply.
func Compare(reference, other []Position) Distance {
	var d Distance
	top1, delta, kl, kls := 0, 0.0, 0.0, 0
	for i := range min(len(reference), len(other)) {
		a, b := reference[i], other[i]
		d.Positions++
		if mostLikely(a) == mostLikely(b) {
			top1++
		}
		if k, ok := bucketKL(a.Top, b.Top); ok {
			kl += k
			kls++
		}
		if a.Token != b.Token {
			if alt, ok := a.Top[b.Token]; ok {
				d.Margin = archive.Some(a.LogProb - alt)
			}
			if alt, ok := b.Top[a.Token]; ok {
				delta += math.Abs(a.LogProb - alt)
			}
			break
		}
		delta += math.Abs(a.LogProb - b.LogProb)
	}
	if d.Positions > 0 {
		n := float64(d.Positions)
		d.Top1, d.Delta = archive.Some(float64(top1)/n), archive.Some(delta/n)
	}
	if kls > 0 {
		d.KL = archive.Some(kl / float64(kls))
	}
	return d
}

func mostLikely(p Position) string {
	best, token := p.LogProb, p.Token
	for t, lp := range p.Top {
		if lp > best || lp == best && t < token {
			best, token = lp, t
		}
	}
	return token
}

// bucketKL is Σ p·ln(p/q) over the tokens of both lists plus the same for the rest as one
// bucket. By the data-processing inequality it never exceeds the true divergence.
func bucketKL(p, q map[string]float64) (float64, bool) {
	sumP, sumQ, kl, both := 0.0, 0.0, 0.0, 0
	for t, lp := range p {
		lq, ok := q[t]
		if !ok || math.IsInf(lp, 0) || math.IsInf(lq, 0) || math.IsNaN(lp) || math.IsNaN(lq) {
			continue
		}
		both++
		sumP += math.Exp(lp)
		sumQ += math.Exp(lq)
		kl += math.Exp(lp) * (lp - lq)
	}
	if both == 0 {
		return 0, false
	}
	const least = 1e-9
	restP, restQ := max(least, 1-sumP), max(least, 1-sumQ)
	return max(0, kl+restP*math.Log(restP/restQ)), true
}

// Alarm reports whether a candidate's distance is out of the ordinary: its KL bound is
// more than three times the 99th percentile of an A/A run. Without an A/A figure, or
// without log-probabilities, nothing is known.
func Alarm(candidate Distance, aa99 archive.Opt[float64]) archive.Opt[bool] {
	limit, ok := aa99.Get()
	kl, known := candidate.KL.Get()
	if !ok || !known {
		return archive.Opt[bool]{}
	}
	return archive.Some(kl > 3*limit)
}
