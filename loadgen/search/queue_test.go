package search_test

import (
	"container/heap"
	"math/rand/v2"

	"github.com/inferencebench/inferencebench/loadgen/search"
)

// queue is a station of servers with one line, simulated event by event: the synthetic
// server of the tests, whose capacity is known.
type queue struct {
	servers int
	service func(r *rand.Rand) float64 // seconds
	limit   float64                    // of the time in the system, in seconds
	rng     *rand.Rand
}

// times is a heap of instants.
type times []float64

func (h times) Len() int           { return len(h) }
func (h times) Less(i, j int) bool { return h[i] < h[j] }
func (h times) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *times) Push(x any)        { *h = append(*h, x.(float64)) }
func (h *times) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// leaving is a request in the system.
type leaving struct {
	at     float64
	number int
	missed bool
}

type departures []leaving

func (h departures) Len() int           { return len(h) }
func (h departures) Less(i, j int) bool { return h[i].at < h[j].at }
func (h departures) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *departures) Push(x any)        { *h = append(*h, x.(leaving)) }
func (h *departures) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// probe carries a probe out.
func (q *queue) probe(p search.Probe, level *search.Level) search.Result {
	if p.Stage == search.Saturate {
		// Each of min(servers, concurrency) servers is busy all the time.
		n := min(q.servers, p.Concurrency)
		total := 0.0
		const draws = 4000
		for range draws {
			total += q.service(q.rng)
		}
		return search.Result{Throughput: float64(n) * draws / total}
	}
	free := make(times, q.servers)
	var inside departures
	leave := func(until float64) bool {
		for len(inside) > 0 && inside[0].at <= until {
			d := heap.Pop(&inside).(leaving)
			misses := uint64(0)
			if d.missed {
				misses = 1
			}
			level.Finish(d.number, misses)
			if level.Decide() != search.Continue {
				return true
			}
		}
		return false
	}
	now := 0.0
	for {
		now += q.rng.ExpFloat64() / p.Rate
		if leave(now) {
			return search.Result{Level: level}
		}
		start := max(now, free[0])
		end := start + q.service(q.rng)
		free[0] = end
		heap.Fix(&free, 0)
		heap.Push(&inside, leaving{end, level.Start(), end-now > q.limit})
	}
}

// missRate is the long-run share of misses at a rate, from n requests.
func (q *queue) missRate(rate float64, n int) float64 {
	free := make(times, q.servers)
	now, missed := 0.0, 0
	for i := range n {
		now += q.rng.ExpFloat64() / rate
		start := max(now, free[0])
		end := start + q.service(q.rng)
		free[0] = end
		heap.Fix(&free, 0)
		if i > n/20 && end-now > q.limit {
			missed++
		}
	}
	return float64(missed) / (float64(n) * 19 / 20)
}

// capacity finds the rate at which the long-run share of misses is the allowed one, by
// bisection of long runs.
func (q *queue) capacity(allowed, low, high float64) float64 {
	for range 11 {
		mid := (low + high) / 2
		if q.missRate(mid, 2_000_000) > allowed {
			high = mid
		} else {
			low = mid
		}
	}
	return (low + high) / 2
}
