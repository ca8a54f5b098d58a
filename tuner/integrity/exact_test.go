package integrity

import (
	"math"
	"testing"
)

func TestExact(t *testing.T) {
	for _, row := range []struct {
		name      string
		got, want float64
	}{
		{"eight of eight against none of eight is one of 12,870 tables", fisherMore(0, 8, 8, 8), 1.0 / 12870},
		{"the lady who tasted tea: three of four against one of four", fisherMore(1, 4, 3, 4), 17.0 / 70},
		{"no difference at all", fisherMore(3, 10, 3, 10), 1 - fisherLess(3, 10, 3, 10)},
		{"none in either sample says nothing", fisherMore(0, 5, 0, 9), 1},
		{"three of twenty at a half", binomialAtMost(3, 20, 0.5), 1351.0 / 1048576},
		{"twelve against none", signTest(12, 0), math.Pow(0.5, 12)},
		{"no pair that differs", signTest(0, 0), 1},
		{"six below six", rankSum([]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}), 1.0 / 924},
		{"one pair of nine out of order", rankSum([]float64{1, 2, 4}, []float64{3, 5, 6}), 2.0 / 20},
		{"equal values count as out of order", rankSum([]float64{1, 1}, []float64{1, 1}), 1},
	} {
		if math.Abs(row.got-row.want) > 1e-9 {
			t.Errorf("%s: p = %.6g; want %.6g", row.name, row.got, row.want)
		}
	}
}

// fisherLess is the p of strictly fewer in the second sample, by counting tables.
func fisherLess(k1, n1, k2, n2 int) float64 {
	sum := 0.0
	for x := max(0, k1+k2-n1); x < k2; x++ {
		sum += math.Exp(lchoose(n2, x) + lchoose(n1, k1+k2-x) - lchoose(n1+n2, k1+k2))
	}
	return sum
}
