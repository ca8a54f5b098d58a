package arrival

import (
	"fmt"
	"time"
)

// Profile is a rate that changes over time, given by its integral.
//
// A [Renewal] process runs in the profile's own time: arrival n is due where the integral
// of the rate reaches the sum of its gaps. So any distribution of gaps goes with any
// profile, and the expected number of arrivals between two instants is the integral
// between them.
type Profile interface {
	// Integral returns the expected number of arrivals in the first t seconds.
	Integral(t float64) float64
	// Inverse returns the latest instant, in seconds, at which the integral is c. False
	// means that the integral never passes c.
	Inverse(c float64) (float64, bool)
}

// Renewal is arrivals whose gaps are independent and of one distribution, under a rate
// that may change.
type Renewal struct {
	Gaps    Gaps
	Profile Profile
}

// Validate reports what is missing or out of range.
func (p Renewal) Validate() error {
	if p.Gaps == nil || p.Profile == nil {
		return fmt.Errorf("an arrival process needs gaps and a rate")
	}
	if g, ok := p.Gaps.(Gamma); ok {
		if err := checkCV(g.CV); err != nil {
			return err
		}
	}
	if v, ok := p.Profile.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// Next implements [Process]. A process that is not valid gives no arrivals.
func (p Renewal) Next(prev time.Duration, n uint64) (time.Duration, bool) {
	if p.Validate() != nil {
		return 0, false
	}
	count := float64(n)
	if _, even := p.Gaps.(Even); !even {
		count = p.Profile.Integral(prev.Seconds()) + p.Gaps.Gap(n)
	}
	at, ok := p.Profile.Inverse(count)
	if !ok {
		return 0, false
	}
	return later(prev, at)
}

// String names the process, such as "gamma (CV 2) 5/s".
func (p Renewal) String() string {
	gaps := fmt.Sprintf("%T", p.Gaps)
	switch g := p.Gaps.(type) {
	case Even:
		gaps = "constant"
	case Exponential:
		gaps = "poisson"
	case Gamma:
		gaps = fmt.Sprintf("gamma (CV %g)", g.CV)
	case Weibull:
		gaps = "weibull"
	}
	return fmt.Sprintf("%s %v", gaps, p.Profile)
}
