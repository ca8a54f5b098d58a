package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// MinBlocks is the smallest number of blocks that a block bootstrap is given for: with
// fewer the blocks themselves are too small a sample.
const MinBlocks = 8

// BlockQuantiles returns percentile intervals, by a moving-block bootstrap, of the mean
// (first) and of the quantiles ps of values. Neighbouring values are dependent, so whole
// stretches of length block are drawn with replacement. ok is false below MinBlocks
// blocks. The same seed gives the same intervals.
//
// For each resample the quantile is found by walking the values in rising order with the
// number of times that each was drawn: O(n) a resample after one sort.
func BlockQuantiles(values []float64, block int, ps []float64, level float64, resamples int, seed uint64) (intervals [][2]float64, ok bool) {
	n := len(values)
	if block < 1 || n/block < MinBlocks {
		return nil, false
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return a - b
	})
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	draws := (n + block - 1) / block
	times := make([]int32, n+1) // difference array, then counts
	samples := make([][]float64, len(ps)+1)
	for range resamples {
		clear(times)
		total := 0
		for range draws {
			s := rng.IntN(n - block + 1)
			times[s]++
			times[s+block]--
			total += block
		}
		var run int32
		sum := 0.0
		for i := range n {
			run += times[i]
			times[i] = run
			sum += float64(run) * values[i]
		}
		samples[0] = append(samples[0], sum/float64(total))
		next, seen := 0, 0
		for _, i := range order {
			seen += int(times[i])
			for next < len(ps) && float64(seen) >= ps[next]*float64(total) && times[i] > 0 {
				samples[next+1] = append(samples[next+1], values[i])
				next++
			}
			if next == len(ps) {
				break
			}
		}
		for ; next < len(ps); next++ {
			samples[next+1] = append(samples[next+1], values[order[n-1]])
		}
	}
	for _, s := range samples {
		slices.Sort(s)
		intervals = append(intervals, [2]float64{Quantile(s, (1-level)/2), Quantile(s, 1-(1-level)/2)})
	}
	return intervals, true
}

// DesignEffect returns by how much the variance of a mean grows because neighbouring
// values are dependent: the variance of the means of blocks of a length, times the
// length, over the variance of the values; at least 1. ok is false below MinBlocks
// blocks.
func DesignEffect(values []float64, block int) (deff float64, ok bool) {
	k := 0
	if block > 0 {
		k = len(values) / block
	}
	if k < MinBlocks {
		return 0, false
	}
	sd, ok := Std(values)
	if !ok || sd == 0 {
		return 1, ok
	}
	means := make([]float64, k)
	for i := range means {
		means[i] = Mean(values[i*block : (i+1)*block])
	}
	between, _ := Std(means)
	return math.Max(1, between*between*float64(block)/(sd*sd)), true
}

// Groups is a number of clusters of gaps, each a histogram, whose resampling gives
// intervals that respect that gaps of one request are dependent. The zero Groups is
// ready. Memory is bounded by the clusters and the range of the values.
type Groups struct {
	hist [groupCount][]uint32
	n    [groupCount]uint64
}

// groupCount is the number of clusters.
const groupCount = 32

// Add adds one value to the cluster that key falls into.
func (g *Groups) Add(key uint64, x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	g.AddAt(key, bucket(x))
}

// AddAt adds one value by its Bucket.
func (g *Groups) AddAt(key uint64, bucket int) {
	i := key % groupCount
	if g.hist[i] == nil {
		g.hist[i] = make([]uint32, poolBuckets)
	}
	g.hist[i][bucket]++
	g.n[i]++
}

// Quantiles returns percentile intervals of the quantiles ps by resampling clusters. ok
// is false when fewer than MinBlocks clusters hold values.
func (g *Groups) Quantiles(ps []float64, level float64, resamples int, seed uint64) (intervals [][2]float64, ok bool) {
	var used []int
	lo, hi := math.MaxUint16, 0
	for i := range g.hist {
		if g.n[i] == 0 {
			continue
		}
		used = append(used, i)
		for b, c := range g.hist[i] {
			if c > 0 {
				lo, hi = min(lo, b), max(hi, b)
			}
		}
	}
	if len(used) < MinBlocks {
		return nil, false
	}
	dense := make([][]float64, len(used))
	for j, i := range used {
		dense[j] = make([]float64, hi-lo+1)
		for b := lo; b <= hi; b++ {
			dense[j][b-lo] = float64(g.hist[i][b])
		}
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(used))))
	samples := make([][]float64, len(ps))
	sum := make([]float64, hi-lo+1)
	for range resamples {
		clear(sum)
		total := 0.0
		for range used {
			j := rng.IntN(len(used))
			for b, c := range dense[j] {
				sum[b] += c
			}
			total += float64(g.n[used[j]])
		}
		seen, next := 0.0, 0
		for b, c := range sum {
			seen += c
			for next < len(ps) && c > 0 && seen >= ps[next]*total {
				samples[next] = append(samples[next], poolBase*math.Pow(poolGrowth, float64(b+lo)-0.5))
				next++
			}
		}
	}
	for _, s := range samples {
		slices.Sort(s)
		intervals = append(intervals, [2]float64{Quantile(s, (1-level)/2), Quantile(s, 1-(1-level)/2)})
	}
	return intervals, true
}
