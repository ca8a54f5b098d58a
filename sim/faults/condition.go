package faults

import (
	"fmt"
	"strings"
)

// Severity grades a condition.
type Severity int

// The severities.
const (
	Low Severity = iota
	Mid
	High
)

// String is "low", "mid" or "high".
func (s Severity) String() string { return [...]string{"low", "mid", "high"}[s] }

// pick chooses by severity.
func pick[T any](s Severity, low, mid, high T) T { return [...]T{low, mid, high}[s] }

// Condition is one state of the world with a known cause.
type Condition struct {
	ID   string // F00 to F24
	Name string
	// Cause is the right primary verdict, in the words of the analyst's cause ids; "" when
	// nothing is wrong.
	Cause string
	// Accept lists further verdicts that are also right.
	Accept []string
	// Secondary lists causes that may truthfully be named beside the primary.
	Secondary []string
	// Chain is how the cause becomes the symptom, each link measurable in the records.
	Chain []string
	// Signals are those without which the cause cannot be told, as sample names or record
	// fields. Where one is withheld, "undecided" is right.
	Signals []string
	// Timed conditions can start and end while the server runs; the others are there from the
	// start, as a launch flag or the load itself is.
	Timed bool

	build func(s *scenario) error
}

// Conditions lists the suite in order.
func Conditions() []Condition {
	list := append(loadConditions(), engineConditions()...)
	list = append(list, pathConditions()...)
	list = append(list, deviceConditions()...)
	byID := make(map[string]Condition, len(list))
	for _, c := range list {
		byID[c.ID] = c
	}
	out := make([]Condition, 0, len(list))
	for i := range list {
		out = append(out, byID[fmt.Sprintf("F%02d", i)])
	}
	return out
}

// Lookup returns the condition of that id; case does not matter.
func Lookup(id string) (Condition, error) {
	for _, c := range Conditions() {
		if strings.EqualFold(c.ID, id) {
			return c, nil
		}
	}
	return Condition{}, fmt.Errorf("no fault condition %q: known are F00 to F24", id)
}

// Right reports whether a verdict's cause is right for the condition; "" is the verdict
// that nothing is wrong.
func (c Condition) Right(cause string) bool {
	if cause == c.Cause {
		return true
	}
	for _, a := range c.Accept {
		if cause == a {
			return true
		}
	}
	return false
}
