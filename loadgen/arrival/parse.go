package arrival

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse makes a process from a description on one line: a shape, then key=value settings
// in any order, such as
//
//	poisson
//	constant
//	gamma cv=2               (or burstiness=0.25, the gamma shape)
//	weibull cv=2
//	onoff on=23s off=53s     rate/s on average
//	mmpp low=0.5 high=3 low_for=40s high_for=10s   factors of the rate
//	drift sigma=0.2          the rate wanders from minute to minute
//	diurnal period=24h day=small                   or day=large, day=0.5/1/1.5
//	wave period=10m depth=0.5
//	ramp from=1 over=60s     from a rate to the rate, which then stays
//	step to=20 at=30s        from the rate to another at an instant
//	spike peak=50 at=30s rise=1s hold=10s fall=1s  the rate is the base
//
// Every shape after weibull takes gaps=poisson (the default), gaps=constant or gaps=gamma
// with cv. rate is in arrivals per second. The error names the setting that is wrong, or
// lists what there is.
func Parse(description string, rate float64, seed uint64) (Process, error) {
	if err := checkRate(rate); err != nil {
		return nil, err
	}
	words := strings.FieldsFunc(description, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == ':' })
	if len(words) == 0 {
		words = []string{"poisson"}
	}
	s := settings{shape: strings.ToLower(words[0]), values: map[string]string{}}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("arrival %s: %q is not of the form key=value", s.shape, w)
		}
		s.values[key] = value
	}
	p, err := s.process(rate, seed)
	if s.err != nil {
		err = s.err
	}
	if err != nil {
		return nil, fmt.Errorf("arrival %s: %w", s.shape, err)
	}
	if left := slices.Sorted(maps.Keys(s.values)); len(left) > 0 {
		return nil, fmt.Errorf("arrival %s: there is no setting %q", s.shape, left[0])
	}
	return p, nil
}

// shapes lists the names that Parse knows.
const shapes = "constant, poisson, gamma, weibull, onoff, mmpp, drift, diurnal, wave, ramp, step and spike"

// settings are the words of a description that were not used yet.
type settings struct {
	shape  string
	values map[string]string
	err    error
}

// take removes a setting; false when it was not given.
func (s *settings) take(key string) (string, bool) {
	v, ok := s.values[key]
	delete(s.values, key)
	return v, ok
}

func (s *settings) number(key string, fallback float64) float64 {
	text, ok := s.take(key)
	if !ok {
		return fallback
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("%s=%s is not a number", key, text)
	}
	return v
}

func (s *settings) time(key string, fallback time.Duration) time.Duration {
	text, ok := s.take(key)
	if !ok {
		return fallback
	}
	v, err := time.ParseDuration(text)
	if (err != nil || v < 0) && s.err == nil {
		s.err = fmt.Errorf("%s=%s is not a time such as 30s", key, text)
	}
	return v
}

// variation reads cv or burstiness.
func (s *settings) variation() float64 {
	if _, both := s.values["cv"]; both && s.values["burstiness"] != "" {
		s.err = fmt.Errorf("cv and burstiness are both set; burstiness is 1/cv²")
	}
	if _, ok := s.values["burstiness"]; ok {
		return FromBurstiness(s.number("burstiness", 1))
	}
	return s.number("cv", 1)
}

func (s *settings) process(rate float64, seed uint64) (Process, error) {
	switch s.shape {
	case "constant":
		return Constant{rate}, nil
	case "poisson":
		return Poisson{rate, seed}, nil
	case "gamma":
		p := Renewal{Gamma{s.variation(), seed}, Flat(rate)}
		return p, p.Validate()
	case "weibull":
		gaps, err := NewWeibull(s.variation(), seed)
		return Renewal{gaps, Flat(rate)}, err
	}
	profile, err := s.profile(rate, seed)
	if err != nil {
		return nil, err
	}
	var gaps Gaps
	switch name, _ := s.take("gaps"); name {
	case "", "poisson":
		gaps = Exponential{seed}
	case "constant":
		gaps = Even{}
	case "gamma":
		gaps = Gamma{s.variation(), seed}
	default:
		return nil, fmt.Errorf("gaps=%s is not known; use poisson, constant or gamma", name)
	}
	p := Renewal{gaps, profile}
	return p, p.Validate()
}

func (s *settings) profile(rate float64, seed uint64) (Profile, error) {
	// The path of a modulated rate must not be that of the gaps.
	seed = bits(seed, 0)
	switch s.shape {
	case "onoff":
		on, off := s.time("on", 23*time.Second), s.time("off", 53*time.Second)
		if s.err != nil || on <= 0 {
			return nil, fmt.Errorf("on must be longer than zero")
		}
		return OnOff(rate*(on+off).Seconds()/on.Seconds(), on, off, seed)
	case "mmpp":
		return NewModulated(seed,
			Regime{rate * s.number("low", 0.5), s.time("low_for", 40*time.Second)},
			Regime{rate * s.number("high", 3), s.time("high_for", 10*time.Second)})
	case "drift":
		return Drift(rate, s.number("sigma", 0.2), seed)
	case "diurnal":
		factors, err := s.day()
		if err != nil {
			return nil, err
		}
		return Diurnal(rate, factors, s.time("period", 24*time.Hour))
	case "wave":
		return Wave(rate, s.number("depth", 0.5), s.time("period", 24*time.Hour))
	case "ramp":
		return Ramp(s.number("from", 0), rate, s.time("over", time.Minute))
	case "step":
		return Steps(Step{rate, s.time("at", 30*time.Second)}, Step{s.number("to", 2*rate), 0})
	case "spike":
		return Spike{
			Base: rate, Peak: s.number("peak", 5*rate), At: s.time("at", 30*time.Second),
			Rise: s.time("rise", time.Second), Hold: s.time("hold", 10*time.Second), Fall: s.time("fall", time.Second),
		}.Curve()
	}
	return nil, fmt.Errorf("the shape is not known; there are %s", shapes)
}

// day reads the factors of a diurnal rate.
func (s *settings) day() ([]float64, error) {
	text, _ := s.take("day")
	switch text {
	case "", "small":
		return ServeGenSmall(), nil
	case "large":
		return ServeGenLarge(), nil
	}
	var out []float64
	for part := range strings.SplitSeq(text, "/") {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0) || v > 1e6 {
			return nil, fmt.Errorf("day=%s: %q is not a factor", text, part)
		}
		out = append(out, v)
	}
	return out, nil
}
