package landscape

import (
	"math"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// The standard deviations of a quirk's effect on ln value: of one value of one knob, and of
// a pair of values of two quirks, or of a quirk and a knob without order. quirkLatency is
// what a gain takes off the latencies, as a share of it.
const (
	quirkSD      = 0.055
	pairSD       = 0.03
	quirkLatency = 0.7
)

// quirk is the effect of an assignment's quirks on ln value, signed so that more is better.
// Values next to each other of an ordered knob are alike: the effect walks along the axis.
// On a still landscape no quirk helps.
func (s *Spec) quirk(a space.Assignment) float64 {
	total := 0.0
	sign := func(e float64) float64 {
		if s.Still {
			return -math.Abs(e)
		}
		return e
	}
	for i := range s.Quirks {
		d := &s.Quirks[i]
		v, set := a[d.Name]
		if !set {
			continue
		}
		if d.Ordered {
			total += sign(s.walk(d, v))
		} else {
			total += sign(quirkSD * normalOf(s.Name, d.Name, v))
		}
		for _, others := range [][]space.Dim{s.Quirks[:i], s.Dims} {
			for j := range others {
				if o := &others[j]; !o.Ordered && a[o.Name] != "" {
					total += sign(pairSD * normalOf(s.Name, d.Name, v, o.Name, a[o.Name]))
				}
			}
		}
	}
	return total
}

// walk is the effect of an ordered knob's value: steps away from the unset value added up.
func (s *Spec) walk(d *space.Dim, value string) float64 {
	at, from := 0, 0
	for i, v := range d.Values {
		if v == value {
			at = i
		}
		if v == "" {
			from = i
		}
	}
	sum := 0.0
	for i := min(at, from); i < max(at, from); i++ {
		sum += quirkSD * normalOf(s.Name, d.Name, i)
	}
	return sum
}
