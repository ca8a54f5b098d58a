package faults

import (
	"fmt"
	"strings"
)

// Pairs lists conditions that can hold together and that each leave a trace of their own,
// as ids that Play takes: the first makes the load, the second lies elsewhere.
func Pairs() []string {
	return []string{
		"F05+F15", "F04+F15", "F02+F15", "F05+F07", "F03+F19", "F05+F24",
		"F04+F19", "F11+F15", "F12+F15", "F03+F15", "F02+F19", "F05+F19",
	}
}

// lookupPair returns the condition of an id, and the second one of an id such as "F05+F15".
func lookupPair(id string) (first Condition, second *Condition, err error) {
	a, b, two := strings.Cut(id, "+")
	if first, err = Lookup(a); err != nil || !two {
		return first, nil, err
	}
	other, err := Lookup(b)
	if err != nil {
		return first, nil, err
	}
	if other.ID == first.ID {
		return first, nil, fmt.Errorf("fault %s: the same condition twice", id)
	}
	return first, &other, nil
}

// join builds a second condition over the first, under the load of the first.
func (s *scenario) join(second *Condition) error {
	load, users, knob, shape := s.load, s.run.Concurrency, s.knob, s.shape
	if err := second.build(s); err != nil {
		return err
	}
	s.knob = knob + "; " + s.knob
	s.load, s.run.Concurrency = load, users
	if second.ID != "F12" { // its fault lies in shared beginnings, so that it keeps its traffic
		s.shape = shape
	}
	return nil
}
