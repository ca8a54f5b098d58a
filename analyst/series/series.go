// Package series holds the telemetry of one run by source, target and signal, and answers
// what a gauge was and by how much a counter grew over a window.
package series

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// Point is one reading.
type Point struct {
	T archive.Instant
	V float64
}

// Set is the telemetry of one run. The zero Set is ready. It is not safe for concurrent
// use while samples are added.
type Set struct {
	m map[string]map[string]map[string][]Point // source, signal, target
	// Errors counts the readings of each source that failed.
	Errors map[string]int
	// Reads counts the readings of each source that succeeded.
	Reads map[string]int
}

// keptBuckets is the only histogram whose buckets are kept: of the others sums and counts
// say more than coarse buckets.
const keptBuckets = "iteration_tokens_bucket:"

// Add takes one sample. Histogram buckets are left out, those of tokens per step excepted.
func (s *Set) Add(x *archive.Sample) {
	if s.m == nil {
		s.m, s.Errors, s.Reads = map[string]map[string]map[string][]Point{}, map[string]int{}, map[string]int{}
	}
	if x.Error != "" {
		s.Errors[x.Source]++
		return
	}
	s.Reads[x.Source]++
	src := s.m[x.Source]
	if src == nil {
		src = map[string]map[string][]Point{}
		s.m[x.Source] = src
	}
	for name, v := range x.Values {
		if strings.Contains(name, ":") && !strings.HasPrefix(name, keptBuckets) {
			continue
		}
		if src[name] == nil {
			src[name] = map[string][]Point{}
		}
		src[name][x.Target] = append(src[name][x.Target], Point{x.T, v})
	}
}

// Has reports whether a source showed a signal.
func (s *Set) Has(source, name string) bool { return len(s.m[source][name]) > 0 }

// Targets returns the targets of a signal, sorted.
func (s *Set) Targets(source, name string) []string {
	return slices.Sorted(maps.Keys(s.m[source][name]))
}

// Fold joins the readings of several targets at one instant.
type Fold int

// The folds.
const (
	Sum Fold = iota
	Max
	Mean
)

// Gauge returns the readings of a signal inside [from, to], targets joined: at every
// reading of one target the others count with their last reading.
func (s *Set) Gauge(source, name string, fold Fold, from, to archive.Instant) []Point {
	targets := s.Targets(source, name)
	type reading struct {
		Point
		target int
	}
	var all []reading
	for i, t := range targets {
		for _, p := range s.m[source][name][t] {
			if p.T >= from && p.T <= to {
				all = append(all, reading{p, i})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b reading) int {
		switch {
		case a.T < b.T:
			return -1
		case a.T > b.T:
			return 1
		}
		return a.target - b.target
	})
	last := make([]float64, len(targets))
	seen := make([]bool, len(targets))
	var out []Point
	for _, r := range all {
		last[r.target], seen[r.target] = r.V, true
		v, n := 0.0, 0
		for i := range last {
			if !seen[i] {
				continue
			}
			if fold == Max {
				if n == 0 || last[i] > v {
					v = last[i]
				}
			} else {
				v += last[i]
			}
			n++
		}
		if fold == Mean {
			v /= float64(n)
		}
		out = append(out, Point{r.T, v})
	}
	return out
}

// Delta is how much a counter grew.
type Delta struct {
	Value float64
	// From and To are the readings used: the last at or before each end of the window,
	// or the first after its start when there is none before. Rates must use them.
	From, To archive.Instant
	// Reset is set when the counter fell: the server restarted, and Value is a lower
	// bound.
	Reset bool
}

// Span returns the time between the readings, in seconds.
func (d Delta) Span() float64 { return float64(d.To-d.From) / 1e9 }

// Growth returns by how much a cumulative signal grew over [from, to], summed over its
// targets. ok is false without two readings.
func (s *Set) Growth(source, name string, from, to archive.Instant) (Delta, bool) {
	var d Delta
	found := false
	for _, t := range s.Targets(source, name) {
		x, ok := growth(s.m[source][name][t], from, to)
		if !ok {
			continue
		}
		d.Value += x.Value
		d.Reset = d.Reset || x.Reset
		if !found || x.From < d.From {
			d.From = x.From
		}
		d.To = max(d.To, x.To)
		found = true
	}
	return d, found
}

func growth(ps []Point, from, to archive.Instant) (Delta, bool) {
	lo, hi := -1, -1
	for i, p := range ps {
		if p.T <= from {
			lo = i
		}
		if p.T <= to {
			hi = i
		}
	}
	if lo < 0 {
		lo = 0
	}
	// A window shorter than the scrape interval has its end behind it.
	if hi <= lo && lo+1 < len(ps) && ps[lo].T <= to {
		hi = lo + 1
	}
	if hi <= lo {
		return Delta{}, false
	}
	d := Delta{From: ps[lo].T, To: ps[hi].T}
	for i := lo + 1; i <= hi; i++ {
		if step := ps[i].V - ps[i-1].V; step >= 0 {
			d.Value += step
		} else {
			d.Value += max(0, ps[i].V)
			d.Reset = true
		}
	}
	return d, true
}

// Steps returns the growth of a cumulative signal of one target between neighbouring
// readings inside [from, to]; intervals across a restart are left out. The instant of a
// point is the end of its interval.
func (s *Set) Steps(source, name, target string, from, to archive.Instant) []Point {
	ps := s.m[source][name][target]
	var out []Point
	for i := 1; i < len(ps); i++ {
		if ps[i-1].T >= from && ps[i].T <= to && ps[i].V >= ps[i-1].V {
			out = append(out, Point{ps[i].T, ps[i].V - ps[i-1].V})
		}
	}
	return out
}

// Buckets returns the growth over [from, to] of the buckets of tokens per step, by their
// upper edges in rising order; the last edge is +Inf. Counts are cumulative.
func (s *Set) Buckets(source string, from, to archive.Instant) (edges, counts []float64) {
	type bucket struct{ edge, count float64 }
	var all []bucket
	for name := range s.m[source] {
		le, ok := strings.CutPrefix(name, keptBuckets)
		if !ok {
			continue
		}
		edge, err := strconv.ParseFloat(le, 64)
		if err != nil {
			continue
		}
		if d, ok := s.Growth(source, name, from, to); ok {
			all = append(all, bucket{edge, d.Value})
		}
	}
	slices.SortFunc(all, func(a, b bucket) int { return cmp.Compare(a.edge, b.edge) })
	for _, b := range all {
		edges, counts = append(edges, b.edge), append(counts, b.count)
	}
	return edges, counts
}

// Average returns the mean of the points; ok is false for none.
func Average(ps []Point) (mean float64, ok bool) {
	for i, p := range ps {
		mean += (p.V - mean) / float64(i+1)
	}
	return mean, len(ps) > 0
}

// Top returns the largest of the points; ok is false for none.
func Top(ps []Point) (top float64, ok bool) {
	for i, p := range ps {
		if i == 0 || p.V > top {
			top = p.V
		}
	}
	return top, len(ps) > 0
}

// Share returns the share of the points for which f holds; ok is false for none.
func Share(ps []Point, f func(float64) bool) (share float64, ok bool) {
	n := 0
	for _, p := range ps {
		if f(p.V) {
			n++
		}
	}
	if len(ps) == 0 {
		return 0, false
	}
	return float64(n) / float64(len(ps)), true
}

// Percentile returns the value at or below which the share q of the points lies.
func Percentile(ps []Point, q float64) (v float64, ok bool) {
	if len(ps) == 0 {
		return 0, false
	}
	vs := make([]float64, len(ps))
	for i, p := range ps {
		vs[i] = p.V
	}
	slices.Sort(vs)
	return vs[min(len(vs)-1, int(q*float64(len(vs))))], true
}
