package chart

import "math"

// Span is a closed interval of values. The zero Span means "take it from the data".
type Span struct{ Lo, Hi float64 }

func (s Span) empty() bool { return s.Lo == 0 && s.Hi == 0 }

// include widens s, which is unset when ok is false, to hold v.
func (s Span) include(v float64, ok bool) Span {
	if !ok {
		return Span{v, v}
	}
	return Span{math.Min(s.Lo, v), math.Max(s.Hi, v)}
}

// Ticks returns round values that cover lo to hi in about n steps of 1, 2 or 5 times a
// power of ten. The first is not below lo and the last not above hi.
func Ticks(lo, hi float64, n int) []float64 {
	if !(hi > lo) || n < 1 {
		return nil
	}
	return multiples(lo, hi, niceStep((hi-lo)/float64(n)))
}

// niceStep is the smallest of 1, 2, 5 times a power of ten that is not below raw.
func niceStep(raw float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= raw*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// timeSteps are the steps, in seconds, that a time axis uses.
var timeSteps = []float64{
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
	60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
}

// TimeTicks returns ticks of a time axis in seconds, at steps people count in.
func TimeTicks(lo, hi float64, n int) []float64 {
	if !(hi > lo) || n < 1 {
		return nil
	}
	for _, s := range timeSteps {
		if (hi-lo)/s <= float64(n) {
			return multiples(lo, hi, s)
		}
	}
	return Ticks(lo, hi, n)
}

// LogTicks returns ticks of a logarithmic axis: the powers of ten in lo to hi, with 2 and
// 5 times them where there are fewer than three.
func LogTicks(lo, hi float64) []float64 {
	if !(lo > 0) || !(hi > lo) {
		return nil
	}
	var tens, all []float64
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				all = append(all, v)
				if m == 1 {
					tens = append(tens, v)
				}
			}
		}
	}
	if len(tens) >= 4 {
		return tens
	}
	return all
}

func multiples(lo, hi, step float64) []float64 {
	var out []float64
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9; i++ {
		v := i * step
		if math.Abs(v) < step*1e-9 {
			v = 0
		}
		out = append(out, v)
	}
	return out
}

// axis maps values to 0..1.
type axis struct {
	span Span
	log  bool
}

func (a axis) at(v float64) float64 {
	lo, hi := a.span.Lo, a.span.Hi
	if a.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	if hi == lo {
		return 0.5
	}
	return (v - lo) / (hi - lo)
}

// roundUp widens a span that starts at or above zero to [0, a tick at or above hi].
func roundUp(s Span, n int) Span {
	if s.Lo > 0 {
		s.Lo = 0
	}
	if !(s.Hi > s.Lo) {
		s.Hi = s.Lo + 1
	}
	step := niceStep((s.Hi - s.Lo) / float64(n))
	s.Hi = math.Ceil(s.Hi/step-1e-9) * step
	s.Lo = math.Floor(s.Lo/step+1e-9) * step
	return s
}
