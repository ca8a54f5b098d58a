package longdoc

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	for _, chars := range []int{8_000, 32_000, 128_000, 500_000} {
		for _, ask := range Asks() {
			for _, depth := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
				spec := Spec{Seed: 7, Chars: chars, Depth: depth, Ask: ask}
				d := Write(spec)
				if n := len(d.Text); n < chars || n > chars+1500 {
					t.Errorf("%+v: %d characters; want %d", spec, n, chars)
				}
				if ask == Single || ask == Update || ask == TwoHop {
					if n := strings.Count(d.Text, d.Answer); n != 1 {
						t.Errorf("%+v: the answer %s occurs %d times; want once", spec, d.Answer, n)
					}
					where := float64(strings.Index(d.Text, d.Answer)) / float64(len(d.Text))
					if off := where - depth; ask == Single && (off < -0.02 || off > 0.15) {
						t.Errorf("%+v: the answer stands at %.2f", spec, where)
					}
				}
				if ask == Missing && (d.Answer != NotStated || len(d.Decoys) == 0) {
					t.Errorf("%+v: answer %q, %d decoys", spec, d.Answer, len(d.Decoys))
				}
				for _, dec := range d.Decoys {
					if dec == d.Answer || strings.Count(d.Text, dec) != 1 {
						t.Errorf("%+v: decoy %s is the answer or does not occur once", spec, dec)
					}
				}
				if again := Write(spec); again.Text != d.Text || again.Answer != d.Answer || again.Question != d.Question {
					t.Errorf("%+v: written differently the second time", spec)
				}
				if ask == Update && strings.Index(d.Text, "replaced by seal "+d.Answer) < strings.Index(d.Text, d.Decoys[0]) {
					t.Errorf("%+v: the update stands before what it updates", spec)
				}
			}
		}
	}
}

func TestPlacesOccurOnce(t *testing.T) {
	d := Write(Spec{Seed: 3, Chars: 128_000, Depth: 0.5, Ask: Single})
	place := strings.TrimSuffix(strings.TrimPrefix(d.Question, "With which seal was the store room at "), " closed?")
	if n := strings.Count(d.Text, place+" "); n != 1 {
		t.Errorf("the asked place %q occurs %d times; want once", place, n)
	}
}
