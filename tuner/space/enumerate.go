package space

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// Most is the largest space whose points are listed one by one. Larger ones are sampled.
const Most = 1 << 17

// listed are the points of a space that its constraints allow, found once.
type listed struct {
	once sync.Once
	all  []Point
	ok   []bool // by number
}

// Default is the point with every knob left unset, or nil where a knob cannot be.
func (s *Space) Default() Point {
	p, err := s.Point(Assignment{})
	if err != nil {
		return nil
	}
	return p
}

// Feasible reports whether no constraint rules the point out. Where the points can be listed
// it looks the answer up; see [Space.All].
func (s *Space) Feasible(p Point) bool {
	if len(s.Constraints) == 0 {
		return true
	}
	if s.All(); s.points.ok != nil {
		return s.points.ok[s.Index(p)]
	}
	return s.holds(p)
}

// holds asks the constraints.
func (s *Space) holds(p Point) bool {
	a := s.At(p)
	for _, c := range s.Constraints {
		if c.Check(a) != nil {
			return false
		}
	}
	return true
}

// All lists the points that no constraint rules out, the last knob varying fastest. It is
// nil for a space of more than [Most] points. The list is made once and must not be
// changed; neither may the space after the first call. It is safe for concurrent use.
func (s *Space) All() []Point {
	s.points.once.Do(func() {
		n := s.Size()
		if n > Most {
			return
		}
		s.points.ok = make([]bool, n)
		for i := range n {
			if p := s.Nth(i); s.holds(p) {
				s.points.ok[i] = true
				s.points.all = append(s.points.all, p)
			}
		}
	})
	return s.points.all
}

// Nth is the point with that number, from 0 to Size()-1, constraints not counted.
func (s *Space) Nth(i int) Point {
	p := make(Point, len(s.Dims))
	for d := len(s.Dims) - 1; d >= 0; d-- {
		k := len(s.Dims[d].Values)
		p[d] = i % k
		i /= k
	}
	return p
}

// Index is the number of a point: Nth(Index(p)) equals p.
func (s *Space) Index(p Point) int {
	n := 0
	for d, i := range p {
		n = n*len(s.Dims[d].Values) + i
	}
	return n
}

// Neighbours lists the feasible points that differ in one knob: by one step where its
// values are ordered, by any change where they are not.
func (s *Space) Neighbours(p Point) []Point {
	var out []Point
	add := func(d, v int) {
		q := slices.Clone(p)
		q[d] = v
		if s.Feasible(q) {
			out = append(out, q)
		}
	}
	for d, dim := range s.Dims {
		if !dim.Ordered {
			for v := range dim.Values {
				if v != p[d] {
					add(d, v)
				}
			}
			continue
		}
		if p[d] > 0 {
			add(d, p[d]-1)
		}
		if p[d]+1 < len(dim.Values) {
			add(d, p[d]+1)
		}
	}
	return out
}

// Sample draws up to n different feasible points, uniformly. It returns fewer where the
// space has fewer, or where almost all of it is ruled out.
func (s *Space) Sample(rng *rand.Rand, n int) []Point {
	if all := s.All(); all != nil {
		n = min(n, len(all))
		if n*8 < len(all) {
			taken := make(map[int]bool, n)
			out := make([]Point, 0, n)
			for len(out) < n {
				if i := rng.IntN(len(all)); !taken[i] {
					taken[i] = true
					out = append(out, all[i])
				}
			}
			return out
		}
		out := make([]Point, 0, n)
		for _, i := range rng.Perm(len(all))[:n] {
			out = append(out, all[i])
		}
		return out
	}
	if s.Size() <= Most {
		return nil // everything is ruled out
	}
	seen := make(map[int]bool, n)
	var out []Point
	for try := 0; len(out) < n && try < 200*n; try++ {
		p := make(Point, len(s.Dims))
		for d := range p {
			p[d] = rng.IntN(len(s.Dims[d].Values))
		}
		if i := s.Index(p); !seen[i] && s.Feasible(p) {
			seen[i] = true
			out = append(out, p)
		}
	}
	return out
}

// Distance is how far apart two values of a knob are, from 0 to 1: by their ranks where the
// values are ordered, 0 or 1 where they are not. An unset value whose meaning is not known
// is half-way from everything else.
func (d *Dim) Distance(i, j int) float64 {
	switch {
	case i == j:
		return 0
	case !d.Ordered:
		return 1
	}
	a, aok := d.Position(i)
	b, bok := d.Position(j)
	if !aok || !bok {
		return 0.5
	}
	return math.Abs(a - b)
}

// Position is a value's place on the knob's axis, from 0 to 1. It is not known for knobs
// without order, and for an unset value that stands first because nobody knows what it
// means.
func (d *Dim) Position(i int) (float64, bool) {
	if !d.Ordered {
		return 0, false
	}
	first := 0
	if d.Values[0] == "" && d.Unset == "" {
		if i == 0 {
			return 0, false
		}
		first = 1
	}
	if n := len(d.Values) - 1 - first; n > 0 {
		return float64(i-first) / float64(n), true
	}
	return 0, true
}
