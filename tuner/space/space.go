// Package space describes what a study may change: knobs with a few values each, what may
// not be combined, and where the server stands now.
//
// A space is a finite grid. A number that could take any value gets the values worth
// trying, in order, so that a model of the space may use the order and nothing else.
package space

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Assignment is one configuration: knob names and values as they are typed. A knob that is
// absent is left as the server has it by default.
type Assignment map[string]string

// Key is the assignment as one line, equal for equal assignments: "a=1 b=2", sorted, and ""
// for the default.
func (a Assignment) Key() string {
	parts := make([]string, 0, len(a))
	for k, v := range a {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// Dim is one knob.
type Dim struct {
	Name string
	// Values are what may be chosen. The empty string leaves the knob unset.
	Values []string
	// Ordered says that Values ascend, so that neighbours are alike.
	Ordered bool
	// Unset is what the server runs with when the knob is left unset, as typed; "" where that
	// is not known. An ordered knob's unset value then stands in its place among Values,
	// and first where it is not known.
	Unset string
	// Live says that a change needs no restart; Quality that it may change the answers.
	Live, Quality bool
	// Margin is the loss of accuracy that does not matter where Quality is set, such as 0.02:
	// searches leave the knob unset where a study cannot show that the loss is smaller. 0
	// lets them set it in any case.
	Margin float64
	// Relieves lists the causes that the knob helps against, as engines.Causes names them.
	Relieves []string
}

// Constraint rules out assignments before anything is launched.
type Constraint struct {
	Name string
	// Check returns why the assignment cannot work, or nil.
	Check func(Assignment) error
}

// Space is a finite set of assignments.
type Space struct {
	Dims        []Dim
	Constraints []Constraint

	points listed
}

// Point is an assignment as one index into Values for each of Dims.
type Point []int

// At is the assignment of a point. Unset knobs are left out.
func (s *Space) At(p Point) Assignment {
	a := Assignment{}
	for i, d := range s.Dims {
		if v := d.Values[p[i]]; v != "" {
			a[d.Name] = v
		}
	}
	return a
}

// Point finds an assignment's place in the grid, or says which knob or value is not in it.
func (s *Space) Point(a Assignment) (Point, error) {
	p := make(Point, len(s.Dims))
	left := len(a)
	for i, d := range s.Dims {
		v, set := a[d.Name]
		if set {
			left--
		}
		p[i] = slices.Index(d.Values, v)
		if p[i] < 0 && !set {
			return nil, fmt.Errorf("%s must be set to one of %v", d.Name, d.Values)
		}
		if p[i] < 0 {
			return nil, fmt.Errorf("%s=%s is not one of %v", d.Name, v, d.Values)
		}
	}
	if left > 0 {
		for k := range a {
			if !slices.ContainsFunc(s.Dims, func(d Dim) bool { return d.Name == k }) {
				return nil, fmt.Errorf("%s is no knob of this study", k)
			}
		}
	}
	return p, nil
}

// Size is the number of points, constraints not counted, at most the largest int.
func (s *Space) Size() int {
	n := 1
	for _, d := range s.Dims {
		if k := len(d.Values); k > 0 && n > math.MaxInt/k {
			return math.MaxInt
		}
		n *= len(d.Values)
	}
	return n
}

// Check returns every reason for which an assignment cannot work, joined, or nil.
func (s *Space) Check(a Assignment) error {
	var errs []error
	for _, c := range s.Constraints {
		if err := c.Check(a); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}
