package stats

import (
	"math"
	"slices"
)

// AtLoad is one scored item and how many requests were open when it was sent.
type AtLoad struct {
	InFlight int
	Right    bool
}

// LoadLevel is the accuracy over one range of concurrency.
type LoadLevel struct {
	Low, High int // requests in flight, inclusive
	Right, N  int
	Interval  Interval
}

// LoadTrend is how accuracy moves with load.
type LoadTrend struct {
	Levels []LoadLevel
	// Z is the Cochran-Armitage statistic of a linear trend over the levels; negative
	// means that accuracy falls as load rises. P is its two-sided p-value. With one level,
	// or with all answers alike, Z is 0 and P is 1.
	Z, P float64
}

// minLevel is the fewest items that make a level of their own.
const minLevel = 10

// ByLoad groups scored items into at most `levels` levels of equal size by the load they
// met, and tests for a trend. Items at the same load are never split.
func ByLoad(items []AtLoad, levels int) LoadTrend {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b AtLoad) int { return a.InFlight - b.InFlight })
	size := max(minLevel, (len(sorted)+max(1, levels)-1)/max(1, levels))
	var t LoadTrend
	for i := 0; i < len(sorted); {
		l := LoadLevel{Low: sorted[i].InFlight}
		for i < len(sorted) && (l.N < size || sorted[i].InFlight == l.High) {
			l.High = sorted[i].InFlight
			l.N++
			if sorted[i].Right {
				l.Right++
			}
			i++
		}
		if len(t.Levels) > 0 && l.N < minLevel {
			last := &t.Levels[len(t.Levels)-1]
			last.High, last.N, last.Right = l.High, last.N+l.N, last.Right+l.Right
			continue
		}
		t.Levels = append(t.Levels, l)
	}
	for i := range t.Levels {
		t.Levels[i].Interval = Wilson(t.Levels[i].Right, t.Levels[i].N, Z95)
	}
	t.Z, t.P = armitage(t.Levels)
	return t
}

// armitage is the Cochran-Armitage test with the levels' ranks as doses.
func armitage(levels []LoadLevel) (z, p float64) {
	n, right, sx, sxx, sxr := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, l := range levels {
		x, k := float64(i), float64(l.N)
		n += k
		right += float64(l.Right)
		sx += k * x
		sxx += k * x * x
		sxr += x * float64(l.Right)
	}
	if n == 0 {
		return 0, 1
	}
	share := right / n
	variance := share * (1 - share) * (sxx - sx*sx/n)
	if variance <= 0 {
		return 0, 1
	}
	z = (sxr - share*sx) / math.Sqrt(variance)
	return z, math.Erfc(math.Abs(z) / math.Sqrt2)
}
