package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// The forest's settings, those of SMAC: trees, and the fewest trials in a leaf. Each split
// may use every knob.
const (
	forestTrees = 10
	forestLeaf  = 1
)

// forest is a random forest for regression on a grid. Its trees differ by bootstrap, and by
// the order in which equally good splits are met.
type forest struct{ trees []*node }

// node is a leaf, or a split that sends a point left when its value of the knob is at most
// the threshold (ordered knobs) or equals it (others).
type node struct {
	mean        float64
	dim, value  int
	ordered     bool
	left, right *node // nil in a leaf
}

func growForest(rng *rand.Rand, s *space.Space, at []space.Point, y []float64) *forest {
	f := &forest{}
	for range forestTrees {
		rows := make([]int, len(y))
		for i := range rows {
			rows[i] = rng.IntN(len(y))
		}
		f.trees = append(f.trees, grow(rng, s, at, y, rows))
	}
	return f
}

func grow(rng *rand.Rand, s *space.Space, at []space.Point, y []float64, rows []int) *node {
	sum := 0.0
	for _, r := range rows {
		sum += y[r]
	}
	n := &node{mean: sum / float64(len(rows))}
	if len(rows) < 2*forestLeaf {
		return n
	}
	least := math.Inf(1)
	for _, d := range rng.Perm(len(s.Dims)) {
		ordered := s.Dims[d].Ordered
		for v := range s.Dims[d].Values {
			var ln, rn, ls, rs, lq, rq float64
			for _, r := range rows {
				if x := at[r][d]; (ordered && x <= v) || (!ordered && x == v) {
					ln, ls, lq = ln+1, ls+y[r], lq+y[r]*y[r]
				} else {
					rn, rs, rq = rn+1, rs+y[r], rq+y[r]*y[r]
				}
			}
			if ln < forestLeaf || rn < forestLeaf {
				continue
			}
			if sse := lq - ls*ls/ln + rq - rs*rs/rn; sse < least {
				least = sse
				n.dim, n.value, n.ordered = d, v, ordered
			}
		}
	}
	if math.IsInf(least, 1) {
		return n
	}
	var left, right []int
	for _, r := range rows {
		if n.goesLeft(at[r]) {
			left = append(left, r)
		} else {
			right = append(right, r)
		}
	}
	n.left, n.right = grow(rng, s, at, y, left), grow(rng, s, at, y, right)
	return n
}

func (n *node) goesLeft(p space.Point) bool {
	if n.ordered {
		return p[n.dim] <= n.value
	}
	return p[n.dim] == n.value
}

// predict is the mean of the trees' predictions and their variance.
func (f *forest) predict(p space.Point) (mean, variance float64) {
	sum, sq := 0.0, 0.0
	for _, n := range f.trees {
		for n.left != nil {
			if n.goesLeft(p) {
				n = n.left
			} else {
				n = n.right
			}
		}
		sum += n.mean
		sq += n.mean * n.mean
	}
	k := float64(len(f.trees))
	mean = sum / k
	return mean, max(sq/k-mean*mean, 0)
}

// top returns the n items with the largest score, in its order.
func top[T any](items []T, n int, score func(T) float64) []T {
	type scored struct {
		item T
		s    float64
	}
	all := make([]scored, len(items))
	for i, it := range items {
		all[i] = scored{it, score(it)}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.s, a.s) })
	out := make([]T, 0, min(n, len(all)))
	for _, a := range all[:min(n, len(all))] {
		out = append(out, a.item)
	}
	return out
}
