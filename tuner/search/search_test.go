package search_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/search"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// problem is a function on a grid. Its f is the gain of a point over the grid's default.
type problem struct {
	name  string
	space *space.Space
	f     func(x []float64) float64     // of coordinates from 0 to 1
	fails func(x []float64) bool        // crashes
	slack func(x []float64) []float64   // constraints
	best  float64                       // the largest feasible gain
	trial func(space.Point) tuner.Trial // measured without noise
	gain  func(space.Point) (float64, bool)
}

func grid(dims, values int, ordered bool) *space.Space {
	s := &space.Space{}
	for d := range dims {
		dim := space.Dim{Name: "k" + strconv.Itoa(d), Ordered: ordered, Unset: "0"}
		for v := range values {
			if v == 0 {
				dim.Values = append(dim.Values, "")
			} else {
				dim.Values = append(dim.Values, strconv.Itoa(v))
			}
		}
		s.Dims = append(s.Dims, dim)
	}
	return s
}

func (p problem) build() *problem {
	at := func(q space.Point) []float64 {
		x := make([]float64, len(q))
		for d, v := range q {
			x[d] = float64(v) / float64(len(p.space.Dims[d].Values)-1)
		}
		return x
	}
	base := p.f(at(p.space.Default()))
	p.gain = func(q space.Point) (float64, bool) {
		x := at(q)
		if p.fails != nil && p.fails(x) {
			return 0, false
		}
		if p.slack != nil {
			for _, s := range p.slack(x) {
				if s > 0 {
					return 0, false
				}
			}
		}
		return p.f(x) - base, true
	}
	p.trial = func(q space.Point) tuner.Trial {
		x := at(q)
		t := tuner.Trial{Proposal: tuner.Proposal{Config: p.space.At(q)}, Measurement: tuner.Measurement{Outcome: tuner.OK, Took: time.Minute}}
		if p.fails != nil && p.fails(x) {
			t.Outcome = tuner.Crash
			return t
		}
		t.Value = archive.Some(math.Exp(p.f(x)))
		if p.slack != nil {
			t.Slack = p.slack(x)
		}
		return t
	}
	p.best = math.Inf(-1)
	for _, q := range p.space.All() {
		if g, ok := p.gain(q); ok {
			p.best = max(p.best, g)
		}
	}
	return &p
}

// The standard functions, turned so that more is better and scaled to gains of about one.
func problems() []*problem {
	hartA := [4][6]float64{{10, 3, 17, 3.5, 1.7, 8}, {.05, 10, 17, .1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, .05, 10, .1, 14}}
	hartP := [4][6]float64{
		{.1312, .1696, .5569, .0124, .8283, .5886}, {.2329, .4135, .8307, .3736, .1004, .9991},
		{.2348, .1451, .3522, .2883, .3047, .6650}, {.4047, .8828, .8732, .5743, .1091, .0381},
	}
	hartC := [4]float64{1, 1.2, 3, 3.2}
	return []*problem{
		problem{name: "Branin", space: grid(2, 24, true), f: func(x []float64) float64 {
			a, b := 15*x[0]-5, 15*x[1]
			y := b - 5.1/(4*math.Pi*math.Pi)*a*a + 5/math.Pi*a - 6
			return -(y*y + 10*(1-1/(8*math.Pi))*math.Cos(a) + 10) / 100
		}}.build(),
		problem{name: "Hartmann-6", space: grid(6, 6, true), f: func(x []float64) float64 {
			sum := 0.0
			for i := range hartC {
				e := 0.0
				for j := range 6 {
					e += hartA[i][j] * (x[j] - hartP[i][j]) * (x[j] - hartP[i][j])
				}
				sum += hartC[i] * math.Exp(-e)
			}
			return sum / 3
		}}.build(),
		problem{name: "Ackley with a crash region", space: grid(4, 9, true), f: func(x []float64) float64 {
			sq, cs := 0.0, 0.0
			for _, v := range x {
				u := 6 * (v - 0.625)
				sq += u * u / 4
				cs += math.Cos(2*math.Pi*u) / 4
			}
			return (20*math.Exp(-0.2*math.Sqrt(sq)) + math.Exp(cs)) / 10
		}, fails: func(x []float64) bool { return x[0]+x[1] > 1.4 || x[2] < 0.2 }}.build(),
		problem{name: "names that act in pairs, one constraint", space: grid(6, 4, false), f: func(x []float64) float64 {
			sum := 0.0
			for i, v := range x {
				sum += 0.15 * math.Sin(7*v+float64(3*i))
			}
			return sum + 0.1*math.Sin(9*x[0]*x[1]+2) + 0.1*math.Cos(8*x[2]*x[3])
		}, slack: func(x []float64) []float64 { return []float64{0.3*math.Sin(5*x[0]+2*x[4]) - 0.1} }}.build(),
	}
}

// hunt lets a strategy measure for so many minutes, a brief trial taking half of one, and
// returns the best feasible gain.
func hunt(p *problem, s tuner.Strategy, seed uint64, minutes float64) (float64, []tuner.Trial) {
	t := p.trial(p.space.Default())
	t.Role, t.Load.Rung = tuner.RoleDefault, 1
	history := []tuner.Trial{t}
	best := 0.0
	for minutes > 0 {
		asked := s.Ask(rand.New(rand.NewPCG(seed, uint64(len(history)))), history, 1)
		if len(asked) == 0 {
			break
		}
		q, err := p.space.Point(asked[0].Config)
		if err != nil {
			panic(err)
		}
		t := p.trial(q)
		t.Role, t.Proposal, t.Load.Rung = tuner.RoleSearch, asked[0], asked[0].Rung
		history = append(history, t)
		minutes -= 0.5 + 0.5*float64(min(asked[0].Rung, 1))
		if g, ok := p.gain(q); ok {
			best = max(best, g)
		}
	}
	return best, history
}

// On standard functions every model-based search finds more than random search in the same
// time, with mixed, constrained and crashing spaces.
func TestBeatsRandom(t *testing.T) {
	const minutes = 36
	seeds := uint64(3)
	if testing.Short() {
		seeds = 3
	}
	for _, p := range problems() {
		strategies := func(seed uint64) []tuner.Strategy {
			g := tuner.Goal{Maximise: true, MinGain: 0.001}
			return []tuner.Strategy{
				search.NewRandom(p.space), search.NewSobol(p.space, seed), search.NewTPE(p.space, g),
				search.NewForest(p.space, g, seed), search.NewGP(p.space, g, seed), search.NewLoop(p.space, search.Options{Goal: g, Seed: seed}),
			}
		}
		left := make([]float64, len(strategies(0))) // mean gap to the best
		for seed := range seeds {
			for i, s := range strategies(seed) {
				found, _ := hunt(p, s, seed, minutes)
				left[i] += (p.best - found) / float64(seeds)
			}
		}
		for i, s := range strategies(0) {
			t.Logf("%s: %s is %.3f short of %.3f", p.name, s.Name(), left[i], p.best)
			if i >= 2 && left[i] > 0.9*left[0] && left[i] > 0.01*p.best {
				t.Errorf("%s: %s is %.3f short of the best, random %.3f", p.name, s.Name(), left[i], left[0])
			}
		}
	}
}

// A strategy is a function of seed and history: a fresh one goes on where another stopped.
// It proposes what is feasible, and nothing twice at one fidelity.
func TestPure(t *testing.T) {
	p := problems()[2]
	p.space.Constraints = []space.Constraint{space.AtLeast(p.space.Value, "k1", "k3")}
	p = problem{name: p.name, space: &space.Space{Dims: p.space.Dims, Constraints: p.space.Constraints}, f: p.f, fails: p.fails}.build()
	g := tuner.Goal{Maximise: true, MinGain: 0.01}
	for _, fresh := range []func() tuner.Strategy{
		func() tuner.Strategy { return search.NewRandom(p.space) },
		func() tuner.Strategy { return search.NewSobol(p.space, 3) },
		func() tuner.Strategy { return search.NewTPE(p.space, g) },
		func() tuner.Strategy { return search.NewForest(p.space, g, 3) },
		func() tuner.Strategy { return search.NewGP(p.space, g, 3) },
		func() tuner.Strategy {
			return search.NewLoop(p.space, search.Options{Goal: g, Seed: 3, Others: []tuner.Strategy{search.NewTPE(p.space, g)}})
		},
	} {
		s := fresh()
		_, history := hunt(p, s, 5, 24)
		seen := map[string]bool{}
		for n := 1; n < len(history); n++ {
			key := history[n].Config.Key() + "/" + strconv.Itoa(history[n].Load.Rung)
			if seen[key] {
				t.Errorf("%s: %s was proposed twice", s.Name(), key)
			}
			seen[key] = true
			if err := p.space.Check(history[n].Config); err != nil {
				t.Errorf("%s: trial %d: %v", s.Name(), n, err)
			}
			if n%7 != 0 {
				continue
			}
			again := fresh().Ask(rand.New(rand.NewPCG(5, uint64(n))), history[:n], 1)
			if diff := cmp.Diff(history[n].Proposal, again[0]); diff != "" {
				t.Errorf("%s: trial %d differs when asked afresh: %s", s.Name(), n, diff)
			}
		}
		if len(history) < 20 {
			t.Errorf("%s: stopped after %d trials", s.Name(), len(history))
		}
	}
}

// wrong is a prior that is right about one knob and wrong about the others.
type wrong struct{ p *problem }

func (w wrong) Guess(a space.Assignment) (search.Guess, bool) {
	q, err := w.p.space.Point(a)
	if err != nil {
		return search.Guess{}, false
	}
	for d := 1; d < len(q); d++ {
		q[d] = (q[d] + 1) % len(w.p.space.Dims[d].Values)
	}
	g, _ := w.p.gain(q)
	return search.Guess{Gain: 1.5 * g}, true
}

// right knows the function.
type right struct{ p *problem }

func (r right) Guess(a space.Assignment) (search.Guess, bool) {
	q, err := r.p.space.Point(a)
	if err != nil {
		return search.Guess{}, false
	}
	g, _ := r.p.gain(q)
	return search.Guess{Gain: g}, true
}

// A prior that knows the function finds the best at once; one that misleads costs time and
// does not keep the loop from it.
func TestPrior(t *testing.T) {
	p := problems()[1]
	g := tuner.Goal{Maximise: true, MinGain: 0.001}
	loop := func(prior search.Prior) *search.Loop {
		return search.NewLoop(p.space, search.Options{Goal: g, Seed: 1, Prior: search.Consult(p.space, prior)})
	}
	if found, _ := hunt(p, loop(right{p}), 1, 2); found != p.best {
		t.Errorf("with a perfect prior %.3f was found in two minutes; want %.3f", found, p.best)
	}
	random, _ := hunt(p, search.NewRandom(p.space), 1, 50)
	if found, _ := hunt(p, loop(wrong{p}), 1, 50); found < random || found < 0.8*p.best {
		t.Errorf("with a misleading prior %.3f was found, random %.3f, best %.3f", found, random, p.best)
	}
}

// Where nothing is better than the default the loop ends by itself; what it ranks first is
// what is best where something is.
func TestLoopEnds(t *testing.T) {
	flat := problem{space: grid(3, 5, true), f: func(x []float64) float64 { return -0.3 * (x[0] + x[1] + x[2]) }}.build()
	loop := search.NewLoop(flat.space, search.Options{Goal: tuner.Goal{Maximise: true, MinGain: 0.02}, Seed: 1})
	if _, history := hunt(flat, loop, 1, 1000); len(history) > 60 {
		t.Errorf("the search of a falling function ended after %d trials", len(history))
	} else if r := loop.Rank(history); len(r) > 0 {
		t.Errorf("%v is ranked better than the default", r[0].Config)
	}
	p := problems()[0]
	loop = search.NewLoop(p.space, search.Options{Goal: tuner.Goal{Maximise: true, MinGain: 0.001}, Seed: 1})
	best, history := hunt(p, loop, 1, 40)
	ranked := loop.Rank(history)
	if len(ranked) == 0 {
		t.Fatal("nothing is ranked")
	}
	at, err := p.space.Point(ranked[0].Config)
	if err != nil {
		t.Fatal(err)
	}
	if g, _ := p.gain(at); g < best-0.05 {
		t.Errorf("ranked first: %.3f; the best found is %.3f", g, best)
	}
}

// A shift of the machine is taken off what is measured after it.
func TestDriftCorrected(t *testing.T) {
	p := problems()[0]
	g := tuner.Goal{Maximise: true, MinGain: 0.001}
	loop := search.NewLoop(p.space, search.Options{Goal: g, Seed: 1})
	_, history := hunt(p, loop, 1, 20)
	again := history[1]
	again.Role = tuner.RoleIncumbent
	slow := func(t tuner.Trial) tuner.Trial {
		if v, ok := t.Value.Get(); ok {
			t.Value = archive.Some(v * math.Exp(-0.2))
		}
		return t
	}
	at := len(history) / 2
	shifted := slices.Concat(history[:at], []tuner.Trial{slow(again)}, history[at:])
	for i := at + 1; i < len(shifted); i++ {
		shifted[i] = slow(shifted[i])
	}
	if diff := cmp.Diff(loop.Rank(history)[0].Config, loop.Rank(shifted)[0].Config); diff != "" {
		t.Errorf("after the machine became slower another is ranked first: %s", diff)
	}
}
