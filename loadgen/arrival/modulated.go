package arrival

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// Regime is one state of a [Modulated] rate: a rate, and how long it lasts on average.
type Regime struct {
	Rate float64       // arrivals per second
	Mean time.Duration // of the exponential sojourn
}

// Modulated is a rate that jumps between regimes at random instants. With Poisson gaps it
// is a Markov-modulated Poisson process; with the two regimes on and off it is ON/OFF
// traffic. The path of the regimes is a function of the seed.
//
// A stretch of the path is kept to make the next question cheap; the answers do not depend
// on it, and memory does not grow with time.
type Modulated struct {
	name  string
	first segment
	next  func(segment) segment

	mu sync.Mutex
	at segment // the stretch that was asked about last
}

// segment is a stretch of a path with one rate.
type segment struct {
	number     uint64
	state      float64 // what the next stretch depends on
	rate       float64
	start, end float64 // seconds
	before     float64 // integral up to the start
}

// follow returns the start of the stretch after s.
func (s segment) follow() segment {
	return segment{number: s.number + 1, start: s.end, before: s.before + s.rate*(s.end-s.start)}
}

// NewModulated returns a rate that starts in the first regime and then goes to each of the
// others with equal chance.
func NewModulated(seed uint64, regimes ...Regime) (*Modulated, error) {
	if len(regimes) < 2 {
		return nil, errors.New("a modulated rate needs two regimes or more")
	}
	busy := false
	for _, r := range regimes {
		if !(r.Rate >= 0) || math.IsInf(r.Rate, 1) || r.Mean < time.Millisecond {
			return nil, fmt.Errorf("regime of %v/s for %v: the rate must be a number and the time at least 1ms", r.Rate, r.Mean)
		}
		busy = busy || r.Rate > 0
	}
	if !busy {
		return nil, errors.New("every regime has rate zero")
	}
	enter := func(s segment, regime int) segment {
		r := regimes[regime]
		s.state, s.rate = float64(regime), r.Rate
		s.end = s.start + r.Mean.Seconds()*exponential(seed, 2*s.number)
		return s
	}
	m := &Modulated{name: fmt.Sprintf("%d regimes", len(regimes))}
	m.next = func(s segment) segment {
		jump := 1 + int(unit(bits(seed, 2*s.number+1))*float64(len(regimes)-1))
		return enter(s.follow(), (int(s.state)+jump)%len(regimes))
	}
	m.first = enter(segment{}, 0)
	m.at = m.first
	return m, nil
}

// OnOff is traffic in bursts: rate while on, nothing while off.
func OnOff(rate float64, on, off time.Duration, seed uint64) (*Modulated, error) {
	m, err := NewModulated(seed, Regime{rate, on}, Regime{0, off})
	if err == nil {
		m.name = fmt.Sprintf("%g/s in bursts, on %v off %v", rate, on, off)
	}
	return m, err
}

// Drift is a rate that wanders around its mean: for each stretch of a minute the logarithm
// of the rate follows an autoregression with correlation 0.9 and the deviation sigma.
// It gives the over-dispersion at the scale of minutes that traces of chat traffic show.
func Drift(mean, sigma float64, seed uint64) (*Modulated, error) {
	if err := checkRate(mean); err != nil {
		return nil, err
	}
	if !(sigma >= 0 && sigma <= 2) {
		return nil, fmt.Errorf("deviation %v of the drift is not between 0 and 2", sigma)
	}
	const correlation, minute = 0.9, 60.0
	normal := func(n uint64) float64 {
		s := stream{bits(seed, n)}
		return s.normal()
	}
	enter := func(s segment, level float64) segment {
		s.state, s.rate, s.end = level, mean*math.Exp(sigma*level-sigma*sigma/2), s.start+minute
		return s
	}
	m := &Modulated{name: fmt.Sprintf("%g/s on average, drifting", mean)}
	m.next = func(s segment) segment {
		f := s.follow()
		return enter(f, correlation*s.state+math.Sqrt(1-correlation*correlation)*normal(f.number))
	}
	m.first = enter(segment{}, normal(0))
	m.at = m.first
	return m, nil
}

// String names the rate.
func (m *Modulated) String() string { return m.name }

// Integral implements [Profile].
func (m *Modulated) Integral(t float64) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t < m.at.start {
		m.at = m.first
	}
	for m.at.end <= t {
		m.at = m.next(m.at)
	}
	return m.at.before + m.at.rate*(t-m.at.start)
}

// maxStretches bounds the search for the next arrival: a rate so low that none comes within
// a million stretches of the path is as good as zero.
const maxStretches = 1 << 20

// Inverse implements [Profile].
func (m *Modulated) Inverse(c float64) (float64, bool) {
	m.mu.Lock()
	s := m.at
	m.mu.Unlock()
	if c < s.before {
		s = m.first
	}
	for range maxStretches {
		if s.start >= horizon.Seconds() {
			break
		}
		gain := s.rate * (s.end - s.start)
		if s.before+gain > c {
			return s.start + (c-s.before)/s.rate, true
		}
		s = m.next(s)
	}
	return 0, false
}
