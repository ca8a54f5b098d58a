package stats

import "math"

// Z95 is the standard normal quantile of a two-sided interval of 95 %.
const Z95 = 1.959963984540054

// Interval is a closed interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Contains reports whether x lies in the interval.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// Wilson returns Wilson's score interval for k right answers of n at the normal quantile
// z: with p = k/n,
//
//	(p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n)
//
// It stays inside [0, 1] and is usable at k = 0 and k = n, where the textbook interval
// collapses. n below 1 gives [0, 1]: nothing is known. Source: E. B. Wilson, Journal of
// the American Statistical Association 22 (1927).
func Wilson(k, n int, z float64) Interval {
	if n < 1 {
		return Interval{0, 1}
	}
	nf := float64(n)
	p, z2 := float64(k)/nf, z*z
	centre := (p + z2/(2*nf)) / (1 + z2/nf)
	half := z / (1 + z2/nf) * math.Sqrt(p*(1-p)/nf+z2/(4*nf*nf))
	return Interval{max(0, centre-half), min(1, centre+half)}
}
