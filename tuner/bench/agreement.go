package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/tuner/landscape"
	"github.com/inferencebench/inferencebench/tuner/search"
)

// agreement is Spearman's rank correlation of the prior's gains and the true ones, over the
// configurations that run and meet their limits and of which the prior has a guess. It is 0
// where either is the same everywhere.
func agreement(l *landscape.Landscape, prior search.Prior) float64 {
	var x, y []float64
	for _, p := range l.Space().All() {
		a := l.Space().At(p)
		g, holds := l.Gain(a)
		guess, ok := prior.Guess(a)
		if holds && ok {
			x, y = append(x, guess.Gain), append(y, g)
		}
	}
	return correlation(ranks(x), ranks(y))
}

// ranks gives equal values the mean of their ranks.
func ranks(v []float64) []float64 {
	at := make([]int, len(v))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out := make([]float64, len(v))
	for i := 0; i < len(at); {
		j := i
		for j < len(at) && v[at[j]] == v[at[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[at[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}

func correlation(x, y []float64) float64 {
	n := float64(len(x))
	var sx, sy, sxx, syy, sxy float64
	for i := range x {
		sx, sy = sx+x[i], sy+y[i]
		sxx, syy, sxy = sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	vary := (sxx - sx*sx/n) * (syy - sy*sy/n)
	if !(vary > 0) {
		return 0
	}
	return (sxy - sx*sy/n) / math.Sqrt(vary)
}
