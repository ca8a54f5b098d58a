package search

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Options set a Loop up.
type Options struct {
	Goal tuner.Goal
	// Seed chooses the scrambling of the spread-out points.
	Seed uint64
	// Prior is what is expected of each configuration; nil: nothing is known.
	Prior *Opinion
	// Learn makes Prior of a history, and is asked when the default was measured: what it
	// returns must follow from the default's trials alone, and stays. nil, or an answer of nil,
	// is Prior.
	Learn func(history []tuner.Trial) *Opinion
	// Others propose too, such as rules and a model. What they propose is measured only where
	// the acquisition rule of everybody finds it worth a trial.
	Others []tuner.Strategy
}

// Loop is the search of this program. It measures, in this order:
//
//  1. what the prior expects most of, in turn with the points of a scrambled Sobol sequence,
//     which do not depend on anybody being right;
//  2. the point of the largest expected improvement times the chance to be feasible, among
//     the neighbours of the best, what the prior likes, draws of a Parzen estimator, random
//     points, and the proposals of others. The model is a Gaussian process over what
//     the prior got wrong. Every sixth point is the next of the Sobol sequence instead.
//
// Each point is first measured briefly. Only if it may be better than the best so far, it
// goes on to a whole trial at once, while the server still runs: a bad point costs a start and
// a glance. The search ends when no point is likely to gain more than Goal.MinGain.
//
// A Loop is safe for concurrent use.
type Loop struct {
	space *space.Space
	opt   Options
	sobol *Sobol
	dist  [][][]float64
	mem   memory

	learn sync.Mutex // held while Learn is asked
	known atomic.Pointer[Opinion]
}

// NewLoop returns the search over a space.
func NewLoop(s *space.Space, opt Options) *Loop {
	return &Loop{space: s, opt: opt, sobol: NewSobol(s, opt.Seed), dist: distances(s)}
}

// opinion is what is expected of configurations, given a history.
func (l *Loop) opinion(history []tuner.Trial) *Opinion {
	if o := l.known.Load(); o != nil {
		return o
	}
	l.learn.Lock()
	defer l.learn.Unlock()
	if o := l.known.Load(); o != nil {
		return o
	}
	o := l.opt.Prior
	settled := l.opt.Learn == nil
	for i := range history {
		if t := &history[i]; l.opt.Learn != nil && t.Role == tuner.RoleDefault && t.Outcome == tuner.OK {
			settled = true
			if learned := l.opt.Learn(history); learned != nil {
				o = learned
			}
			break
		}
	}
	if o == nil {
		o = &Opinion{space: l.space}
	}
	if settled {
		l.known.Store(o)
	}
	return o
}

// Name is "loop".
func (*Loop) Name() string { return "loop" }

// The settings of the loop, in points.
const (
	loopPrior   = 4   // of what the prior likes, to begin with
	loopSpread  = 4   // spread out, to begin with; twice as many without a prior
	loopEvery   = 6   // one in so many is spread out later
	loopSamples = 250 // random candidates of a proposal
	loopLiked   = 120 // candidates that the prior likes most
	loopLeast   = 20  // points before the search may end
	loopDoubts  = 8   // points in a row that nothing was hoped of, before it ends
)

// hopeless is the chance of a worthwhile gain below which a search ends.
const hopeless = 0.02

// Ask implements tuner.Strategy. An empty answer says that nothing is worth a trial.
func (l *Loop) Ask(rng *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	v := look(l.space, l.opt.Goal, history)
	prior := l.opinion(history)
	m := l.mem.model(v, l.dist, prior.guess)
	if p, ok := l.goOn(v, m, history); ok {
		return []tuner.Proposal{p}
	}
	if p := l.opening(v, prior); len(p) > 0 {
		return p[:min(n, len(p))]
	}
	if m == nil || len(v.tried)%loopEvery == loopEvery-1 {
		if p := l.sobol.fresh(v, n); len(p) > 0 {
			return l.brief(p, "sobol")
		}
	}
	if m == nil {
		return nil
	}
	return l.improve(rng, v, m, prior, history, n)
}

// goOn decides whether the trial just made, which was brief, is to be a whole one.
func (l *Loop) goOn(v *view, m *surrogate, history []tuner.Trial) (tuner.Proposal, bool) {
	if m == nil || len(history) == 0 {
		return tuner.Proposal{}, false
	}
	last := &history[len(history)-1]
	if last.Role != tuner.RoleSearch || last.Load.Rung >= fullRung || last.Outcome != tuner.OK {
		return tuner.Proposal{}, false
	}
	p, err := l.space.Point(last.Config)
	if err != nil || v.tried[l.space.Index(p)] >= fullRung {
		return tuner.Proposal{}, false
	}
	over := 0.0
	if g, at := m.incumbent(v); at >= 0 {
		over = g
	}
	b := m.at(p)
	if b.mean+b.sd < over || b.feasible < 0.2 {
		return tuner.Proposal{}, false
	}
	next := last.Proposal
	next.Rung = fullRung
	return next, true
}

// opening returns what is left of the first points: the prior's and the spread-out ones in
// turn.
func (l *Loop) opening(v *view, prior *Opinion) []tuner.Proposal {
	liked := prior.liked[:min(loopPrior, len(prior.liked))]
	spread := loopSpread
	if len(liked) == 0 {
		spread *= 2
	}
	start := &view{space: l.space, tried: map[int]int{}}
	if d := l.space.Default(); d != nil {
		start.tried[l.space.Index(d)] = fullRung
	}
	var out []tuner.Proposal
	for i, p := range l.sobol.fresh(start, spread) {
		if i < len(liked) && v.fresh(liked[i]) {
			out = append(out, l.brief(liked[i:i+1], "prior")...)
		}
		if v.fresh(p) {
			out = append(out, l.brief([]space.Point{p}, "sobol")...)
		}
	}
	return out
}

// improve proposes by acquisition.
func (l *Loop) improve(rng *rand.Rand, v *view, m *surrogate, prior *Opinion, history []tuner.Trial, n int) []tuner.Proposal {
	over := m.bet(v)
	source := map[int]tuner.Proposal{}
	var more []space.Point
	for _, o := range l.opt.Others {
		for _, p := range o.Ask(rng, history, 3) {
			if at, err := l.space.Point(p.Config); err == nil && l.space.Feasible(at) {
				if _, dup := source[l.space.Index(at)]; !dup {
					source[l.space.Index(at)] = p
					more = append(more, at)
				}
			}
		}
	}
	more = append(more, prior.liked[:min(loopLiked, len(prior.liked))]...)
	if len(v.obs) >= tpeRandom {
		good, _ := v.split(0.15)
		for range tpeDraws {
			if p := good.draw(rng); l.space.Feasible(p) {
				more = append(more, p)
			}
		}
	}
	beliefs := map[int]belief{}
	score := func(p space.Point) float64 {
		k := l.space.Index(p)
		b, ok := beliefs[k]
		if !ok {
			b = m.at(p)
			if !prior.expects(p) {
				b.feasible, b.proof = b.feasible/2, b.proof/2
			}
			beliefs[k] = b
		}
		return math.Log(improvement(b.mean-over, b.sd) * b.proof)
	}
	points := v.climb(v.candidates(rng, m, loopSamples, more), score)
	worth := 0.0
	for _, b := range beliefs {
		worth = max(worth, b.feasible*normal((b.mean-over-l.opt.Goal.MinGain)/b.sd))
	}
	by := "gp"
	if worth < hopeless && len(v.tried) >= loopLeast {
		if l.doubts(history) >= loopDoubts {
			return nil
		}
		by = "doubt"
	}
	var out []tuner.Proposal
	for _, p := range top(points, n, score) {
		next := l.brief([]space.Point{p}, by)[0]
		if other, ok := source[l.space.Index(p)]; ok {
			other.Rung = next.Rung
			next = other
		}
		out = append(out, next)
	}
	return out
}

// doubts counts the latest points that were measured although nothing was hoped of them.
func (l *Loop) doubts(history []tuner.Trial) int {
	n := 0
	for i := len(history) - 1; i >= 0; i-- {
		if t := &history[i]; t.Role == tuner.RoleSearch && t.Load.Rung < fullRung {
			if t.Source != "doubt" && t.Source != "sobol" {
				break
			}
			n++
		}
	}
	return n
}

// Rank orders the configurations that were measured whole by the gain that a proof of them
// is expected to bring: the lower end of what the model believes of their gain, times the
// chance that every trial of a certification meets the constraints. Best first.
func (l *Loop) Rank(history []tuner.Trial) []tuner.Proposal {
	v := look(l.space, l.opt.Goal, history)
	m := l.mem.model(v, l.dist, l.opinion(history).guess)
	if m == nil {
		return nil
	}
	last := map[int]tuner.Proposal{}
	var points []space.Point
	for i := range history {
		t := &history[i]
		p, err := l.space.Point(t.Config)
		if err != nil || t.Outcome != tuner.OK || t.Load.HeldOut || t.Role != tuner.RoleSearch || t.Load.Rung < fullRung {
			continue
		}
		if _, ok := last[l.space.Index(p)]; !ok {
			points = append(points, p)
		}
		last[l.space.Index(p)] = t.Proposal
	}
	score := func(p space.Point) float64 {
		b := m.at(p)
		return (b.mean - b.sd/2) * b.proof
	}
	var out []tuner.Proposal
	for _, p := range top(points, len(points), score) {
		if score(p) > 0 {
			out = append(out, last[l.space.Index(p)])
		}
	}
	return out
}

// brief proposes points for a glance.
func (l *Loop) brief(points []space.Point, source string) []tuner.Proposal {
	out := make([]tuner.Proposal, 0, len(points))
	for _, p := range points {
		out = append(out, tuner.Proposal{Config: l.space.At(p), Source: source})
	}
	return out
}
