//go:build linux

package null

import "container/heap"

// wheel holds streams by the time of their next write.
type wheel struct{ h byDue }

type byDue []*conn

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].due < h[j].due }
func (h byDue) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop are for package heap.
func (h *byDue) Push(x any) { *h = append(*h, x.(*conn)) }

// Pop removes the last.
func (h *byDue) Pop() any {
	old := *h
	c := old[len(old)-1]
	*h = old[:len(old)-1]
	return c
}

func (w *wheel) add(c *conn) { heap.Push(&w.h, c) }

// next returns the earliest due time.
func (w *wheel) next() (int64, bool) {
	if len(w.h) == 0 {
		return 0, false
	}
	return w.h[0].due, true
}

// pop returns a stream that is due at now, nil when there is none.
func (w *wheel) pop(now int64) *conn {
	if len(w.h) == 0 || w.h[0].due > now {
		return nil
	}
	return heap.Pop(&w.h).(*conn)
}
