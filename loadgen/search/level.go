package search

import "math"

// Decision is what a level says about its rate.
type Decision int

// The decisions.
const (
	Continue  Decision = iota // more requests are needed
	Pass                      // every limit is kept
	Fail                      // a limit is missed, or the backlog grows
	Undecided                 // the requests are used up, and the rate is near the limit
)

// String names the decision.
func (d Decision) String() string {
	return [...]string{"continue", "pass", "fail", "undecided"}[d]
}

// The errors of the sequential test: the chance to fail a rate at the allowed share of
// misses, and to pass one at twice the share.
const (
	alpha = 0.05
	beta  = 0.10
)

// Sizes of a level. Requests are gathered in blocks; when there are maxBlocks, neighbours
// are joined, so a level has bounded memory and its blocks grow with it.
const (
	firstBlock  = 16
	maxBlocks   = 64
	minBlocks   = 10
	minRequests = 200
)

// maxLimits bounds the limits of a search: their misses are a word of bits.
const maxLimits = 64

// Level is one rate under test: a sequential test over the outcomes of its requests, taken
// in the order in which they were started, so that slow requests are not judged later
// than fast ones. It is used by one goroutine at a time.
type Level struct {
	rate   float64
	limits []Limit
	settle int  // requests at the start that do not count
	max    int  // requests after which it ends
	fixed  bool // no early end

	pending []outcome // started, in order; the first is not finished
	base    int       // number of the first pending request
	size    int       // of a block
	blocks  []block
	n       int // requests that counted
}

type outcome struct {
	done   bool
	misses uint64
	open   int // requests open when it was started
}

// block is the counts of consecutive requests.
type block struct {
	n, open int
	miss    []int
}

func newLevel(p Probe, limits []Limit) *Level {
	return &Level{rate: p.Rate, limits: limits, settle: p.Settle, max: p.Requests, fixed: p.Fixed, size: firstBlock}
}

// Start counts a request that is being sent and returns its number.
func (l *Level) Start() int {
	l.pending = append(l.pending, outcome{open: l.Open()})
	return l.base + len(l.pending) - 1
}

// Open is the number of requests that are started and not finished.
func (l *Level) Open() int {
	open := 0
	for _, o := range l.pending {
		if !o.done {
			open++
		}
	}
	return open
}

// Finish tells the outcome of a request. misses has bit i set when limit i is missed; a
// request that failed misses all of them ([AllMissed]).
func (l *Level) Finish(number int, misses uint64) {
	l.pending[number-l.base].done = true
	l.pending[number-l.base].misses = misses
	ready := 0
	for ready < len(l.pending) && l.pending[ready].done {
		if l.base+ready >= l.settle {
			l.add(l.pending[ready])
		}
		ready++
	}
	l.base += ready
	l.pending = append(l.pending[:0], l.pending[ready:]...)
}

// AllMissed is the misses of a request that failed.
const AllMissed = math.MaxUint64

func (l *Level) add(o outcome) {
	if len(l.blocks) == 0 || l.blocks[len(l.blocks)-1].n >= l.size {
		if len(l.blocks) == maxBlocks {
			l.join()
		}
		l.blocks = append(l.blocks, block{miss: make([]int, len(l.limits))})
	}
	b := &l.blocks[len(l.blocks)-1]
	b.n++
	b.open += o.open
	for i := range b.miss {
		b.miss[i] += int(o.misses >> i & 1)
	}
	l.n++
}

// join merges neighbouring blocks.
func (l *Level) join() {
	for i := range maxBlocks / 2 {
		a, b := l.blocks[2*i], l.blocks[2*i+1]
		for j := range a.miss {
			a.miss[j] += b.miss[j]
		}
		a.n, a.open = a.n+b.n, a.open+b.open
		l.blocks[i] = a
	}
	l.blocks = l.blocks[:maxBlocks/2]
	l.size *= 2
}

// whole returns the blocks that are full.
func (l *Level) whole() []block {
	if k := len(l.blocks); k > 0 && l.blocks[k-1].n < l.size {
		return l.blocks[:k-1]
	}
	return l.blocks
}

// misses counts the misses of limit i.
func (l *Level) misses(i int) int {
	k := 0
	for _, b := range l.blocks {
		k += b.miss[i]
	}
	return k
}

// scales are how many neighbouring blocks are taken together to measure how misses clump:
// clumps that are longer than a block show only in longer ones.
var scales = [...]int{1, 2, 4, 8}

// fewest is the least number of stretches that a scale is measured from.
const fewest = 6

// clumping sums squared deviations and degrees of freedom at each scale.
type clumping [len(scales)]struct{ sum, freedom float64 }

// effect is the design effect: the variance of the count of misses, in units of that of
// independent misses, at the scale where it is largest. It is 1 or more.
func (c clumping) effect() float64 {
	effect := 1.0
	for _, s := range c {
		if s.freedom > 0 {
			effect = max(effect, s.sum/s.freedom)
		}
	}
	return effect
}

// clumps adds what the level tells of the clumping of the misses of limit i.
func (l *Level) clumps(i int, c *clumping) {
	blocks := l.whole()
	n, k := 0, 0
	for _, b := range blocks {
		n, k = n+b.n, k+b.miss[i]
	}
	if k == 0 || k == n {
		return
	}
	p := float64(k) / float64(n)
	for at, scale := range scales {
		stretches := len(blocks) / scale
		if stretches < fewest {
			break
		}
		for j := range stretches {
			size, missed := 0.0, 0.0
			for _, b := range blocks[j*scale : (j+1)*scale] {
				size, missed = size+float64(b.n), missed+float64(b.miss[i])
			}
			d := missed - size*p
			c[at].sum += d * d / (size * p * (1 - p))
		}
		c[at].freedom += float64(stretches - 1)
	}
}

// overloaded reports that limit i is missed far more often than is allowed.
func (l *Level) overloaded(i int, allowed float64) bool {
	return float64(l.misses(i)) > 10*allowed*float64(l.n)
}

// Decide tells what is known by now.
func (l *Level) Decide() Decision {
	ended := l.n >= l.max
	if l.n < minRequests && !ended || len(l.whole()) < minBlocks && !ended || l.fixed && !ended {
		return Continue
	}
	all := Pass
	for i, limit := range l.limits {
		switch l.test(i, limit.Allowed) {
		case Fail:
			return Fail
		case Undecided:
			all = Undecided
		}
	}
	if l.Growing() {
		return Fail
	}
	if all == Undecided && !ended {
		return Continue
	}
	return all
}

// test is the sequential probability ratio test of limit i.
func (l *Level) test(i int, allowed float64) Decision {
	p0, p1 := allowed, min(2*allowed, (1+allowed)/2)
	n, k := float64(l.n), float64(l.misses(i))
	var c clumping
	l.clumps(i, &c)
	ratio := (k*math.Log(p1/p0) + (n-k)*math.Log((1-p1)/(1-p0))) / c.effect()
	switch {
	case ratio >= math.Log((1-beta)/alpha):
		return Fail
	case ratio <= math.Log(beta/(1-alpha)):
		return Pass
	}
	return Undecided
}

// Growing reports that the number of open requests rises through the level: a line through
// the means of the blocks rises by more than half of the mean over the level, and by four
// times its standard error.
func (l *Level) Growing() bool {
	blocks := l.whole()
	if len(blocks) < minBlocks {
		return false
	}
	m := float64(len(blocks))
	var mean, slope, spread, left float64
	at := func(i int) float64 { return float64(i) - (m-1)/2 }
	for i, b := range blocks {
		y := float64(b.open) / float64(b.n)
		mean += y / m
		slope += at(i) * y
		spread += at(i) * at(i)
	}
	slope /= spread
	for i, b := range blocks {
		d := float64(b.open)/float64(b.n) - mean - slope*at(i)
		left += d * d
	}
	se := math.Sqrt(left / (m - 2) / spread)
	return mean > 1 && slope*m > 0.5*mean && slope > 4*se
}
