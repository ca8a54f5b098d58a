package stats

import "math"

// AlarmValue is the e-value of a drop after Loss losses and Win wins: with n = Loss+Win,
//
//	E = 2^(n+1) · P[Bin(n+1, 1/2) ≤ Loss] / ((n+1)·C(n, Loss))
//
// the uniform mixture over loss shares in (1/2, 1] against losses and wins being equally
// likely. An e-value of 20 or more may be acted on at any time, after any number of
// looks, with a chance of at most 1/20 of a false alarm (Ville's inequality).
func (p Pairs) AlarmValue() float64 {
	n := p.Loss + p.Win
	lower := 1 - upperTail(n+1, p.Loss+1)
	if p.Loss == n+1 {
		lower = 1
	}
	logE := float64(n+1)*math.Ln2 + math.Log(max(lower, math.SmallestNonzeroFloat64)) - math.Log(float64(n+1)) - logChoose(n, p.Loss)
	return math.Exp(min(logE, 700))
}

// bets is how many betting fractions a Sequence mixes.
const bets = 24

// Sequence gathers paired scores one by one and tells at any time whether the candidate
// is shown to be no worse than the baseline by a margin. Scores may be fractions in
// [0, 1]. The zero Sequence is not usable; make one with NewSequence. It is not safe for
// concurrent use.
//
// With X the candidate's score minus the baseline's, it tests E[X] ≤ −M by the wealth of
// a mixture of bets,
//
//	K = mean over λ of Π (1 + λ·(X + M)),  λ on 24 points in (0, 0.98/(1−M))
//
// which is a martingale when the drop is exactly M, so K ≥ 20 at any time has a chance of
// at most 1/20 when the drop is M or more. Source: Waudby-Smith and Ramdas, Journal of
// the Royal Statistical Society B 86 (2024).
type Sequence struct {
	margin float64
	lambda [bets]float64
	wealth [bets]float64 // logarithms
	pairs  Pairs
	sum    float64
}

// NewSequence starts a sequence for a margin in (0, 1), such as 0.05.
func NewSequence(margin float64) *Sequence {
	s := &Sequence{margin: margin}
	for i := range s.lambda {
		s.lambda[i] = 0.98 / (1 - margin) * float64(i+1) / (bets + 1)
	}
	return s
}

// Add takes the scores of one item, each in [0, 1].
func (s *Sequence) Add(baseline, candidate float64) {
	x := candidate - baseline
	s.sum += x
	s.pairs.N++
	switch {
	case x < 0:
		s.pairs.Loss++
	case x > 0:
		s.pairs.Win++
	}
	for i, l := range s.lambda {
		s.wealth[i] += math.Log1p(l * (x + s.margin))
	}
}

// Pairs returns the counts so far. A partly lost item counts as a loss.
func (s *Sequence) Pairs() Pairs { return s.pairs }

// Drop is the mean loss so far.
func (s *Sequence) Drop() float64 {
	if s.pairs.N == 0 {
		return 0
	}
	return -s.sum / float64(s.pairs.N)
}

// PassValue is the e-value of "the drop is smaller than the margin".
func (s *Sequence) PassValue() float64 {
	top := math.Inf(-1)
	for _, w := range s.wealth {
		top = max(top, w)
	}
	sum := 0.0
	for _, w := range s.wealth {
		sum += math.Exp(w - top)
	}
	return math.Exp(min(700, top+math.Log(sum/bets)))
}

// MeanValue combines the e-values of several families of items into one that is valid
// under any dependence between them: their mean. Without values it is 1.
func MeanValue(values ...float64) float64 {
	if len(values) == 0 {
		return 1
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
