package director

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Outcome is what one phase measured.
type Outcome struct {
	// Scores are, by objective, the natural logarithm of measured over allowed: above 0
	// the objective was missed. An objective that could not be measured is absent.
	Scores map[string]float64
	// Observed are the measured values in words, such as "ttft p99 840 ms", by objective.
	Observed map[string]string
}

// worst is the objective with the highest score among those that are looked for.
func (o Outcome) worst(skip map[string]bool) (name string, score float64) {
	score = math.Inf(-1)
	for k, v := range o.Scores {
		if !skip[k] && !math.IsNaN(v) && (v > score || v == score && k < name) {
			name, score = k, v
		}
	}
	return name, score
}

// Trial runs one phase of the traffic at p, with sessions and arrivals of the seed.
type Trial func(ctx context.Context, p Point, seed uint64) (Outcome, error)

// Proposer names the next point to try, given what was tried. ok is false when it has no
// usable proposal; the deterministic search then proposes.
type Proposer interface {
	Propose(ctx context.Context, s Space, tried []Tried) (p Point, ok bool)
}

// Tried is one phase of a search.
type Tried struct {
	Point    Point              `json:"-"`
	Settings map[string]float64 `json:"settings"`
	Scores   map[string]float64 `json:"scores"`
	By       string             `json:"by"` // ByStart, BySearch, ByModel, ByConfirm or ByReduce
	Seed     uint64             `json:"seed"`
	Error    string             `json:"error,omitempty"`
}

// Who proposed a phase.
const (
	ByStart   = "start"   // the baseline and the far end of each setting
	BySearch  = "search"  // the Bayesian search
	ByModel   = "model"   // a model
	ByConfirm = "confirm" // the same traffic with another seed
	ByReduce  = "reduce"  // a smaller change of a weakness
)

// Search looks for weaknesses. Space, Trial and Budget are required.
type Search struct {
	Space  Space
	Trial  Trial
	Budget int // phases that explore; confirming and reducing have budgets of their own
	Seed   uint64

	// Proposer, when not nil, proposes every Every-th exploring phase after the start.
	Proposer Proposer
	Every    int // 0 is 2

	// Repeats is how many other seeds a finding is tried with, of which more than half
	// must break the objective again; 0 is 3.
	Repeats int
	// Reduce is how many phases may be spent on making one weakness smaller; 0 is 24.
	Reduce int
	// Weaknesses ends the search when so many were found; 0 is 1.
	Weaknesses int
	// Progress is called after every phase; nil is not.
	Progress func(Tried)
}

// Run searches until its budget is used or enough weaknesses are found. A trial that fails
// is an observation without scores; the context's end stops the search, and what was
// found until then is returned with its error.
func (s *Search) Run(ctx context.Context) (*Map, error) {
	if len(s.Space) == 0 || s.Trial == nil || s.Budget < 1 {
		return nil, errors.New("director: a search needs a space, a trial and a budget")
	}
	r := &runner{s: s, m: &Map{Space: s.Space}, rng: rand.New(rand.NewPCG(s.Seed, 0x736561726368)), found: map[string]bool{}, seen: map[string]bool{}}
	want := max(s.Weaknesses, 1)
	for r.m.Explored < s.Budget && len(r.m.Weaknesses) < want {
		p, by := r.next(ctx)
		if p == nil {
			break // every point was tried
		}
		out, err := r.try(ctx, p, by, s.Seed)
		r.m.Explored++
		if err != nil {
			return r.m, err
		}
		if name, score := out.worst(r.found); score > 0 {
			if err := r.weakness(ctx, p, name); err != nil {
				return r.m, err
			}
		}
	}
	return r.m, nil
}

// runner is one search on its way.
type runner struct {
	s     *Search
	m     *Map
	rng   *rand.Rand
	found map[string]bool // objectives that need no more search
	seen  map[string]bool // points that were explored
	start []Point
	turns int // exploring phases after the start
}

// try runs a phase and keeps it.
func (r *runner) try(ctx context.Context, p Point, by string, seed uint64) (Outcome, error) {
	out, err := r.s.Trial(ctx, p, seed)
	t := Tried{Point: slices.Clone(p), Settings: r.s.Space.Values(p), Scores: out.Scores, By: by, Seed: seed}
	if err != nil {
		if ctx.Err() != nil {
			return out, fmt.Errorf("search: %w", context.Cause(ctx))
		}
		t.Error = err.Error()
	}
	r.m.Tried = append(r.m.Tried, t)
	r.seen[p.key()] = true
	if r.s.Progress != nil {
		r.s.Progress(t)
	}
	return out, nil
}

// next picks the next point to explore.
func (r *runner) next(ctx context.Context) (Point, string) {
	if r.start == nil {
		r.start = opening(r.s.Space)
	}
	for len(r.start) > 0 {
		p := r.start[0]
		r.start = r.start[1:]
		if !r.seen[p.key()] {
			return p, ByStart
		}
	}
	if len(r.seen) >= r.s.Space.Size() {
		return nil, ""
	}
	r.turns++
	every := max(r.s.Every, 1)
	if r.s.Every == 0 {
		every = 2
	}
	if r.s.Proposer != nil && r.turns%every == 0 {
		if p, ok := r.s.Proposer.Propose(ctx, r.s.Space, r.m.Tried); ok && !r.seen[p.key()] {
			r.m.ByModel++
			return p, ByModel
		}
		r.m.Refused++
	}
	return r.search(), BySearch
}

// opening is the baseline and, for each setting alone, its end that is farther away.
func opening(s Space) []Point {
	out := []Point{s.Baseline()}
	for i := range s {
		p := s.Baseline()
		if far := len(s[i].Values) - 1; s[i].Baseline*2 <= far {
			p[i] = far
		} else {
			p[i] = 0
		}
		out = append(out, p)
	}
	return out
}

// candidates of one step of the search.
const candidates = 600

// search is the point with the largest expected improvement among random points and the
// neighbours of the best points so far.
func (r *runner) search() Point {
	var points []Point
	var y []float64
	type scored struct {
		p Point
		y float64
	}
	var best []scored
	for _, t := range r.m.Tried {
		if t.Error != "" || t.By == ByConfirm {
			continue
		}
		_, score := Outcome{Scores: t.Scores}.worst(r.found)
		score = math.Min(math.Max(score, -4), 4)
		points, y = append(points, t.Point), append(y, score)
		best = append(best, scored{t.Point, score})
	}
	g := fit(r.s.Space, points, y)
	slices.SortStableFunc(best, func(a, b scored) int { return compare(b.y, a.y) })
	var pool []Point
	for range candidates {
		pool = append(pool, r.random())
	}
	for _, b := range best[:min(3, len(best))] {
		pool = append(pool, neighbours(r.s.Space, b.p)...)
		for _, c := range best[:min(6, len(best))] {
			pool = append(pool, join(r.s.Space, b.p, c.p))
		}
	}
	var pick Point
	value := math.Inf(-1)
	for _, p := range pool {
		if r.seen[p.key()] {
			continue
		}
		v := r.rng.Float64() * 1e-9 // breaks ties
		if g != nil {
			mean, sd := g.predict(p)
			v += improvement(mean, sd, best[0].y)
		}
		if v > value {
			pick, value = p, v
		}
	}
	for pick == nil { // only when nearly everything was tried
		if p := r.random(); !r.seen[p.key()] {
			pick = p
		}
	}
	return pick
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (r *runner) random() Point {
	p := make(Point, len(r.s.Space))
	for i := range p {
		p[i] = r.rng.IntN(len(r.s.Space[i].Values))
	}
	return p
}

// neighbours are the points that differ in one setting.
func neighbours(s Space, p Point) []Point {
	var out []Point
	for i := range s {
		for v := range s[i].Values {
			if v != p[i] {
				q := slices.Clone(p)
				q[i] = v
				out = append(out, q)
			}
		}
	}
	return out
}

// join has every change from the baseline that either point has.
func join(s Space, a, b Point) Point {
	p := slices.Clone(a)
	for i := range p {
		if p[i] == s[i].Baseline {
			p[i] = b[i]
		}
	}
	return p
}
