// Package lessons reads what a study learned off its trials: which knobs mattered, who
// predicted well, what fails, and which configurations no other one beats in everything.
//
// All functions are pure. What they say is of the search, and so a description of what was
// tried; what is proved stands in the certification.
package lessons

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Importance is how much of what the trials differ by a knob explains.
type Importance struct {
	Knob string `json:"knob"`
	// Share of the variance of the scores that the knob's main effect explains, 0 to 1. The
	// shares of all knobs and the rest, which is interactions and noise, add up to 1.
	Share float64 `json:"share"`
	// Levels are the effects of the values that were tried.
	Levels []Level `json:"levels"`
}

// Level is what one value of a knob does on average, the other knobs accounted for.
type Level struct {
	Value  string  `json:"value"`  // "" is unset
	Effect float64 `json:"effect"` // ln, against the knob's mean; more is better
	Trials int     `json:"trials"`
}

// leastTrials is how many measured configurations an attribution to knobs takes.
const leastTrials = 6

// ridge keeps the effects of values that were tried once or twice small.
const ridge = 0.1

// Importances returns the knobs by the share of variance that their main effects explain,
// largest first, by a ridge regression of the drift-corrected gains on the values of all
// knobs. rest is what the main effects leave unexplained. It is empty where fewer than six
// configurations were measured.
func Importances(s *tuner.Study, sp *space.Space, trials []tuner.Trial) (out []Importance, rest float64) {
	rows := scores(s, trials)
	if len(rows) < leastTrials {
		return nil, 1
	}
	type column struct{ dim, value int }
	var cols []column
	at := map[column]int{}
	points := make([]space.Point, 0, len(rows))
	kept := rows[:0]
	for _, r := range rows {
		p, err := sp.Point(r.config)
		if err != nil {
			continue
		}
		points, kept = append(points, p), append(kept, r)
		for d, v := range p {
			c := column{d, v}
			if _, ok := at[c]; !ok {
				at[c] = len(cols)
				cols = append(cols, c)
			}
		}
	}
	if rows = kept; len(rows) < leastTrials {
		return nil, 1
	}
	mean := 0.0
	for _, r := range rows {
		mean += r.score / float64(len(rows))
	}
	n := len(cols)
	a, b := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i, r := range rows {
		for d, v := range points[i] {
			x := at[column{d, v}]
			b.SetVec(x, b.AtVec(x)+r.score-mean)
			for e, w := range points[i] {
				if y := at[column{e, w}]; x <= y {
					a.SetSym(x, y, a.At(x, y)+1)
				}
			}
		}
	}
	for i := range n {
		a.SetSym(i, i, a.At(i, i)+ridge)
	}
	var chol mat.Cholesky
	var beta mat.VecDense
	if !chol.Factorize(a) || chol.SolveVecTo(&beta, b) != nil {
		return nil, 1
	}
	total := 0.0
	for _, r := range rows {
		total += (r.score - mean) * (r.score - mean)
	}
	if total == 0 {
		return nil, 1
	}
	explained := 0.0
	for d, dim := range sp.Dims {
		im := Importance{Knob: dim.Name}
		center, ss := 0.0, 0.0
		for i := range rows {
			center += beta.AtVec(at[column{d, points[i][d]}]) / float64(len(rows))
		}
		for i := range rows {
			e := beta.AtVec(at[column{d, points[i][d]}]) - center
			ss += e * e
		}
		im.Share = ss / total
		for v, name := range dim.Values {
			c := column{d, v}
			if k, ok := at[c]; ok {
				l := Level{Value: name, Effect: beta.AtVec(k) - center}
				for i := range rows {
					if points[i][d] == v {
						l.Trials++
					}
				}
				im.Levels = append(im.Levels, l)
			}
		}
		explained += im.Share
		out = append(out, im)
	}
	if explained > 1 { // effects of knobs that were changed together are counted twice
		for i := range out {
			out[i].Share /= explained
		}
		explained = 1
	}
	slices.SortStableFunc(out, func(x, y Importance) int {
		switch {
		case x.Share > y.Share:
			return -1
		case x.Share < y.Share:
			return 1
		}
		return 0
	})
	return out, 1 - explained
}

// row is one configuration with its score.
type row struct {
	config space.Assignment
	score  float64
}

// scores are the drift-corrected gains over the default under the same load, one a
// configuration: of its longest trials.
func scores(s *tuner.Study, trials []tuner.Trial) []row {
	offsets, _ := tuner.Drift(s.Goal, trials)
	type mean struct{ sum, n float64 }
	base := map[tuner.Load]mean{}
	value := func(i int) (float64, bool) {
		t := &trials[i]
		v, ok := s.Goal.Score(&t.Measurement).Get()
		return v - offsets[i], ok && !t.Load.HeldOut && t.Role != tuner.RoleBlock
	}
	for i := range trials {
		if v, ok := value(i); ok && trials[i].Role == tuner.RoleDefault {
			m := base[trials[i].Load]
			base[trials[i].Load] = mean{m.sum + v, m.n + 1}
		}
	}
	best := map[string]int{} // rung
	sums := map[string]mean{}
	var order []space.Assignment
	for i := range trials {
		t := &trials[i]
		v, ok := value(i)
		b := base[t.Load]
		if !ok || b.n == 0 {
			continue
		}
		key := t.Config.Key()
		rung, seen := best[key]
		switch {
		case !seen:
			order = append(order, t.Config)
		case t.Load.Rung < rung:
			continue
		case t.Load.Rung > rung:
			sums[key] = mean{}
		}
		best[key] = t.Load.Rung
		sums[key] = mean{sums[key].sum + v - b.sum/b.n, sums[key].n + 1}
	}
	out := make([]row, len(order))
	for i, c := range order {
		out[i] = row{c, sums[c.Key()].sum / sums[c.Key()].n}
	}
	return out
}
