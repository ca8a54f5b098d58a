package search

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// belief is what a set of Gaussian processes holds about a point: its gain over the
// default, and the chance that it runs and meets every constraint.
type belief struct {
	mean, sd float64
	feasible float64 // in one trial, its noise included
	proof    float64 // in every trial of a certification
}

// surrogate models gain, constraints and failures after a view.
type surrogate struct {
	space *space.Space
	prior func(space.Point) Guess
	gain  *gaussian
	slack []*gaussian
	least []float64 // the least noise that is believed of each slack
	run   *gaussian // +1 ran, −1 failed; nil while nothing failed
}

// The medians of the priors of the three kinds of functions. Gains and slacks are natural
// logarithms; noise is that of a trial of a minute or two.
var (
	gainHyper  = hyper{length: math.Log(0.8), amp: math.Log(0.15), noise: math.Log(0.015)}
	slackHyper = hyper{length: math.Log(0.8), amp: math.Log(0.3), noise: math.Log(0.04)}
	runHyper   = hyper{length: math.Log(0.7), amp: math.Log(0.8), noise: math.Log(0.15)}
)

// refit is the number of trials after which parameters are fitted anew.
const refit = 4

// memory keeps fitted parameters, so that asking again does not fit again. It changes no
// answer: the parameters follow from the trials alone.
type memory struct {
	mu   sync.Mutex
	fits map[uint64]scales
}

// fitted returns the parameters for samples, which are those fitted to their first part.
func (m *memory) fitted(kind int, dist [][][]float64, samples []sample, prior hyper) scales {
	part := samples[:max(len(samples)/refit*refit, min(len(samples), refit))]
	key := mix(uint64(kind) + 1)
	for i := range part {
		key = mix(key ^ math.Float64bits(part[i].y))
		for _, x := range part[i].at {
			key = mix(key + uint64(x))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fits == nil {
		m.fits = make(map[uint64]scales)
	}
	p, ok := m.fits[key]
	if !ok {
		p = fit(dist, part, prior)
		m.fits[key] = p
	}
	return p
}

// model conditions the processes on a view. It returns nil where nothing ran yet.
func (m *memory) model(v *view, dist [][][]float64, prior func(space.Point) Guess) *surrogate {
	s := &surrogate{space: v.space, prior: prior}
	var gain, run []sample
	slack := make([][]sample, v.cons)
	failed := false
	for i := range v.obs {
		o := &v.obs[i]
		g := prior(o.at)
		if !o.ok {
			failed = true
			run = append(run, sample{at: o.at, rung: fullRung, y: -1, prior: 1})
			continue
		}
		run = append(run, sample{at: o.at, rung: fullRung, y: 1, prior: 1})
		gain = append(gain, sample{at: o.at, rung: o.rung, prior: g.Gain, y: o.gain})
		for j := range o.slack {
			slack[j] = append(slack[j], sample{at: o.at, rung: o.rung, prior: g.slack(j), y: o.slack[j]})
		}
	}
	if len(gain) == 0 {
		return nil
	}
	do := func(kind int, samples []sample, h hyper) *gaussian {
		g, _ := condition(dist, samples, m.fitted(kind, dist, samples, h))
		return g
	}
	s.gain = do(0, gain, gainHyper)
	for j := range slack {
		s.slack = append(s.slack, do(2+j, slack[j], slackHyper))
		s.least = append(s.least, min(leastSlack, scatter(slack[j])))
	}
	if failed {
		s.run = do(1, run, runHyper)
	}
	if s.gain == nil {
		return nil
	}
	return s
}

// at is the belief about a point.
func (s *surrogate) at(p space.Point) belief {
	g := s.prior(p)
	b := belief{feasible: 1, proof: 1}
	b.mean, b.sd = s.gain.predict(p, g.Gain)
	for j, gp := range s.slack {
		if gp != nil {
			mean, sd := gp.predict(p, g.slack(j))
			holds := normal(-mean / math.Hypot(sd, max(math.Exp(gp.par.noise), s.least[j])))
			b.feasible *= holds
			b.proof *= math.Pow(holds, proofTrials)
		}
	}
	if s.run != nil {
		mean, sd := s.run.predict(p, 1)
		runs := normal(mean / math.Hypot(sd, 0.3))
		b.feasible *= runs
		b.proof *= runs
	}
	return b
}

// proofTrials is how many trials of a certification must each meet every constraint.
const proofTrials = tuner.DefaultOrders

// leastSlack is the least standard deviation of a percentile's logarithm from one trial to the
// next that is believed: another workload shows what repeats under the same one do not. A
// constraint whose metric hardly ever moves needs less.
const leastSlack = 0.04

// scatter is the standard deviation of the values.
func scatter(samples []sample) float64 {
	mean, sum := 0.0, 0.0
	for i := range samples {
		mean += samples[i].y / float64(len(samples))
	}
	for i := range samples {
		sum += (samples[i].y - mean) * (samples[i].y - mean)
	}
	return math.Sqrt(sum / float64(len(samples)))
}

// acquisition is expected improvement over a gain times the chance to be feasible.
func (b belief) acquisition(over float64) float64 {
	return improvement(b.mean-over, b.sd) * b.feasible
}

// incumbent is the trial whose posterior mean is largest among those that ran, met their
// constraints and probably do. It returns -1 where there is none.
func (s *surrogate) incumbent(v *view) (gain float64, at int) {
	gain, at = math.Inf(-1), -1
	for i := range v.obs {
		o := &v.obs[i]
		if !o.feasible() {
			continue
		}
		if b := s.at(o.at); b.feasible >= 0.4 && b.mean > gain {
			gain, at = b.mean, i
		}
	}
	if at < 0 {
		return v.best()
	}
	return gain, at
}

// bet is the largest gain that a proof of a point measured so far is expected to bring; 0 if
// none is expected to.
func (s *surrogate) bet(v *view) float64 {
	most := 0.0
	for i := range v.obs {
		if o := &v.obs[i]; o.ok {
			b := s.at(o.at)
			most = max(most, b.mean*b.proof)
		}
	}
	return most
}

// climb adds to points what is found by steps to better neighbours from the best of them.
func (v *view) climb(points []space.Point, score func(space.Point) float64) []space.Point {
	const starts, steps = 3, 6
	have := map[int]bool{}
	for _, p := range points {
		have[v.space.Index(p)] = true
	}
	for _, p := range top(points, starts, score) {
		for range steps {
			next := p
			for _, q := range v.space.Neighbours(p) {
				if !v.fresh(q) {
					continue
				}
				if k := v.space.Index(q); !have[k] {
					have[k] = true
					points = append(points, q)
				}
				if score(q) > score(next) {
					next = q
				}
			}
			if v.space.Index(next) == v.space.Index(p) {
				break
			}
			p = next
		}
	}
	return points
}

// candidates are the points worth an evaluation of the model: neighbours of the best trials
// and random ones, and further ones given.
func (v *view) candidates(rng *rand.Rand, s *surrogate, random int, more []space.Point) []space.Point {
	taken := map[int]bool{}
	var out []space.Point
	add := func(p space.Point) {
		if k := v.space.Index(p); !taken[k] && v.fresh(p) {
			taken[k] = true
			out = append(out, p)
		}
	}
	rows := make([]int, 0, len(v.obs))
	for i := range v.obs {
		if v.obs[i].ok {
			rows = append(rows, i)
		}
	}
	for _, i := range top(rows, 4, func(i int) float64 { return v.obs[i].gain - v.obs[i].violation() }) {
		for _, q := range v.space.Neighbours(v.obs[i].at) {
			add(q)
		}
	}
	for _, p := range more {
		add(p)
	}
	for _, p := range v.space.Sample(rng, random) {
		add(p)
	}
	return out
}
