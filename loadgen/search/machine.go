package search

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Limit is one objective of each request.
type Limit struct {
	Name    string  // such as "ttft < 0.5"
	Allowed float64 // the largest share of requests that may miss it, such as 0.01
}

// Config is what a search needs. Limits is required; every other zero value is the default
// that its comment names.
type Config struct {
	Limits []Limit
	// Concurrency is that of the first closed loop; 0 is [DefaultConcurrency]. It grows
	// by four until throughput does not, up to MaxConcurrency, 0 for
	// [DefaultMaxConcurrency].
	Concurrency, MaxConcurrency int
	// MaxRate is the largest rate to try, in requests per second; 0 is no limit.
	MaxRate float64
	// LevelRequests bounds the requests of a rate in the bracket and the bisection; 0 is
	// [DefaultLevelRequests].
	LevelRequests int
	// RefineRequests is the size of a probe of the refinement; 0 is
	// [DefaultRefineRequests].
	RefineRequests int
	// ConfirmRequests is the size of the last probe; 0 is [DefaultConfirmRequests],
	// negative leaves it out.
	ConfirmRequests int
	// Budget bounds the requests of the bracket, the bisection and the refinement; 0 is
	// [DefaultBudget].
	Budget int
	// Precision is the half-width of the interval to reach, as a share of the rate; 0 is
	// [DefaultPrecision].
	Precision float64
	// Confidence is that of the interval; 0 is [DefaultConfidence].
	Confidence float64
}

// Defaults of [Config].
const (
	DefaultConcurrency     = 16
	DefaultMaxConcurrency  = 1024
	DefaultLevelRequests   = 3000
	DefaultRefineRequests  = 2000
	DefaultConfirmRequests = 3000
	DefaultBudget          = 150_000
	DefaultPrecision       = 0.045
	DefaultConfidence      = 0.99
)

// Stage is a part of the search.
type Stage string

// The stages, in order.
const (
	Saturate  Stage = "saturate"
	Bracket   Stage = "bracket"
	Bisect    Stage = "bisect"
	Refine    Stage = "refine"
	Confirm   Stage = "confirm"
	Completed Stage = "completed"
)

// Probe is one piece of load to carry out.
type Probe struct {
	Stage Stage
	// Concurrency is set for a closed loop (Saturate), Rate for an open one with Poisson
	// arrivals, in requests per second.
	Concurrency int
	Rate        float64
	// Settle is how many requests at the start do not count, and Requests how many count
	// at most after them.
	Settle, Requests int
	// Fixed probes are carried out in full; the others end when their level decides.
	Fixed bool
}

// Result is what came of a probe.
type Result struct {
	// Throughput is the good completions per second of a closed loop after it settled.
	Throughput float64
	// Level is the level of an open loop.
	Level *Level
	// ClientLimited is set when the load could not be made as asked. The search ends.
	ClientLimited bool
}

// Answer is the outcome of a search.
type Answer struct {
	// Rate is the estimate of λ*, with its interval, in requests per second.
	Rate, Low, High float64
	Confidence      float64
	// Saturation is the throughput of the best closed loop.
	Saturation float64
	// Known is false when λ* could not be bracketed; Reason says why, and Low or High
	// holds the one bound that was found, the other being 0.
	Known  bool
	Reason string
	// Precise is true when the interval is as narrow as was asked.
	Precise bool
	// Confirmed is the decision of the last probe; Continue when there was none.
	Confirmed Decision
	// Binding is the limit that fails first.
	Binding string
	Levels  []LevelSummary
	// Requests counts those of the open loops that were judged.
	Requests int
}

// LevelSummary is one rate that was tried.
type LevelSummary struct {
	Stage    Stage
	Rate     float64
	Requests int
	Misses   []int // of each limit
	Growing  bool
	Decision Decision
}

// Machine is a search under way. It is used by one goroutine.
type Machine struct {
	cfg   Config
	stage Stage

	concurrency int
	saturation  float64
	low, high   float64 // highest rate that passed, lowest that failed; 0 is none
	rate        float64 // of the next probe
	levels      []*Level
	summary     []LevelSummary
	refined     int
	view        view // of the last estimate
	requests    int
	confirms    int
	confirmed   Decision
	reason      string // why there is no estimate
}

// New returns a search at its start.
func New(cfg Config) (*Machine, error) {
	if len(cfg.Limits) == 0 || len(cfg.Limits) > maxLimits {
		return nil, fmt.Errorf("search: %d limits; there must be between 1 and %d", len(cfg.Limits), maxLimits)
	}
	for _, l := range cfg.Limits {
		if !(l.Allowed > 0 && l.Allowed < 1) {
			return nil, fmt.Errorf("search: limit %q allows a share of %v misses; it must be between 0 and 1", l.Name, l.Allowed)
		}
	}
	if cfg.MaxRate < 0 || cfg.Precision < 0 || cfg.Confidence < 0 || cfg.Confidence >= 1 ||
		cfg.Concurrency < 0 || cfg.MaxConcurrency < 0 || cfg.LevelRequests < 0 || cfg.RefineRequests < 0 || cfg.Budget < 0 {
		return nil, errors.New("search: a setting is negative, or the confidence is not below 1")
	}
	fallback(&cfg.Concurrency, DefaultConcurrency)
	fallback(&cfg.MaxConcurrency, DefaultMaxConcurrency)
	fallback(&cfg.LevelRequests, DefaultLevelRequests)
	fallback(&cfg.RefineRequests, DefaultRefineRequests)
	fallback(&cfg.ConfirmRequests, DefaultConfirmRequests)
	fallback(&cfg.Budget, DefaultBudget)
	fallback(&cfg.Precision, DefaultPrecision)
	fallback(&cfg.Confidence, DefaultConfidence)
	return &Machine{cfg: cfg, stage: Saturate, concurrency: cfg.Concurrency}, nil
}

func fallback[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Stage tells where the search is.
func (m *Machine) Stage() Stage { return m.stage }

// Next returns the probe to carry out, until [Machine.Report] has been told of it. False
// means that the search is over.
func (m *Machine) Next() (Probe, bool) {
	p := Probe{Stage: m.stage, Rate: m.rate}
	switch m.stage {
	case Completed:
		return Probe{}, false
	case Saturate:
		return Probe{Stage: Saturate, Concurrency: m.concurrency, Settle: m.concurrency, Requests: max(100, 4*m.concurrency)}, true
	case Bracket, Bisect:
		p.Requests = m.cfg.LevelRequests
	case Refine:
		// Later probes are longer: those that are needed are needed in number, and long
		// ones lose less to settling.
		p.Requests, p.Fixed = m.cfg.RefineRequests<<min(m.refined/len(offsets), mostRounds), true
	case Confirm:
		p.Requests, p.Fixed = m.cfg.ConfirmRequests, true
	}
	p.Settle = max(50, p.Requests/10)
	if p.Fixed {
		// Near capacity a queue takes minutes to become what it will be, and a probe that
		// counts before looks better than the truth.
		p.Settle = max(50, p.Requests/4)
	}
	return p, true
}

// Level returns the level for an open-loop probe: where its requests are to be counted.
func (m *Machine) Level(p Probe) *Level { return newLevel(p, m.cfg.Limits) }

// Report tells what came of the probe that Next asked for.
func (m *Machine) Report(p Probe, r Result) {
	if p.Stage == Saturate {
		m.saturated(r)
		return
	}
	d := r.Level.Decide()
	m.levels = append(m.levels, r.Level)
	m.requests += r.Level.n
	s := LevelSummary{Stage: p.Stage, Rate: p.Rate, Requests: r.Level.n, Growing: r.Level.Growing(), Decision: d}
	for i := range m.cfg.Limits {
		s.Misses = append(s.Misses, r.Level.misses(i))
	}
	m.summary = append(m.summary, s)
	if r.ClientLimited {
		m.stop(fmt.Sprintf("the client could not make %.4g requests per second; λ* is at least %.4g", p.Rate, m.low))
		return
	}
	switch p.Stage {
	case Bracket:
		m.bracket(p.Rate, d)
	case Bisect:
		m.bisect(p.Rate, d)
	case Refine:
		m.refined++
		m.refine()
	case Confirm:
		m.confirm(d)
	}
}

// stop ends the search without an estimate.
func (m *Machine) stop(reason string) { m.stage, m.reason = Completed, reason }

// saturated takes the throughput of a closed loop.
func (m *Machine) saturated(r Result) {
	grew := r.Throughput > 1.1*m.saturation
	m.saturation = max(m.saturation, r.Throughput)
	switch {
	case m.saturation <= 0 || math.IsNaN(m.saturation):
		m.stop("no request of the closed loop ended well")
	case grew && 4*m.concurrency <= m.cfg.MaxConcurrency && !r.ClientLimited:
		m.concurrency *= 4
	default:
		m.stage, m.rate = Bracket, m.capped(m.saturation/2)
	}
}

func (m *Machine) capped(rate float64) float64 {
	if m.cfg.MaxRate > 0 {
		return min(rate, m.cfg.MaxRate)
	}
	return rate
}

// Steps of the bracket.
const (
	stepUp     = 1.25
	stepDown   = 0.5
	narrow     = 1.05      // ratio of a bracket that is narrow enough
	shallowest = 1.0 / 256 // of the saturation: below it no rate passes
	highest    = 4.0       // of the saturation: above it the estimate is wrong
	local      = 0.12      // width of the kernel, in log rate, once enough is known near
	enough     = 3000      // requests that are enough
)

// bracket looks for a rate that passes below one that fails. A rate that is not decided is
// near λ* and counts as the side that is missing.
func (m *Machine) bracket(rate float64, d Decision) {
	if d == Fail || d == Undecided && m.low > 0 {
		m.high = rate
	} else {
		m.low = rate
	}
	switch {
	case m.low > 0 && m.high > 0:
		m.stage = Bisect
		m.narrowed()
	case m.high > 0:
		if m.rate = rate * stepDown; m.rate < m.saturation*shallowest {
			m.stop(fmt.Sprintf("even %.4g requests per second miss a limit", rate))
		}
	case m.cfg.MaxRate > 0 && rate >= m.cfg.MaxRate:
		m.stop(fmt.Sprintf("the largest rate allowed, %.4g requests per second, still keeps every limit", rate))
	case rate > m.saturation*highest:
		m.stop(fmt.Sprintf("%.4g requests per second, four times the saturation of a closed loop, still keep every limit", rate))
	default:
		m.rate = m.capped(rate * stepUp)
	}
	m.spend()
}

// bisect halves the bracket.
func (m *Machine) bisect(rate float64, d Decision) {
	switch d {
	case Pass:
		m.low = rate
	case Fail:
		m.high = rate
	default:
		// Near λ*: the refinement starts here.
		m.stage, m.rate = Refine, rate
		m.spend()
		return
	}
	m.narrowed()
	m.spend()
}

// narrowed goes on with the middle of the bracket, or to the refinement.
func (m *Machine) narrowed() {
	m.rate = math.Sqrt(m.low * m.high)
	if m.high/m.low <= narrow {
		m.stage = Refine
	}
}

// spend ends the search for rates when the budget is used up.
func (m *Machine) spend() {
	if m.stage == Completed || m.requests < m.cfg.Budget {
		return
	}
	if m.low == 0 || m.high == 0 {
		m.stop("the budget of requests was used up before λ* was bracketed")
		return
	}
	m.finish()
}

// offsets are where refinement probes, around the estimate, in log rate: it needs rates on
// both sides to know how steep the curve is. After each round of them the probes are twice
// as long.
var offsets = [...]float64{0, -0.04, 0.03, -0.01}

// fewestRounds are carried out whatever the interval, so that the estimate has been seen
// to hold when the probes became longer; mostRounds bounds their length.
const (
	fewestRounds = 3
	mostRounds   = 5
)

// refine probes near the estimate until the interval is narrow.
func (m *Machine) refine() {
	e := m.estimate()
	round, at := m.refined/len(offsets), m.refined%len(offsets)
	m.rate = m.capped(e.quantile(0.5) * math.Exp(offsets[at]))
	if at == 0 && round >= fewestRounds && m.halfWidth(e) <= m.cfg.Precision {
		m.finish()
		return
	}
	m.spend()
}

// halfWidth is half of the interval, as a share of the estimate.
func (m *Machine) halfWidth(e estimate) float64 {
	low, high := m.interval(e)
	return (high - low) / 2 / e.quantile(0.5)
}

// interval is the central interval of the posterior, stretched as Student's t is against
// the normal distribution: the design effect is itself an estimate, from the scatter of a
// handful of levels.
func (m *Machine) interval(e estimate) (low, high float64) {
	tail := (1 - m.cfg.Confidence) / 2
	freedom := 0.0
	for _, l := range m.levels {
		if m.view.weight(l) > floor {
			freedom++
		}
	}
	t := distuv.StudentsT{Sigma: 1, Nu: max(3, freedom-2)}
	stretch := t.Quantile(1-tail) / distuv.UnitNormal.Quantile(1-tail)
	mid := e.quantile(0.5)
	return mid * math.Pow(e.quantile(tail)/mid, stretch) * (1 - unsettled), mid * math.Pow(e.quantile(1-tail)/mid, stretch) * (1 + unsettled)
}

// unsettled is what the interval allows for probes that began with an empty server and have
// not quite forgotten it: those of a few thousand requests put the capacity of the
// simulated engine about one per cent too high.
const unsettled = 0.01

// finish goes to the confirmation at the lower end of the interval.
func (m *Machine) finish() {
	if m.cfg.ConfirmRequests < 0 || m.confirms == maxConfirms {
		m.stage = Completed
		return
	}
	e := m.estimate()
	m.stage = Confirm
	m.rate, _ = m.interval(e)
}

// maxConfirms bounds the confirmations; one that fails moves the estimate, and the next
// is at its new lower end.
const maxConfirms = 2

func (m *Machine) confirm(d Decision) {
	m.confirms++
	m.confirmed = d
	if d == Fail {
		m.finish()
		return
	}
	m.stage = Completed
}

// estimate is the posterior of λ* by now: first over all rates that were tried and their
// surroundings, then on a finer grid around what that leaves, with the levels near the
// middle of it.
func (m *Machine) estimate() estimate {
	low, high, longest := math.Inf(1), 0.0, 1
	for _, l := range m.levels {
		low, high, longest = min(low, l.rate), max(high, l.rate), max(longest, l.n)
	}
	low, high = low/2, high*2
	v := view{centre: math.Log(math.Sqrt(m.low * m.high)), width: 1, longest: longest}
	e := posterior(m.levels, m.cfg.Limits, low, high, roughSteps, v)
	for range 2 {
		v.centre, v.width = math.Log(e.quantile(0.5)), local
		for v.near(m.levels) < enough && v.width < 1 {
			v.width *= 1.5
		}
		e = posterior(m.levels, m.cfg.Limits, low, high, roughSteps, v)
	}
	m.view = v
	return posterior(m.levels, m.cfg.Limits, e.quantile(0.0005)/1.05, e.quantile(0.9995)*1.05, rateSteps, v)
}

// Answer tells what the search has found by now.
func (m *Machine) Answer() Answer {
	a := Answer{
		Confidence: m.cfg.Confidence, Saturation: m.saturation, Levels: m.summary,
		Requests: m.requests, Confirmed: m.confirmed, Reason: m.reason,
	}
	if m.low == 0 || m.high == 0 || m.reason != "" {
		a.Low, a.High = m.low, m.high
		if a.Reason == "" {
			a.Reason = "the search ended before λ* was bracketed"
		}
		return a
	}
	e := m.estimate()
	a.Known = true
	a.Rate = e.quantile(0.5)
	a.Low, a.High = m.interval(e)
	a.Precise = m.halfWidth(e) <= m.cfg.Precision
	least := math.Inf(1)
	for i, limit := range m.cfg.Limits {
		if r := marginal(density(m.levels, i, limit.Allowed, e.logs, m.view), e.logs).quantile(0.5); r < least {
			least, a.Binding = r, limit.Name
		}
	}
	return a
}
