package sim

// pool accounts for the KV blocks of one engine and holds the prefix cache: a radix tree
// over block keys. A block is in exactly one state: held by running requests (used), kept
// in the tree for reuse (cached), lost to a leak, or free. Cached blocks count as
// available, because they are evicted when room is needed, least recently used first and
// the tail of a run before its head.
type pool struct {
	total, used, cached, lost int
	caching                   bool
	root                      node
	lru                       node // sentinel of the list of evictable leaves, oldest first
	stamp                     uint64
	evicted                   int64 // blocks, cumulative
	onEvict                   func(keys []uint64)
}

// node is a run of consecutive blocks that share one history.
type node struct {
	parent     *node
	children   map[uint64]*node
	keys       []uint64
	ref        int // requests that hold the run
	stamp      uint64
	prev, next *node // in pool.lru when ref is 0 and there are no children
}

func newPool(total int, caching bool) *pool {
	p := &pool{total: total, caching: caching}
	p.lru.prev, p.lru.next = &p.lru, &p.lru
	return p
}

// avail is the number of blocks that a request could get, evictions included.
func (p *pool) avail() int { return p.total - p.lost - p.used }

// take hands out n private blocks. The caller has checked avail.
func (p *pool) take(n int) {
	p.used += n
	p.makeRoom()
}

// makeRoom evicts cached blocks until the states fit the total.
func (p *pool) makeRoom() {
	for over := p.used + p.cached + p.lost - p.total; over > 0; over = p.used + p.cached + p.lost - p.total {
		leaf := p.lru.next
		if leaf == &p.lru {
			return
		}
		p.evict(leaf, over)
	}
}

func (p *pool) evict(leaf *node, n int) {
	cut := max(len(leaf.keys)-n, 0)
	if p.onEvict != nil {
		p.onEvict(leaf.keys[cut:])
	}
	p.cached -= len(leaf.keys) - cut
	p.evicted += int64(len(leaf.keys) - cut)
	if cut > 0 {
		leaf.keys = leaf.keys[:cut]
		return
	}
	p.unlink(leaf)
	up := leaf.parent
	delete(up.children, leaf.keys[0])
	if up != &p.root && up.ref == 0 && len(up.children) == 0 {
		p.link(up)
	}
}

// link puts a leaf in the list at the place of its last use.
func (p *pool) link(n *node) {
	at := p.lru.prev
	if n.stamp < at.stamp { // only a run whose last child was evicted is older than the newest
		at = &p.lru
		for at.next != &p.lru && at.next.stamp < n.stamp {
			at = at.next
		}
	}
	n.prev, n.next = at, at.next
	at.next.prev = n
	at.next = n
}

func (p *pool) unlink(n *node) {
	n.prev.next, n.next.prev = n.next, n.prev
	n.prev, n.next = nil, nil
}

// match returns how many of the leading keys are cached, and the node that holds the last
// of them with the number of its blocks that match.
func (p *pool) match(keys []uint64) (at *node, within, n int) {
	at = &p.root
	for p.caching && n < len(keys) {
		next := at.children[keys[n]]
		if next == nil {
			break
		}
		within = common(next.keys, keys[n:])
		at, n = next, n+within
		if within < len(next.keys) {
			break
		}
	}
	return at, within, n
}

func common(a, b []uint64) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// acquire holds the path from the root to the first within blocks of at, splitting at
// where the match ends inside it, and returns the node that the request now ends in.
func (p *pool) acquire(at *node, within int) *node {
	if at == &p.root {
		return at
	}
	if within < len(at.keys) {
		at = p.split(at, within)
	}
	for n := at; n != &p.root; n = n.parent {
		p.hold(n)
	}
	return at
}

func (p *pool) hold(n *node) {
	if n.ref == 0 {
		p.used += len(n.keys)
		p.cached -= len(n.keys)
		if n.next != nil {
			p.unlink(n)
		}
	}
	n.ref++
}

// split cuts n after k blocks and returns the new upper half.
func (p *pool) split(n *node, k int) *node {
	up := &node{parent: n.parent, keys: n.keys[:k:k], ref: n.ref, stamp: n.stamp, children: map[uint64]*node{n.keys[k]: n}}
	n.parent.children[n.keys[0]] = up
	n.parent, n.keys = up, n.keys[k:]
	return up
}

// extend moves a request's computed blocks from private ownership into the tree, below the
// node it ends in. Blocks that another request put there first are shared and the private
// copies go back to the pool. It returns the new end.
func (p *pool) extend(at *node, keys []uint64) *node {
	for i := 0; i < len(keys); {
		next := at.children[keys[i]]
		if next == nil {
			next = &node{parent: at, keys: keys[i:], ref: 1, stamp: p.stamp}
			if at.children == nil {
				at.children = make(map[uint64]*node, 1)
			}
			at.children[keys[i]] = next
			return next
		}
		k := common(next.keys, keys[i:])
		if k < len(next.keys) {
			next = p.split(next, k)
		}
		p.used -= k
		p.hold(next)
		at, i = next, i+k
	}
	return at
}

// release gives back a request's private blocks and lets go of its path. The blocks of the
// path stay cached.
func (p *pool) release(at *node, private int) {
	p.used -= private
	p.stamp++
	for n := at; n != &p.root; n = n.parent {
		n.ref--
		n.stamp = p.stamp
		if n.ref == 0 {
			p.used -= len(n.keys)
			p.cached += len(n.keys)
			if len(n.children) == 0 {
				p.link(n)
			}
		}
	}
}

// reset drops every cached block that no request holds.
func (p *pool) reset() {
	for p.lru.next != &p.lru {
		leaf := p.lru.next
		p.evict(leaf, len(leaf.keys))
	}
}

// usage is the share of blocks that are not available: what vLLM reports.
func (p *pool) usage() float64 {
	if p.total == 0 {
		return 0
	}
	return float64(p.used+p.lost) / float64(p.total)
}
