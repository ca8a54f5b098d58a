package arrival

import (
	"fmt"
	"math"
)

// Gaps is the distribution of the gaps of a renewal process, with mean 1. Gap(n) is the
// gap before arrival n, a function of n alone, and safe for concurrent use.
type Gaps interface{ Gap(n uint64) float64 }

// Even is gaps that are all alike, the first zero: arrival n has exactly n/rate behind it.
type Even struct{}

// Gap implements [Gaps].
func (Even) Gap(n uint64) float64 { return float64(min(n, 1)) }

// Exponential is the gaps of a Poisson process: CV 1.
type Exponential struct{ Seed uint64 }

// Gap implements [Gaps].
func (g Exponential) Gap(n uint64) float64 { return exponential(g.Seed, n) }

// Gamma is gamma-distributed gaps of shape k = 1/CV² and scale 1/k: burstier than Poisson
// for CV above 1, more regular below.
type Gamma struct {
	CV   float64 // coefficient of variation, between 0.01 and 100
	Seed uint64
}

// FromBurstiness converts the burstiness of the vLLM client, which is the gamma shape (1 is
// Poisson, less is burstier), to a coefficient of variation.
func FromBurstiness(b float64) float64 { return 1 / math.Sqrt(b) }

// Gap implements [Gaps]. It draws by the method of Marsaglia and Tsang (2000).
func (g Gamma) Gap(n uint64) float64 {
	k := 1 / (g.CV * g.CV)
	s := stream{bits(g.Seed, n)}
	boost := 1.0
	shape := k
	if shape < 1 {
		boost = math.Pow(s.unit(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(s.unit()) < x*x/2+d-d*v+d*math.Log(v) {
			return boost * d * v / k
		}
	}
}

// Weibull is Weibull-distributed gaps. [NewWeibull] makes one; the zero value has no
// variation.
type Weibull struct {
	inverseShape, scale float64
	seed                uint64
}

// NewWeibull returns gaps with the coefficient of variation cv.
func NewWeibull(cv float64, seed uint64) (Weibull, error) {
	if err := checkCV(cv); err != nil {
		return Weibull{}, err
	}
	// The CV is a growing function of the inverse shape s:
	// CV² = Γ(1+2s)/Γ(1+s)² − 1.
	variation := func(s float64) float64 {
		two, _ := math.Lgamma(1 + 2*s)
		one, _ := math.Lgamma(1 + s)
		return math.Sqrt(math.Expm1(two - 2*one))
	}
	low, high := 0.0, 64.0
	for range 200 {
		if mid := (low + high) / 2; variation(mid) < cv {
			low = mid
		} else {
			high = mid
		}
	}
	return Weibull{inverseShape: high, scale: 1 / math.Gamma(1+high), seed: seed}, nil
}

// Gap implements [Gaps].
func (g Weibull) Gap(n uint64) float64 {
	if g.scale == 0 {
		return Even{}.Gap(n)
	}
	return math.Pow(exponential(g.seed, n), g.inverseShape) * g.scale
}

// checkCV bounds a coefficient of variation to what makes a usable schedule.
func checkCV(cv float64) error {
	if !(cv >= 0.01 && cv <= 100) {
		return fmt.Errorf("coefficient of variation %v is not between 0.01 and 100", cv)
	}
	return nil
}

// stream is a sequence of draws for one arrival, after SplitMix64.
type stream struct{ state uint64 }

func (s *stream) unit() float64 {
	s.state += golden
	return unit(mix(s.state))
}

// normal draws from the standard normal distribution (Box and Muller).
func (s *stream) normal() float64 {
	return math.Sqrt(-2*math.Log(s.unit())) * math.Cos(2*math.Pi*s.unit())
}
