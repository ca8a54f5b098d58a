package offline

import "time"

type kind uint8

const (
	evTurn  kind = iota // a turn is due
	evReach             // a request reaches the server
	evDone              // a response is over at the client
)

type event struct {
	at   time.Duration
	seq  uint64 // ties go to the earlier push
	kind kind
	f    *flight
}

// heap is a binary heap of events, earliest first.
type heap struct {
	items []event
	seq   uint64
}

func (h *heap) len() int { return len(h.items) }

// top is the earliest instant, or forever.
func (h *heap) top() time.Duration {
	if len(h.items) == 0 {
		return forever
	}
	return h.items[0].at
}

func (h *heap) less(i, j int) bool {
	a, b := &h.items[i], &h.items[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

func (h *heap) push(at time.Duration, k kind, f *flight) {
	h.seq++
	h.items = append(h.items, event{at, h.seq, k, f})
	for i := len(h.items) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(i, up) {
			return
		}
		h.items[i], h.items[up] = h.items[up], h.items[i]
		i = up
	}
}

func (h *heap) pop() event {
	e := h.items[0]
	n := len(h.items) - 1
	h.items[0] = h.items[n]
	h.items[n] = event{}
	h.items = h.items[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return e
		}
		if c+1 < n && h.less(c+1, c) {
			c++
		}
		if !h.less(c, i) {
			return e
		}
		h.items[i], h.items[c] = h.items[c], h.items[i]
		i = c
	}
}
