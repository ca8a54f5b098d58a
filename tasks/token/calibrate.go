package token

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Observation is one prompt and how many tokens the server counted in it, what its chat
// template adds included.
type Observation struct {
	Text   string
	Tokens int
}

// Calibration is the rule of thumb of [Estimate] with its weights fitted to a server's own
// counts. It is a [Counter].
type Calibration struct {
	weights [features]float64
	// Template is what the server adds to a prompt, in tokens.
	Template int
	// Observed is how many prompts it was fitted to.
	Observed int
	// Median, P95 and Worst are the relative errors of the prompts, each predicted by a
	// fit to the others.
	Median, P95, Worst float64
}

// Count is the calibrated estimate for a text on its own.
func (c *Calibration) Count(text string) int { return round(dot(measure(text), c.weights)) }

// String says how good the calibration is, in one sentence.
func (c *Calibration) String() string {
	return fmt.Sprintf("token counts calibrated on %d prompts: error median %.1f %%, P95 %.1f %%, worst %.1f %%; the template adds %d", c.Observed, 100*c.Median, 100*c.P95, 100*c.Worst, c.Template)
}

// MinObservations is the least that a calibration is fitted to.
const MinObservations = 8

// Calibrate fits the weights by least squares, each held to the rule of thumb as if a few
// prompts had said so: a feature that the prompts hardly have keeps its usual weight.
func Calibrate(obs []Observation) (*Calibration, error) {
	if len(obs) < MinObservations {
		return nil, fmt.Errorf("calibration: %d prompts with counts; it takes %d", len(obs), MinObservations)
	}
	rows := make([]fitRow, len(obs))
	for i, o := range obs {
		if o.Tokens <= 0 {
			return nil, fmt.Errorf("calibration: prompt %d has a count of %d", i+1, o.Tokens)
		}
		rows[i] = fitRow{measure(o.Text), float64(o.Tokens)}
	}
	w, template, err := fit(rows, -1)
	if err != nil {
		return nil, err
	}
	c := &Calibration{weights: w, Template: round(template), Observed: len(obs)}
	var errs []float64
	for i, r := range rows {
		w, template, err := fit(rows, i)
		if err != nil {
			return nil, err
		}
		errs = append(errs, math.Abs(dot(r.f, w)+template-r.y)/r.y)
	}
	slices.Sort(errs)
	c.Median, c.P95, c.Worst = errs[len(errs)/2], errs[len(errs)*95/100], errs[len(errs)-1]
	return c, nil
}

type fitRow struct {
	f [features]float64
	y float64
}

// prior is how strongly a weight is held to the rule of thumb.
const prior = 100.0

// fit leaves row skip out. Rows are weighted by 1/y², so that relative errors count.
func fit(rows []fitRow, skip int) (w [features]float64, template float64, err error) {
	const n = features + 1
	a := mat.NewSymDense(n, nil)
	b := mat.NewVecDense(n, nil)
	add := func(x [n]float64, y, weight float64) {
		for i := range n {
			b.SetVec(i, b.AtVec(i)+weight*x[i]*y)
			for j := i; j < n; j++ {
				a.SetSym(i, j, a.At(i, j)+weight*x[i]*x[j])
			}
		}
	}
	for i, r := range rows {
		if i == skip {
			continue
		}
		var x [n]float64
		copy(x[:], r.f[:])
		x[features] = 1
		add(x, r.y, 1/(r.y*r.y))
	}
	for i := range features {
		var x [n]float64
		x[i] = 1
		add(x, ruleOfThumb[i], prior*1e-6)
	}
	var x [n]float64
	x[features] = 1
	add(x, 10, 1e-6)
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return w, 0, errors.New("calibration: the prompts are too much alike")
	}
	var v mat.VecDense
	if err := chol.SolveVecTo(&v, b); err != nil {
		return w, 0, fmt.Errorf("calibration: %w", err)
	}
	for i := range features {
		w[i] = v.AtVec(i)
	}
	return w, v.AtVec(features), nil
}
