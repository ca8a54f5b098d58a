package stats

import (
	"math"
	"slices"
)

// poolExact is how many values a Pool keeps exactly before it turns to a histogram.
const poolExact = 1 << 18

// PoolError is the largest relative error of a quantile from a Pool that has turned to
// its histogram.
const PoolError = 0.005

// Pool collects any number of positive values in bounded memory: exactly up to about 260,000
// (2 MiB), then in a histogram whose buckets grow by 1 % each, so that a quantile
// is within PoolError of the truth. Count, mean, standard deviation, smallest and largest
// are always exact. The zero Pool is ready. It is not safe for concurrent use.
type Pool struct {
	n        int64
	mean, m2 float64
	min, max float64
	exact    []float64
	sorted   bool
	hist     []int64 // bucket i holds (poolBase·1.01^(i−1), poolBase·1.01^i]; bucket 0 the rest
}

const (
	poolBase    = 1e-6
	poolGrowth  = 1.01
	perBucket   = 100.49917080713053 // 1/ln(poolGrowth)
	poolBuckets = 4200               // up to 1e-6 · 1.01^4199 ≈ 1.4e12
)

// Add adds one value. Values that are not finite are ignored.
func (p *Pool) Add(x float64) { p.AddAt(x, -1) }

// Bucket returns the place of x in the histogram of a pool, for AddAt.
func Bucket(x float64) int { return bucket(x) }

// AddAt adds one value whose Bucket is known, so that a value that goes into several pools
// is placed once; a negative bucket is computed where needed.
func (p *Pool) AddAt(x float64, b int) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	if p.n == 0 || x < p.min {
		p.min = x
	}
	if p.n == 0 || x > p.max {
		p.max = x
	}
	p.n++
	d := x - p.mean
	p.mean += d / float64(p.n)
	p.m2 += d * (x - p.mean)
	if p.hist != nil {
		if b < 0 {
			b = bucket(x)
		}
		p.hist[b]++
		return
	}
	if len(p.exact) < poolExact {
		p.exact = append(p.exact, x)
		p.sorted = false
		return
	}
	p.hist = make([]int64, poolBuckets)
	for _, y := range p.exact {
		p.hist[bucket(y)]++
	}
	p.exact = nil
	p.hist[bucket(x)]++
}

func bucket(x float64) int {
	if x <= poolBase {
		return 0
	}
	i := int(math.Ceil(math.Log(x/poolBase) * perBucket))
	return min(max(i, 0), poolBuckets-1)
}

// N returns how many values were added.
func (p *Pool) N() int64 { return p.n }

// Exact reports whether quantiles are exact.
func (p *Pool) Exact() bool { return p.hist == nil }

// Mean returns the mean, 0 for none.
func (p *Pool) Mean() float64 { return p.mean }

// Std returns the sample standard deviation; ok is false below two values.
func (p *Pool) Std() (sd float64, ok bool) {
	if p.n < 2 {
		return 0, false
	}
	return math.Sqrt(p.m2 / float64(p.n-1)), true
}

// Min returns the smallest value, 0 for none.
func (p *Pool) Min() float64 { return p.min }

// Max returns the largest value, 0 for none.
func (p *Pool) Max() float64 { return p.max }

// Quantile returns the q-quantile; ok is false when the pool is empty.
func (p *Pool) Quantile(q float64) (x float64, ok bool) {
	if p.n == 0 {
		return 0, false
	}
	if p.hist == nil {
		if !p.sorted {
			slices.Sort(p.exact)
			p.sorted = true
		}
		return Quantile(p.exact, q), true
	}
	rank := int64(math.Ceil(q * float64(p.n)))
	var seen int64
	for i, c := range p.hist {
		seen += c
		if seen >= rank && c > 0 {
			mid := poolBase * math.Pow(poolGrowth, float64(i)-0.5)
			return math.Min(math.Max(mid, p.min), p.max), true
		}
	}
	return p.max, true
}

// Above returns how many values are greater than x, and their sum. With a histogram both
// are within one bucket.
func (p *Pool) Above(x float64) (n int64, sum float64) {
	if p.hist == nil {
		for _, v := range p.exact {
			if v > x {
				n++
				sum += v
			}
		}
		return n, sum
	}
	for i, c := range p.hist {
		if v := poolBase * math.Pow(poolGrowth, float64(i)-0.5); v > x {
			n += c
			sum += float64(c) * v
		}
	}
	return n, sum
}

// Sum returns the sum of the values.
func (p *Pool) Sum() float64 { return p.mean * float64(p.n) }

// BucketValue returns the middle of a bucket.
func BucketValue(b int) float64 { return poolBase * math.Pow(poolGrowth, float64(b)-0.5) }
