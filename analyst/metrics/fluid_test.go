package metrics

import (
	"math"
	"slices"
	"testing"
)

func TestFluidity(t *testing.T) {
	for _, c := range []struct {
		name  string
		first float64
		gaps  []float64
		want  float64
	}{
		{"every token in time", 100, []float64{50, 50, 50}, 1},
		{"an early first token gives slack to a late second", 100, []float64{200, 50}, 1},
		{"a stall of four deadlines loses four of six", 300, []float64{50, 200}, 1 - 4.0/6},
		{"a first token that is 100 ms late loses three deadlines", 400, []float64{50}, 1 - 3.0/4},
	} {
		if got, ok := Fluidity(c.first, slices.Values(c.gaps), 300, 50); !ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, %v; want %v", c.name, got, ok, c.want)
		}
	}
	if _, ok := Fluidity(1, slices.Values([]float64{}), 0, 50); ok {
		t.Error("a deadline of zero has an index")
	}
}
