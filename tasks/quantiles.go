package tasks

import (
	"fmt"
	"math"
)

// Quantiles is a distribution of token counts given by some of its quantiles, with the
// inverse distribution function piecewise linear in the logarithm between them. Below
// the first quantile it goes down to half of it, above the last up to a tenth more.
type Quantiles struct {
	Name   string
	P      []float64 // probabilities, ascending, in (0, 1)
	X      []float64 // tokens, not descending, all above 0
	Source string    // where the table comes from
}

// Validate reports the first thing that is wrong with the table.
func (q *Quantiles) Validate() error {
	if len(q.P) == 0 || len(q.P) != len(q.X) {
		return fmt.Errorf("quantile table %s: %d probabilities and %d values; give one value for each probability", q.Name, len(q.P), len(q.X))
	}
	for i := range q.P {
		switch {
		case !(q.P[i] > 0 && q.P[i] < 1):
			return fmt.Errorf("quantile table %s: probability %g is not between 0 and 1", q.Name, q.P[i])
		case !(q.X[i] > 0) || math.IsInf(q.X[i], 0):
			return fmt.Errorf("quantile table %s: value %g is not a positive number of tokens", q.Name, q.X[i])
		case i > 0 && (q.P[i] <= q.P[i-1] || q.X[i] < q.X[i-1]):
			return fmt.Errorf("quantile table %s: row %d does not ascend", q.Name, i+1)
		}
	}
	return nil
}

// point is the ith knot of the inverse distribution function, from 0 to len(P)+1.
func (q *Quantiles) point(i int) (p, x float64) {
	n := len(q.P)
	switch {
	case i <= 0:
		return 0, math.Max(q.X[0]/2, 0.6)
	case i > n:
		return 1, q.X[n-1] * 1.1
	}
	return q.P[i-1], q.X[i-1]
}

// At is the quantile function, before rounding to whole tokens.
func (q *Quantiles) At(u float64) float64 {
	i := 1
	for i <= len(q.P) && q.P[i-1] < u {
		i++
	}
	p0, x0 := q.point(i - 1)
	p1, x1 := q.point(i)
	if p1 <= p0 {
		return x1
	}
	f := (u - p0) / (p1 - p0)
	return math.Exp(math.Log(x0) + f*(math.Log(x1)-math.Log(x0)))
}

// CDF is the probability of a value of at most x, before rounding to whole tokens.
func (q *Quantiles) CDF(x float64) float64 {
	for i := len(q.P) + 1; i >= 1; i-- {
		p0, x0 := q.point(i - 1)
		p1, x1 := q.point(i)
		if x >= x1 {
			return p1
		}
		if x >= x0 {
			if x1 <= x0 {
				return p1
			}
			return p0 + (p1-p0)*(math.Log(x)-math.Log(x0))/(math.Log(x1)-math.Log(x0))
		}
	}
	return 0
}
