package analyst

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The terms of the energy come back from stretches whose load varies, with the truth inside
// their intervals; a term that the load does not show has an interval that holds 0.
func TestFitEnergy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	truth := [3]float64{110, 0.02, 0.25} // W, J a prompt token, J a generated token
	var rows []energyRow
	for range 60 {
		r := energyRow{seconds: 2, prompt: 20000 * rng.Float64(), output: 3000 * rng.Float64()}
		r.joules = truth[0]*r.seconds + truth[1]*r.prompt + truth[2]*r.output + 10*rng.NormFloat64()
		rows = append(rows, r)
	}
	fit := fitEnergy(rows)
	for i, want := range truth {
		if d := math.Abs(fit.each[i] - want); d > 3*fit.se[i] || fit.se[i] > want/5 {
			t.Errorf("term %d is %g ± %g; want %g", i, fit.each[i], fit.se[i], want)
		}
	}
	// Prompts and answers in step: they cannot be told apart.
	for i := range rows {
		rows[i].prompt = 7*rows[i].output + rng.Float64()
		rows[i].joules = truth[0]*2 + truth[2]*rows[i].output + 10*rng.NormFloat64()
	}
	if fit := fitEnergy(rows); fit.each[1]-1.96*fit.se[1] > 0 && fit.each[2]-1.96*fit.se[2] > 0 {
		t.Errorf("%+v tells apart what always comes together", fit)
	}
	// No energy can flow back: a negative term is left out.
	for i := range rows {
		rows[i].joules = 300*rows[i].seconds - 0.01*rows[i].output
	}
	if fit := fitEnergy(rows); fit.each[1] != 0 || fit.each[2] != 0 || fit.each[0] <= 0 {
		t.Errorf("%+v has a term for energy that flows back", fit)
	}
}
