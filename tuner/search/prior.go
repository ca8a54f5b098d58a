package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// Guess is what a prior expects of a configuration.
type Guess struct {
	// Gain is ln of the value over the default's, signed so that more is better.
	Gain float64
	// Slack is ln(metric/limit) of each constraint, in the study's order; missing ones are 0.
	Slack []float64
}

func (g Guess) slack(i int) float64 {
	if i < len(g.Slack) {
		return g.Slack[i]
	}
	return 0
}

// Prior expects something of configurations before they are measured. It may be wrong: a
// search models what is left of it.
type Prior interface {
	// Guess returns the expectation, or false where the prior has none or expects a failure.
	Guess(space.Assignment) (Guess, bool)
}

// Opinion is what a prior says of a whole space, asked once. A nil guess means that it
// expects a failure or knows nothing. It is safe for concurrent use.
type Opinion struct {
	space *space.Space
	liked []space.Point // what the prior expects most of, best first

	mu      sync.Mutex
	guesses map[int]Guess // by index
	// more is asked about points that were not asked before; nil: nothing is known of them.
	more   Prior
	refuse map[int]bool // points that more expects a failure of
}

// The points that Consult keeps as liked, of which the first openings differ in two knobs
// or more; and how many it asks about in a space that is too large to list.
const (
	keepLiked = 240
	openings  = 8
	askAbout  = 4000
)

// Consult asks a prior about every point that can be listed, or about a sample, and orders
// what it likes. Of points that it cannot tell apart one is liked, so that the first trials
// differ in what matters.
func Consult(s *space.Space, prior Prior) *Opinion {
	all := s.All()
	if all == nil {
		all = s.Sample(rand.New(rand.NewPCG(1, 0x9e37)), askAbout)
	}
	o := &Opinion{space: s, guesses: map[int]Guess{}}
	o.like(all, prior)
	return o
}

// like asks about points, and orders those that hold their constraints by what is expected.
func (o *Opinion) like(all []space.Point, prior Prior) {
	s := o.space
	var holds []space.Point
	told := map[float64]bool{}
	for _, p := range all {
		g, ok := prior.Guess(s.At(p))
		if !ok {
			continue
		}
		if o.more == nil {
			o.guesses[s.Index(p)] = g
		}
		if excess(g.Slack) == 0 && !told[g.Gain] {
			told[g.Gain] = true
			holds = append(holds, p)
		}
	}
	o.liked = apart(top(holds, keepLiked, func(p space.Point) float64 { return o.guess(p).Gain }))
}

// climbs is from how many of the liked points Sound steps to better neighbours, and
// climbSteps how many steps each.
const (
	climbs     = 4
	climbSteps = 6
)

// Sound asks a prior that takes its time about a sample of about n points, and about what
// lies above the best of them; later it is asked about each other point that a search looks at.
// The default, and what differs from it in one knob, are among the sample. tell, if it is not
// nil, is given each point beforehand, to answer several at once.
func Sound(s *space.Space, prior Prior, n int, tell func([]space.Assignment)) *Opinion {
	o := &Opinion{space: s, guesses: map[int]Guess{}, refuse: map[int]bool{}, more: prior}
	var all []space.Point
	seen := map[int]bool{}
	add := func(points ...space.Point) {
		for _, p := range points {
			if k := s.Index(p); !seen[k] && s.Feasible(p) {
				seen[k] = true
				all = append(all, p)
			}
		}
	}
	if listed := s.All(); listed != nil && len(listed) <= n {
		add(listed...)
	} else {
		if d := s.Default(); d != nil {
			add(d)
			add(s.Neighbours(d)...)
		}
		add(s.Sample(rand.New(rand.NewPCG(1, 0x9e37)), n)...)
	}
	ask := func(points []space.Point) {
		if tell != nil {
			batch := make([]space.Assignment, len(points))
			for i, p := range points {
				batch[i] = s.At(p)
			}
			tell(batch)
		}
		for _, p := range points {
			o.expects(p)
		}
	}
	ask(all)
	score := func(p space.Point) float64 {
		if !o.expects(p) {
			return math.Inf(-1)
		}
		g := o.guess(p)
		return g.Gain - 4*excess(g.Slack)
	}
	for _, from := range top(all, climbs, score) {
		for range climbSteps {
			near := slices.DeleteFunc(s.Neighbours(from), func(p space.Point) bool { return !s.Feasible(p) })
			ask(near)
			next := from
			for _, q := range near {
				add(q)
				if score(q) > score(next) {
					next = q
				}
			}
			if s.Index(next) == s.Index(from) {
				break
			}
			from = next
		}
	}
	o.like(all, held{o})
	return o
}

// held is an opinion as a prior: it answers what the opinion holds already.
type held struct{ o *Opinion }

// Guess implements Prior.
func (k held) Guess(a space.Assignment) (Guess, bool) {
	p, err := k.o.space.Point(a)
	if err != nil || !k.o.expects(p) {
		return Guess{}, false
	}
	return k.o.guess(p), true
}

// Guess is what is expected of a configuration, or false where nothing is, or a failure.
func (o *Opinion) Guess(a space.Assignment) (Guess, bool) { return held{o}.Guess(a) }

// Liked are the up to n configurations that the prior expects most of, best first, with what it
// expects.
func (o *Opinion) Liked(n int) ([]space.Assignment, []Guess) {
	var all []space.Assignment
	var what []Guess
	for _, p := range top(o.liked, n, func(p space.Point) float64 { return o.guess(p).Gain }) {
		all, what = append(all, o.space.At(p)), append(what, o.guess(p))
	}
	return all, what
}

// apart moves points forward that differ from all before them in two knobs or more; the
// rest keeps its order.
func apart(points []space.Point) []space.Point {
	var front, rest []space.Point
	for _, p := range points {
		far := len(front) < openings
		for _, q := range front {
			n := 0
			for d := range p {
				if p[d] != q[d] {
					n++
				}
			}
			far = far && n >= min(2, len(p))
		}
		if far {
			front = append(front, p)
		} else {
			rest = append(rest, p)
		}
	}
	return append(front, rest...)
}

func (o *Opinion) guess(p space.Point) Guess {
	g, _ := o.ask(p)
	return g
}

// ask returns what is expected of a point, and whether it is expected to run.
func (o *Opinion) ask(p space.Point) (Guess, bool) {
	k := o.space.Index(p)
	if o.more == nil {
		g, ok := o.guesses[k]
		return g, ok
	}
	o.mu.Lock()
	g, ok := o.guesses[k]
	known := ok || o.refuse[k]
	o.mu.Unlock()
	if known {
		return g, ok
	}
	g, ok = o.more.Guess(o.space.At(p))
	o.mu.Lock()
	defer o.mu.Unlock()
	if ok {
		o.guesses[k] = g
	} else {
		o.refuse[k] = true
	}
	return g, ok
}

// expects reports whether the prior expects the point to run, or has no opinion at all.
func (o *Opinion) expects(p space.Point) bool {
	if o.more == nil && len(o.guesses) == 0 {
		return true
	}
	_, ok := o.ask(p)
	return ok
}
