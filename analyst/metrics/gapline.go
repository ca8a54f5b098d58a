package metrics

import (
	"cmp"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// gaplineBins is how many bins a Gapline keeps before it doubles their width.
const gaplineBins = 2400

// Gapline is the gaps between chunks over time: a coarse histogram for each stretch of
// equal width. The width starts at one second and doubles when the run gets long, so
// memory is bounded. The zero Gapline is ready.
type Gapline struct {
	width int64 // nanoseconds; 0 before the first gap
	bins  []gapBin
}

// gapBin is the gaps that ended in one stretch.
type gapBin struct {
	at     int64 // number of the stretch
	n      uint32
	counts map[int16]uint32
}

func (g *Gapline) add(at archive.Instant, bucket int) {
	if g.width == 0 {
		g.width = 1e9
	}
	k := int64(at) / g.width
	// Gaps come nearly in order of time.
	i, found := len(g.bins)-1, false
	if i >= 0 && g.bins[i].at == k {
		found = true
	} else {
		i, found = slices.BinarySearchFunc(g.bins, k, func(b gapBin, k int64) int { return cmp.Compare(b.at, k) })
	}
	if !found {
		if len(g.bins) == gaplineBins {
			g.double()
			g.add(at, bucket)
			return
		}
		g.bins = slices.Insert(g.bins, i, gapBin{at: k, counts: map[int16]uint32{}})
	}
	b := &g.bins[i]
	b.n++
	b.counts[int16(bucket/2)]++
}

// double joins neighbouring bins.
func (g *Gapline) double() {
	g.width *= 2
	out := g.bins[:0]
	for _, b := range g.bins {
		b.at /= 2
		if n := len(out); n > 0 && out[n-1].at == b.at {
			out[n-1].n += b.n
			for k, c := range b.counts {
				out[n-1].counts[k] += c
			}
			continue
		}
		out = append(out, b)
	}
	g.bins = out
}

// Medians returns the median gap of each stretch inside [from, to] that holds at least
// least gaps, with the middle of the stretch, and the width of a stretch in seconds.
func (g *Gapline) Medians(from, to archive.Instant, least int) (at []archive.Instant, ms []float64, width float64) {
	for i := range g.bins {
		b := &g.bins[i]
		mid := archive.Instant(b.at*g.width + g.width/2)
		if mid < from || mid > to || int(b.n) < least {
			continue
		}
		keys := make([]int16, 0, len(b.counts))
		for k := range b.counts {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		seen := uint32(0)
		for _, k := range keys {
			seen += b.counts[k]
			if 2*seen >= b.n {
				at, ms = append(at, mid), append(ms, stats.BucketValue(2*int(k)+1))
				break
			}
		}
	}
	return at, ms, float64(g.width) / 1e9
}
