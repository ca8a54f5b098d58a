package search

import (
	"math/bits"
	"math/rand/v2"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Sobol proposes the points of a scrambled Sobol sequence in its order: random points that
// avoid each other.
type Sobol struct {
	space *space.Space
	seed  uint64
}

// NewSobol returns the strategy over a space. The seed chooses the scrambling.
func NewSobol(s *space.Space, seed uint64) *Sobol { return &Sobol{s, seed} }

// Name is "sobol".
func (*Sobol) Name() string { return "sobol" }

// sobolTries bounds how far along the sequence Ask looks for points that may be proposed.
const sobolTries = 1 << 13

// Ask implements tuner.Strategy. It uses no randomness beyond the seed.
func (s *Sobol) Ask(_ *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	v := look(s.space, tuner.Goal{}, history)
	var out []tuner.Proposal
	for _, p := range s.fresh(v, n) {
		out = append(out, v.proposal(p, s.Name()))
	}
	return out
}

// fresh returns the first n points of the sequence that are feasible and not tried.
func (s *Sobol) fresh(v *view, n int) []space.Point {
	var out []space.Point
	taken := map[int]bool{}
	for i := uint32(0); i < sobolTries && len(out) < n; i++ {
		p := make(space.Point, len(s.space.Dims))
		for d := range p {
			k := len(s.space.Dims[d].Values)
			p[d] = min(int(sobol(i, d, s.seed)*float64(k)), k-1)
		}
		if k := s.space.Index(p); !taken[k] && v.fresh(p) && s.space.Feasible(p) {
			taken[k] = true
			out = append(out, p)
		}
	}
	return out
}

// directions are the primitive polynomials and initial direction numbers of S. Joe and
// F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM
// J. Sci. Comput. 30 (2008), for the dimensions after the first: the polynomial's inner
// coefficients as bits, and its m_i.
var directions = []struct {
	a uint32
	m []uint32
}{
	{0, []uint32{1}}, {1, []uint32{1, 3}}, {1, []uint32{1, 3, 1}}, {2, []uint32{1, 1, 1}}, {1, []uint32{1, 1, 3, 3}},
	{4, []uint32{1, 3, 5, 13}}, {2, []uint32{1, 1, 5, 5, 17}}, {4, []uint32{1, 1, 5, 5, 5}}, {7, []uint32{1, 1, 7, 11, 19}},
	{11, []uint32{1, 1, 5, 1, 1}}, {13, []uint32{1, 1, 1, 3, 11}}, {14, []uint32{1, 3, 5, 5, 31}}, {1, []uint32{1, 3, 3, 9, 7, 49}},
	{13, []uint32{1, 1, 1, 15, 21, 21}}, {16, []uint32{1, 3, 1, 13, 27, 49}}, {19, []uint32{1, 1, 1, 15, 7, 5}},
	{22, []uint32{1, 3, 1, 15, 13, 25}}, {25, []uint32{1, 1, 5, 5, 19, 61}},
}

// sobol is coordinate d of point i, in [0,1), with nested uniform scrambling by hashing
// (B. Burley, "Practical hash-based Owen scrambling", JCGT 9, 2020). Beyond the dimensions
// of the table the sequence is used again in a shuffled order.
func sobol(i uint32, d int, seed uint64) float64 {
	h := uint32(mix(seed + uint64(d)*0x9e3779b97f4a7c15))
	dims := len(directions) + 1
	if d >= dims {
		i = scramble(i, uint32(mix(seed^uint64(d/dims))))
		d %= dims
	}
	return float64(scramble(coordinate(i, d), h)) / (1 << 32)
}

// coordinate is the unscrambled Sobol coordinate as a 32-bit fraction.
func coordinate(i uint32, d int) uint32 {
	if d == 0 {
		return bits.Reverse32(i)
	}
	dir := directions[d-1]
	s := len(dir.m)
	var v [32]uint32
	for k := range v {
		if k < s {
			v[k] = dir.m[k] << (31 - k)
			continue
		}
		v[k] = v[k-s] ^ v[k-s]>>s
		for j := 1; j < s; j++ {
			if dir.a>>(s-1-j)&1 == 1 {
				v[k] ^= v[k-j]
			}
		}
	}
	x := uint32(0)
	for k := 0; i != 0; k, i = k+1, i>>1 {
		if i&1 == 1 {
			x ^= v[k]
		}
	}
	return x
}

// scramble permutes a fraction so that each bit is flipped depending on the bits above it.
func scramble(x, seed uint32) uint32 {
	x = bits.Reverse32(x)
	x += seed
	x ^= x * 0x6c50b47c
	x ^= x * 0xb82f1e52
	x ^= x * 0xc7afe638
	x ^= x * 0x8d22f6e6
	return bits.Reverse32(x)
}

// mix is the finaliser of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
