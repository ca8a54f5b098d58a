package search

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// sample is one observation for a Gaussian process.
type sample struct {
	at    space.Point
	rung  int
	prior float64 // what the prior says the value is
	y     float64
}

// scales are the parameters of a Gaussian process over a grid, as logarithms.
type scales struct {
	length []float64 // of each knob, in lengths of its axis
	amp    float64   // standard deviation of the function
	noise  float64   // standard deviation of one whole trial
}

// gaussian is a Gaussian process conditioned on samples. The covariance of two points is
//
//	k = a²·(alone·mean of m_d + (1 − alone)·product of m_d) + slope²·p·p' + level² + rung²·[both on the same other rung]
//	m_d = m(distance of knob d / length of knob d)
//
// with m the Matérn function of smoothness 5/2 and p the prior's values. The first term says
// that knobs act by themselves, the second that they act together; the prior is the mean, and
// its slope may be wrong by a standard deviation of slope. The distance is that of space.Dim:
// by rank for ordered knobs, 0 or 1 for others.
type gaussian struct {
	par     scales
	m       [][][]float64 // m_d by knob and values
	amp2    float64
	samples []sample
	chol    mat.Cholesky
	alpha   []float64   // the inverse of the covariance times the residuals
	lower   [][]float64 // the Cholesky factor of the covariance
	k       []float64
}

// alone is the share of a function's variance that is expected of knobs by themselves.
const alone = 0.5

// What is assumed of every function: how far the level of all points may be off, and how
// wrong the prior's slope and a shorter measurement may be.
const (
	levelSD = 0.05
	slopeSD = 0.35
	rungSD  = 0.02
)

// rungNoise is how much noisier a brief trial is than a whole one, as a factor of its
// standard deviation.
func rungNoise(rung int) float64 {
	switch {
	case rung <= 0:
		return math.Sqrt(3)
	case rung == 1:
		return 1
	}
	return math.Sqrt(0.5)
}

// distances tabulates the squared distances of a space's values.
func distances(s *space.Space) [][][]float64 {
	out := make([][][]float64, len(s.Dims))
	for d := range s.Dims {
		dim := &s.Dims[d]
		out[d] = make([][]float64, len(dim.Values))
		for i := range out[d] {
			out[d][i] = make([]float64, len(dim.Values))
			for j := range out[d][i] {
				x := dim.Distance(i, j)
				out[d][i][j] = x * x
			}
		}
	}
	return out
}

// condition computes the posterior under parameters. It reports false where the covariance
// is not positive definite.
func condition(dist [][][]float64, samples []sample, par scales) (*gaussian, bool) {
	n := len(samples)
	g := &gaussian{par: par, samples: samples, m: make([][][]float64, len(dist)), amp2: math.Exp(2 * par.amp)}
	for d := range dist {
		inv := math.Exp(-2 * par.length[d])
		g.m[d] = make([][]float64, len(dist[d]))
		for i, row := range dist[d] {
			g.m[d][i] = make([]float64, len(row))
			for j, r2 := range row {
				g.m[d][i][j] = matern(r2 * inv)
			}
		}
	}
	k := mat.NewSymDense(n, nil)
	r := mat.NewVecDense(n, nil)
	for i := range n {
		a := &samples[i]
		for j := range i {
			k.SetSym(i, j, g.cov(a, &samples[j]))
		}
		e := math.Exp(par.noise) * rungNoise(a.rung)
		k.SetSym(i, i, g.cov(a, a)+e*e+1e-9)
		r.SetVec(i, a.y-a.prior)
	}
	if !g.chol.Factorize(k) {
		return nil, false
	}
	alpha := mat.NewVecDense(n, nil)
	if g.chol.SolveVecTo(alpha, r) != nil {
		return nil, false
	}
	g.alpha = alpha.RawVector().Data
	return g, true
}

func (g *gaussian) cov(a, b *sample) float64 {
	sum, product := 0.0, 1.0
	for d, m := range g.m {
		c := m[a.at[d]][b.at[d]]
		sum += c
		product *= c
	}
	c := g.amp2*(alone*sum/float64(len(g.m))+(1-alone)*product) + slopeSD*slopeSD*a.prior*b.prior + levelSD*levelSD
	if a.rung == b.rung && a.rung != fullRung {
		c += rungSD * rungSD
	}
	return c
}

// matern is the Matérn covariance of smoothness 5/2 at a squared distance.
func matern(r2 float64) float64 {
	r := math.Sqrt(5 * r2)
	return (1 + r + r*r/3) * math.Exp(-r)
}

// predict is the posterior of a whole, noise-free trial at a point.
func (g *gaussian) predict(at space.Point, prior float64) (mean, sd float64) {
	n := len(g.samples)
	if g.lower == nil {
		var l mat.TriDense
		g.chol.LTo(&l)
		g.lower, g.k = make([][]float64, n), make([]float64, n)
		for i := range n {
			g.lower[i] = mat.Row(nil, i, &l)
		}
	}
	x := sample{at: at, rung: fullRung, prior: prior}
	mean, variance := prior, g.cov(&x, &x)
	for i := range g.samples {
		c := g.cov(&x, &g.samples[i])
		mean += c * g.alpha[i]
		row := g.lower[i]
		for j, w := range g.k[:i] {
			c -= row[j] * w
		}
		g.k[i] = c / row[i]
		variance -= g.k[i] * g.k[i]
	}
	return mean, math.Sqrt(max(variance, 1e-12))
}

// evidence is the logarithm of the posterior density of the parameters: marginal likelihood
// and priors that keep few samples from saying too much.
func (g *gaussian) evidence(prior hyper) float64 {
	e := -g.chol.LogDet() / 2
	for i := range g.samples {
		e -= (g.samples[i].y - g.samples[i].prior) * g.alpha[i] / 2
	}
	sq := func(x, mean, sd float64) float64 { z := (x - mean) / sd; return z * z / 2 }
	for _, l := range g.par.length {
		e -= sq(l, prior.length, 1)
	}
	return e - sq(g.par.amp, prior.amp, 0.8) - sq(g.par.noise, prior.noise, 0.6)
}

// hyper are the medians of the priors of the parameters.
type hyper struct{ length, amp, noise float64 }

// fit finds the parameters of the largest evidence by steps along one at a time, from the
// medians, or from those given.
func fit(dist [][][]float64, samples []sample, prior hyper) scales {
	par := scales{length: make([]float64, len(dist)), amp: prior.amp, noise: prior.noise}
	for d := range par.length {
		par.length[d] = prior.length
	}
	value := func() float64 {
		if g, ok := condition(dist, samples, par); ok {
			return g.evidence(prior)
		}
		return math.Inf(-1)
	}
	best := value()
	axes := []*float64{&par.amp, &par.noise}
	for d := range par.length {
		axes = append(axes, &par.length[d])
	}
	for _, step := range []float64{1.2, 0.8, 0.4} {
		for _, axis := range axes {
			was := *axis
			for _, sign := range []float64{1, -1} {
				*axis = was + sign*step
				if e := value(); e > best {
					best = e
					break
				}
				*axis = was
			}
		}
	}
	return par
}
