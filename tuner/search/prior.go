package search

import (
	"math/rand/v2"

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
	space   *space.Space
	guesses map[int]Guess // by index
	liked   []space.Point // what the prior expects most of, best first
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
	o := &Opinion{space: s, guesses: map[int]Guess{}}
	all := s.All()
	if all == nil {
		all = s.Sample(rand.New(rand.NewPCG(1, 0x9e37)), askAbout)
	}
	var holds []space.Point
	told := map[float64]bool{}
	for _, p := range all {
		g, ok := prior.Guess(s.At(p))
		if !ok {
			continue
		}
		o.guesses[s.Index(p)] = g
		if over := (&seen{slack: g.Slack}).violation(); over == 0 && !told[g.Gain] {
			told[g.Gain] = true
			holds = append(holds, p)
		}
	}
	o.liked = apart(top(holds, keepLiked, func(p space.Point) float64 { return o.guess(p).Gain }))
	return o
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

func (o *Opinion) guess(p space.Point) Guess { return o.guesses[o.space.Index(p)] }

// expects reports whether the prior expects the point to run, or has no opinion at all.
func (o *Opinion) expects(p space.Point) bool {
	if len(o.guesses) == 0 {
		return true
	}
	_, ok := o.guesses[o.space.Index(p)]
	return ok
}
