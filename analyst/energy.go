package analyst

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/archive"
)

// The stretches in which energy and tokens are compared: how long each is, and how many are
// needed.
const (
	energyBin  = 2e9 // ns
	energyBins = 15
)

// energyByPhase adds what a computed prompt token and a generated token take, and the share
// that follows no token, since it flows whatever is done: least squares without negative terms over stretches of the
// windows, E = e₀·T + e_p·P + e_d·D. A term whose interval holds 0 is withheld: the load did not
// vary enough to tell it.
func (w *work) energyByPhase(scope string, wins []archive.Window) {
	var rows []energyRow
	for _, win := range wins {
		rows = append(rows, w.energyRows(win)...)
	}
	if len(rows) == 0 {
		return
	}
	add := func(id, label, unit string, e archive.Estimate) {
		w.metrics = append(w.metrics, metrics.Single(id, label, unit, scope, len(rows), e))
	}
	terms := [3]struct{ id, label, unit string }{
		{"energy_idle_share", "Share of the GPU energy that follows no token", "share"},
		{"energy_prefill", "GPU energy for each computed prompt token", "J/token"},
		{"energy_decode", "GPU energy for each generated token", "J/token"},
	}
	if len(rows) < energyBins {
		for _, t := range terms {
			add(t.id, t.label, t.unit, metrics.Withheld(fmt.Sprintf("needs %d stretches of 2 s, has %d", energyBins, len(rows))))
		}
		return
	}
	fit := fitEnergy(rows)
	for i, t := range terms {
		c, half := fit.each[i], 1.96*fit.se[i]
		if i == 0 { // as a share of all energy
			scale := fit.seconds / fit.joules
			c, half = c*scale, half*scale
		}
		if !(c-half > 0) {
			add(t.id, t.label, t.unit, metrics.Withheld("power hardly follows it in this load; vary the load, or run longer"))
			continue
		}
		e := metrics.Value(c)
		e.Low, e.High = archive.Some(c-half), archive.Some(c+half)
		add(t.id, t.label, t.unit, e)
	}
}

// energyRow is one stretch: its time in seconds, computed prompt tokens, generated tokens, and
// energy in joules.
type energyRow struct{ seconds, prompt, output, joules float64 }

// energyRows cuts a window into stretches. It is empty where a counter is missing or fell.
func (w *work) energyRows(win archive.Window) []energyRow {
	at := func(source, name string) func(t archive.Instant) (float64, bool) {
		ps := w.series.Gauge(source, name, series.Sum, win.From, win.To)
		for i := 1; i < len(ps); i++ {
			if ps[i].V < ps[i-1].V {
				ps = nil // restarted
				break
			}
		}
		i := 0
		return func(t archive.Instant) (float64, bool) { // t must not fall
			for i+1 < len(ps) && ps[i+1].T <= t {
				i++
			}
			if i+1 >= len(ps) || ps[i].T > t {
				return 0, false
			}
			a, b := ps[i], ps[i+1]
			return a.V + (b.V-a.V)*float64(t-a.T)/float64(b.T-a.T), true
		}
	}
	joules := at(archive.SourceGPU, "energy_joules_total")
	prompt, output := at(archive.SourceEngine, "prompt_tokens_total"), at(archive.SourceEngine, "generation_tokens_total")
	hits := at(archive.SourceEngine, "prefix_cache_hits_total")
	read := func(t archive.Instant) (r energyRow, ok bool) {
		j, ok1 := joules(t)
		p, ok2 := prompt(t)
		o, ok3 := output(t)
		h, _ := hits(t)
		return energyRow{float64(t) / 1e9, p - h, o, j}, ok1 && ok2 && ok3
	}
	var rows []energyRow
	var before energyRow
	known := false
	for t := win.From; t <= win.To; t += energyBin {
		now, ok := read(t)
		if ok && known {
			rows = append(rows, energyRow{now.seconds - before.seconds, math.Max(0, now.prompt-before.prompt), now.output - before.output, now.joules - before.joules})
		}
		before, known = now, ok
	}
	return rows
}

// energyFit are the terms of the energy, with their standard errors, in joules a second, a
// prompt token and a generated token; a term that would be negative is 0.
type energyFit struct {
	each, se        [3]float64
	seconds, joules float64
}

// fitEnergy tries every set of terms, and takes the best whose terms are all positive.
func fitEnergy(rows []energyRow) energyFit {
	var best energyFit
	least := math.Inf(1)
	for set := 1; set < 8; set++ {
		var use []int
		for k := range 3 {
			if set&(1<<k) != 0 {
				use = append(use, k)
			}
		}
		x := mat.NewDense(len(rows), len(use), nil)
		y := mat.NewVecDense(len(rows), nil)
		for i, r := range rows {
			for c, k := range use {
				x.Set(i, c, [3]float64{r.seconds, r.prompt, r.output}[k])
			}
			y.SetVec(i, r.joules)
		}
		var beta mat.VecDense
		var xtx, inv mat.Dense
		xtx.Mul(x.T(), x)
		if inv.Inverse(&xtx) != nil || beta.SolveVec(x, y) != nil {
			continue
		}
		var left mat.VecDense
		left.MulVec(x, &beta)
		left.SubVec(y, &left)
		rss := mat.Dot(&left, &left)
		ok := true
		for c := range use {
			ok = ok && beta.AtVec(c) > 0
		}
		if !ok || rss >= least {
			continue
		}
		least = rss
		best = energyFit{}
		s2 := rss / float64(max(1, len(rows)-len(use)))
		for c, k := range use {
			best.each[k], best.se[k] = beta.AtVec(c), math.Sqrt(s2*inv.At(c, c))
		}
	}
	for _, r := range rows {
		best.seconds += r.seconds
		best.joules += r.joules
	}
	return best
}
