//go:build linux

package main

import (
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// truth is what the server saw of one run.
type truth struct {
	Requests, Chunks int64
	// Rate is arrivals a second from the first arrival to the last.
	Rate float64
	// GapCV is the coefficient of variation of the gaps between arrivals, and Dispersion
	// the variance of the arrivals in windows of 200 ms over their mean. Both are 1 for a
	// Poisson process and 0 for equal gaps.
	GapCV, Dispersion float64
	// TTFT is from a request's arrival to its first chunk; Gap is between two chunks of a
	// stream; MeanGap is a request's mean of those. All in milliseconds.
	TTFT, Gap, MeanGap pair
	// Open is the most streams at once.
	Open int
	// From and To are the first arrival and the last chunk.
	From, To int64
}

// pair is two quantiles of N values; both are unknown when N is 0.
type pair struct {
	P50, P99 float64
	N        int
}

// window is that of the dispersion index.
const window = 200e6

func truthOf(entries []null.Entry) truth {
	t := truth{Requests: int64(len(entries))}
	if len(entries) == 0 {
		return t
	}
	var arrivals, first, gaps, means []float64
	type edge struct {
		at   int64
		open int
	}
	var edges []edge
	t.From = entries[0].Arrived
	for _, e := range entries {
		arrivals = append(arrivals, float64(e.Arrived))
		t.From = min(t.From, e.Arrived)
		t.Chunks += int64(len(e.Sent))
		if len(e.Sent) == 0 {
			continue
		}
		last := e.Sent[len(e.Sent)-1]
		t.To = max(t.To, last)
		first = append(first, float64(e.Sent[0]-e.Arrived)/1e6)
		for i := 1; i < len(e.Sent); i++ {
			gaps = append(gaps, float64(e.Sent[i]-e.Sent[i-1])/1e6)
		}
		if len(e.Sent) > 1 {
			means = append(means, float64(last-e.Sent[0])/1e6/float64(len(e.Sent)-1))
		}
		edges = append(edges, edge{e.Arrived, 1}, edge{last, -1})
	}
	t.TTFT, t.Gap, t.MeanGap = quantiles(first), quantiles(gaps), quantiles(means)
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(max(-1, min(1, a.at-b.at)))
		}
		return a.open - b.open
	})
	open := 0
	for _, e := range edges {
		open += e.open
		t.Open = max(t.Open, open)
	}
	t.arrivals(arrivals)
	return t
}

func (t *truth) arrivals(at []float64) {
	slices.Sort(at)
	n := len(at)
	if n < 3 || at[n-1] <= at[0] {
		return
	}
	t.Rate = float64(n-1) / ((at[n-1] - at[0]) / 1e9)
	gaps := make([]float64, n-1)
	for i := range gaps {
		gaps[i] = at[i+1] - at[i]
	}
	mean, variance := moments(gaps)
	t.GapCV = math.Sqrt(variance) / mean
	// The last window is left out where it is not whole.
	counts := make([]float64, int((at[n-1]-at[0])/window))
	for _, a := range at {
		if i := int((a - at[0]) / window); i < len(counts) {
			counts[i]++
		}
	}
	if len(counts) > 2 {
		mean, variance = moments(counts)
		t.Dispersion = variance / mean
	}
}

// moments returns the mean and the variance.
func moments(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1)
}

// quantiles sorts and interpolates between order statistics, as the peers do.
func quantiles(x []float64) pair {
	slices.Sort(x)
	if len(x) == 0 {
		return pair{}
	}
	return pair{quantile(x, 0.5), quantile(x, 0.99), len(x)}
}

// quantile is of one or more sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
