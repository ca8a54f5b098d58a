package director

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// surrogate is a Gaussian process over the points of a space. Its kernel is half additive,
// one term a setting, so that what one setting does is learned from few phases, and half
// joint, so that combinations can be worse than their parts.
type surrogate struct {
	space Space
	xs    [][]float64
	mean  float64
	alpha *mat.VecDense
	chol  mat.Cholesky
}

// Kernel constants: lengths in units of a setting's whole range, and the noise of one
// phase against the spread of all.
const (
	lengthOne   = 0.6
	lengthJoint = 0.9
	noise       = 0.05
)

// coordinates puts a point into the unit cube, by rank of its values.
func (s Space) coordinates(p Point) []float64 {
	x := make([]float64, len(p))
	for i := range p {
		if n := len(s[i].Values); n > 1 {
			x[i] = float64(p[i]) / float64(n-1)
		}
	}
	return x
}

func kernel(a, b []float64) float64 {
	var one, joint float64
	for i := range a {
		d := (a[i] - b[i]) * (a[i] - b[i])
		one += math.Exp(-d / (2 * lengthOne * lengthOne))
		joint += d
	}
	return 0.5*one/float64(len(a)) + 0.5*math.Exp(-joint/(2*lengthJoint*lengthJoint))
}

// fit returns nil when the observations support no model.
func fit(s Space, points []Point, y []float64) *surrogate {
	g := &surrogate{space: s}
	n := len(points)
	if n < 2 {
		return nil
	}
	for _, p := range points {
		g.xs = append(g.xs, s.coordinates(p))
	}
	for _, v := range y {
		g.mean += v / float64(n)
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := kernel(g.xs[i], g.xs[j])
			if i == j {
				v += noise
			}
			k.SetSym(i, j, v)
		}
	}
	if !g.chol.Factorize(k) {
		return nil
	}
	c := mat.NewVecDense(n, nil)
	for i, v := range y {
		c.SetVec(i, v-g.mean)
	}
	g.alpha = mat.NewVecDense(n, nil)
	if g.chol.SolveVecTo(g.alpha, c) != nil {
		return nil
	}
	return g
}

// predict returns the mean and the standard deviation at a point.
func (g *surrogate) predict(p Point) (mean, sd float64) {
	x := g.space.coordinates(p)
	k := mat.NewVecDense(len(g.xs), nil)
	for i := range g.xs {
		k.SetVec(i, kernel(x, g.xs[i]))
	}
	mean = g.mean + mat.Dot(k, g.alpha)
	var v mat.VecDense
	if g.chol.SolveVecTo(&v, k) != nil {
		return mean, 0
	}
	return mean, math.Sqrt(math.Max(1-mat.Dot(k, &v), 1e-9))
}

// improvement is the expected improvement over best.
func improvement(mean, sd, best float64) float64 {
	z := (mean - best) / sd
	return (mean-best)*0.5*math.Erfc(-z/math.Sqrt2) + sd*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
}
