package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// TPE is the tree-structured Parzen estimator with constraints: the trials are split into a
// good and a bad part, each part gets a density, and the next point is the one of a few
// draws from the good density at which good over bad is largest.
//
// The order is that of Optuna: feasible trials by value, then infeasible ones by how much
// they exceed their limits, then failures. The densities are joint over the knobs: a mixture
// of products of one kernel a knob, one component a trial, and a uniform one. After
// J. Bergstra et al., NeurIPS 2011, and S. Watanabe, arXiv 2304.11127.
type TPE struct {
	space *space.Space
	goal  tuner.Goal
}

// NewTPE returns the strategy over a space.
func NewTPE(s *space.Space, goal tuner.Goal) *TPE { return &TPE{s, goal} }

// Name is "tpe".
func (*TPE) Name() string { return "tpe" }

// The settings of the estimator, those of Optuna: random trials first, the good share, the
// draws of a proposal.
const (
	tpeRandom = 10
	tpeGood   = 0.1
	tpeMost   = 25
	tpeDraws  = 24
)

// Ask implements tuner.Strategy.
func (t *TPE) Ask(rng *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	v := look(t.space, t.goal, history)
	if len(v.obs) < tpeRandom {
		return v.random(rng, n, t.Name())
	}
	good, bad := v.split(tpeGood)
	var out []tuner.Proposal
	for range n {
		p, ok := v.drawTPE(rng, good, bad)
		if !ok {
			break
		}
		v.tried[t.space.Index(p)] = 0
		out = append(out, v.proposal(p, t.Name()))
	}
	if len(out) == 0 {
		return v.random(rng, n, t.Name())
	}
	return out
}

// drawTPE draws from the good density and returns the draw with the largest ratio, or false
// where every draw was tried or is ruled out.
func (v *view) drawTPE(rng *rand.Rand, good, bad *density) (space.Point, bool) {
	var best space.Point
	top := math.Inf(-1)
	for try, left := 0, tpeDraws; left > 0 && try < 20*tpeDraws; try++ {
		p := good.draw(rng)
		if !v.fresh(p) || !v.space.Feasible(p) {
			continue
		}
		left--
		if r := good.log(p) - bad.log(p); r > top {
			best, top = p, r
		}
	}
	return best, best != nil
}

// split orders the trials and gives the best share and the rest a density each.
func (v *view) split(share float64) (good, bad *density) {
	order := make([]*seen, len(v.obs))
	for i := range v.obs {
		order[i] = &v.obs[i]
	}
	slices.SortStableFunc(order, func(a, b *seen) int {
		switch {
		case a.ok != b.ok:
			if a.ok {
				return -1
			}
			return 1
		case !a.ok:
			return 0
		}
		if c := cmp.Compare(a.violation(), b.violation()); c != 0 {
			return c
		}
		return cmp.Compare(b.gain, a.gain)
	})
	k := min(int(math.Ceil(share*float64(len(order)))), tpeMost)
	return newDensity(v.space, order[:k]), newDensity(v.space, order[k:])
}

// density is a mixture over a grid: one product of kernels a trial, and a uniform one.
type density struct {
	space   *space.Space
	centres []*seen
	kernels [][][]float64 // kernels[d][c][v] is the chance of value v of knob d around centre value c
}

func newDensity(s *space.Space, centres []*seen) *density {
	d := &density{space: s, centres: centres}
	n := float64(len(centres) + 1)
	wide := 0.2 * math.Pow(n, -1/float64(len(s.Dims)+4)) // Scott's rule as Optuna scales it
	for i := range s.Dims {
		dim := &s.Dims[i]
		k := len(dim.Values)
		table := make([][]float64, k)
		for c := range table {
			table[c] = make([]float64, k)
			sum := 0.0
			for x := range table[c] {
				w := 1 / n
				if dim.Ordered {
					z := dim.Distance(c, x) * float64(k-1) / float64(k) / wide
					w = math.Exp(-z * z / 2)
				} else if x == c {
					w++
				}
				table[c][x] = w
				sum += w
			}
			for x := range table[c] {
				table[c][x] /= sum
			}
		}
		d.kernels = append(d.kernels, table)
	}
	return d
}

func (d *density) log(p space.Point) float64 {
	uniform := 1.0
	for i := range p {
		uniform /= float64(len(d.space.Dims[i].Values))
	}
	sum := uniform
	for _, c := range d.centres {
		w := 1.0
		for i, x := range p {
			w *= d.kernels[i][c.at[i]][x]
		}
		sum += w
	}
	return math.Log(sum / float64(len(d.centres)+1))
}

func (d *density) draw(rng *rand.Rand) space.Point {
	p := make(space.Point, len(d.space.Dims))
	c := rng.IntN(len(d.centres) + 1)
	for i := range p {
		k := len(d.space.Dims[i].Values)
		if c == len(d.centres) {
			p[i] = rng.IntN(k)
			continue
		}
		u := rng.Float64()
		row := d.kernels[i][d.centres[c].at[i]]
		for p[i] = 0; p[i] < k-1 && u >= row[p[i]]; p[i]++ {
			u -= row[p[i]]
		}
	}
	return p
}
