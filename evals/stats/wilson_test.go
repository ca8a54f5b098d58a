package stats

import (
	"math"
	"testing"
)

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64 // per cent, to one decimal
	}{
		{10, 20, 29.9, 70.1}, {16, 20, 58.4, 91.9}, {18, 20, 69.9, 97.2}, {20, 20, 83.9, 100},
		{25, 50, 36.6, 63.4}, {40, 50, 67.0, 88.8}, {50, 50, 92.9, 100},
		{50, 100, 40.4, 59.6}, {80, 100, 71.1, 86.7}, {82, 164, 42.4, 57.6}, {164, 164, 97.7, 100},
		{320, 400, 75.8, 83.6}, {1319, 1319, 99.7, 100}, {0, 20, 0, 16.1}, {0, 0, 0, 100},
	} {
		got := Wilson(c.k, c.n, Z95)
		if math.Abs(got.Low*100-c.low) > 0.051 || math.Abs(got.High*100-c.high) > 0.051 {
			t.Errorf("Wilson(%d, %d) = %.2f to %.2f %%; want %.1f to %.1f", c.k, c.n, got.Low*100, got.High*100, c.low, c.high)
		}
	}
}
