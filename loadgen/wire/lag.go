package wire

import (
	"math/bits"
	"sync/atomic"
)

// lagHistogram counts durations in nanoseconds in buckets whose width is an eighth of
// their power of two: a quantile read from it is at most 12.5 % too large. It is safe for
// concurrent use and its zero value is empty.
type lagHistogram struct {
	buckets [64 * 8]atomic.Int64
	count   atomic.Int64
	max     atomic.Int64
}

// Record counts one duration; below zero counts as zero.
func (h *lagHistogram) Record(ns int64) {
	ns = max(ns, 0)
	h.buckets[bucketOf(uint64(ns))].Add(1)
	h.count.Add(1)
	for {
		m := h.max.Load()
		if ns <= m || h.max.CompareAndSwap(m, ns) {
			return
		}
	}
}

// Quantile returns the upper bound of the bucket that holds quantile q, and whether there
// is one.
func (h *lagHistogram) Quantile(q float64) (ns int64, ok bool) {
	n := h.count.Load()
	if n == 0 {
		return 0, false
	}
	rank := int64(q*float64(n-1)) + 1
	for i := range h.buckets {
		if rank -= h.buckets[i].Load(); rank <= 0 {
			return min(int64(upperOf(i)), h.max.Load()), true
		}
	}
	return h.max.Load(), true
}

func bucketOf(v uint64) int {
	if v < 8 {
		return int(v)
	}
	e := bits.Len64(v) - 4 // v>>e is 8…15
	return (e+1)*8 + int(v>>e) - 8
}

func upperOf(i int) uint64 {
	if i < 8 {
		return uint64(i)
	}
	e, m := i/8-1, uint64(i%8)
	return (m+8+1)<<e - 1
}
