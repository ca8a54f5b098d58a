package director

import (
	"context"
	"slices"
)

// Weakness is traffic that breaks an objective, as small a change from the baseline as was
// found.
type Weakness struct {
	Objective string             `json:"objective"`
	Settings  map[string]float64 `json:"settings"`
	Changes   []Change           `json:"changes"`
	// Found are the changes of the traffic that it was found with, before reduction.
	Found    []Change `json:"found"`
	Score    float64  `json:"score"`    // logarithm of measured over allowed
	Observed string   `json:"observed"` // in words
	// Broke of Tries runs of the traffic with different seeds broke the objective.
	Broke int `json:"broke"`
	Tries int `json:"tries"`
	// Phases is how many phases had been explored when it was found.
	Phases int   `json:"phases"`
	Point  Point `json:"-"`
	// Workload is the file that reproduces it; "" until one is written.
	Workload string `json:"workload,omitempty"`
}

// Map is what a search found.
type Map struct {
	Space      Space      `json:"-"`
	Weaknesses []Weakness `json:"weaknesses"`
	// Unconfirmed are objectives that were missed once and not again.
	Unconfirmed []Weakness `json:"unconfirmed,omitempty"`
	Tried       []Tried    `json:"tried"`
	Explored    int        `json:"explored"` // phases of the search's budget
	ByModel     int        `json:"by_model"` // of these, proposed by a model
	Refused     int        `json:"refused"`  // proposals of a model that could not be used
}

// weakness confirms that p breaks the objective and makes it smaller.
func (r *runner) weakness(ctx context.Context, p Point, objective string) error {
	w := Weakness{Objective: objective, Point: p, Found: r.s.Space.Changes(p), Phases: r.m.Explored}
	w.Broke, w.Tries = 1, 1
	repeats := r.s.Repeats
	if repeats == 0 {
		repeats = 3
	}
	again := 0
	for k := range repeats {
		out, err := r.try(ctx, p, ByConfirm, r.s.Seed+uint64(k)+1)
		if err != nil {
			return err
		}
		w.Tries++
		if out.Scores[objective] > 0 {
			w.Broke++
			again++
		}
	}
	if again*2 <= repeats {
		w.Settings, w.Changes = r.s.Space.Values(p), w.Found
		r.m.Unconfirmed = append(r.m.Unconfirmed, w)
		return nil
	}
	if err := r.reduce(ctx, &w); err != nil {
		return err
	}
	r.found[objective] = true
	w.Settings, w.Changes = r.s.Space.Values(w.Point), r.s.Space.Changes(w.Point)
	r.m.Weaknesses = append(r.m.Weaknesses, w)
	return nil
}

// reduce takes changes back, first whole and then step by step, as long as the objective
// stays broken with two seeds.
func (r *runner) reduce(ctx context.Context, w *Weakness) error {
	left := r.s.Reduce
	if left == 0 {
		left = 24
	}
	broken := func(p Point) (bool, error) {
		for k := range uint64(2) {
			left--
			out, err := r.try(ctx, p, ByReduce, r.s.Seed+k)
			if err != nil {
				return false, err
			}
			score, ok := out.Scores[w.Objective]
			if !ok || score <= 0 {
				return false, nil
			}
			w.Score, w.Observed = score, out.Observed[w.Objective]
		}
		return true, nil
	}
	p := slices.Clone(w.Point)
	for _, whole := range []bool{true, false} {
		for changed := true; changed && left >= 2; {
			changed = false
			for i := range p {
				base := r.s.Space[i].Baseline
				if p[i] == base || left < 2 {
					continue
				}
				q := slices.Clone(p)
				switch {
				case whole:
					q[i] = base
				case p[i] > base:
					q[i]--
				default:
					q[i]++
				}
				ok, err := broken(q)
				if err != nil {
					return err
				}
				if ok {
					p, changed = q, true
				}
			}
			if whole {
				break // a change that is needed stays needed as others go
			}
		}
	}
	if slices.Equal(p, w.Point) || w.Observed == "" {
		out, err := r.try(ctx, p, ByReduce, r.s.Seed)
		if err != nil {
			return err
		}
		w.Score, w.Observed = out.Scores[w.Objective], out.Observed[w.Objective]
	}
	w.Point = p
	return nil
}
