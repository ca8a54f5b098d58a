package sim

// hostCache remembers the keys of KV blocks that were evicted to host memory, oldest out
// first. Blocks come back over the host link instead of being computed again.
type hostCache struct {
	cap  int
	have map[uint64]int // key to the number of its entries in order
	fifo []uint64
	head int
}

func newHostCache(blocks int) *hostCache {
	return &hostCache{cap: blocks, have: make(map[uint64]int)}
}

func (h *hostCache) put(keys []uint64) {
	for _, k := range keys {
		h.have[k]++
		h.fifo = append(h.fifo, k)
	}
	for len(h.fifo)-h.head > h.cap {
		k := h.fifo[h.head]
		h.head++
		if h.have[k]--; h.have[k] == 0 {
			delete(h.have, k)
		}
	}
	if h.head > 4096 && h.head*2 > len(h.fifo) {
		h.fifo = append(h.fifo[:0], h.fifo[h.head:]...)
		h.head = 0
	}
}

// match returns how many of the leading keys are in host memory. Keys identify the content
// of one block; a block whose history differs but whose own tokens agree would match too,
// which for 16 and more tokens of text does not happen by accident.
func (h *hostCache) match(keys []uint64) int {
	for i, k := range keys {
		if h.have[k] == 0 {
			return i
		}
	}
	return len(keys)
}

func (h *hostCache) reset() {
	clear(h.have)
	h.fifo, h.head = h.fifo[:0], 0
}
