package chart

import "math"

// Thin reduces a line to at most n points by largest-triangle-three-buckets (S.
// Steinarsson, "Downsampling Time Series for Visual Representation", 2013): the first and
// last points stay, and of every bucket the point that makes the largest triangle with
// its neighbours, so peaks survive. x must not fall. Inputs are not changed; they are
// returned as they are when they are short enough.
func Thin(x, y []float64, n int) (tx, ty []float64) {
	if len(x) <= n || n < 3 {
		return x, y
	}
	tx, ty = make([]float64, 0, n), make([]float64, 0, n)
	keep := func(i int) { tx, ty = append(tx, x[i]), append(ty, y[i]) }
	keep(0)
	size := float64(len(x)-2) / float64(n-2)
	last := 0
	for b := range n - 2 {
		from, to := 1+int(float64(b)*size), 1+int(float64(b+1)*size)
		nextTo := min(1+int(float64(b+2)*size), len(x))
		ax, ay := mean(x[to:nextTo]), mean(y[to:nextTo])
		best, area := from, -1.0
		for i := from; i < to; i++ {
			if a := math.Abs((x[last]-ax)*(y[i]-y[last]) - (x[last]-x[i])*(ay-y[last])); a > area {
				best, area = i, a
			}
		}
		keep(best)
		last = best
	}
	keep(len(x) - 1)
	return tx, ty
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(max(len(v), 1))
}
