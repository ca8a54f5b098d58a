package sim

import (
	"math"
	"time"
)

// Histogram counts observations in buckets with fixed upper bounds.
type Histogram struct {
	Bounds []float64 // upper bounds, ascending; +Inf is implied
	Counts []int64   // observations at or below each bound and above the one before; one more for +Inf
	Sum    float64
	N      int64
}

func newHistogram(bounds ...float64) Histogram {
	return Histogram{Bounds: bounds, Counts: make([]int64, len(bounds)+1)}
}

// Observe adds n observations of v.
func (h *Histogram) Observe(v float64, n int64) {
	i := 0
	for i < len(h.Bounds) && v > h.Bounds[i] {
		i++
	}
	h.Counts[i] += n
	h.Sum += v * float64(n)
	h.N += n
}

// clone returns a copy that shares nothing that changes.
func (h Histogram) clone() Histogram {
	h.Counts = append([]int64(nil), h.Counts...)
	return h
}

// Quantile estimates quantile q by linear interpolation inside its bucket; NaN when empty.
// It serves tests and tables, not records.
func (h *Histogram) Quantile(q float64) float64 {
	if h.N == 0 {
		return math.NaN()
	}
	rank, seen, low := q*float64(h.N), 0.0, 0.0
	for i, n := range h.Counts {
		if i == len(h.Bounds) {
			break
		}
		if seen+float64(n) >= rank && n > 0 {
			return low + (h.Bounds[i]-low)*(rank-seen)/float64(n)
		}
		seen += float64(n)
		low = h.Bounds[i]
	}
	return low
}

// Counters is everything that the engine has counted since it started. Times are in
// seconds, sizes in tokens.
type Counters struct {
	Steps           int64
	Preemptions     int64
	PrefixQueries   int64 // prompt tokens looked up
	PrefixHits      int64 // of these, found
	PromptTokens    int64 // prompt tokens of requests that got their first token
	PromptCached    int64
	PromptComputed  int64 // prompt tokens computed, recomputation included
	Recomputed      int64
	Generated       int64
	Finished        [finishKinds]int64
	Drafts          int64 // speculative: drafts made
	DraftTokens     int64
	DraftAccepted   int64
	DraftByPosition []int64
	OffloadHits     int64 // tokens brought back from host memory
	Flops           float64
	ReadBytes       float64

	TTFT, ITL, TPOT, E2E, Queue, Prefill, Decode, Inference Histogram
	PromptSize, OutputSize, Iteration                       Histogram
	PrefillStep, DecodeStep                                 Histogram // seconds of steps with and without prompt tokens
	BatchSum                                                int64     // requests in steps, summed
	MostTokens                                              int       // longest context so far
}

func newCounters(k int) Counters {
	lat := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	size := []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000}
	perTok := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	step := []float64{.001, .002, .004, .006, .008, .01, .015, .02, .03, .05, .1, .2, .4, .8, 1.6}
	return Counters{
		DraftByPosition: make([]int64, k),
		TTFT: newHistogram(.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
			160, 640, 2560),
		ITL:         newHistogram(perTok...),
		TPOT:        newHistogram(perTok...),
		E2E:         newHistogram(lat...),
		Queue:       newHistogram(lat...),
		Prefill:     newHistogram(lat...),
		Decode:      newHistogram(lat...),
		Inference:   newHistogram(lat...),
		PromptSize:  newHistogram(size...),
		OutputSize:  newHistogram(size...),
		PrefillStep: newHistogram(step...),
		DecodeStep:  newHistogram(step...),
		Iteration:   newHistogram(1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
	}
}

// Clone returns a copy that later steps do not change.
func (c *Counters) Clone() Counters {
	d := *c
	d.DraftByPosition = append([]int64(nil), c.DraftByPosition...)
	for _, h := range []*Histogram{&d.TTFT, &d.ITL, &d.TPOT, &d.E2E, &d.Queue, &d.Prefill, &d.Decode, &d.Inference,
		&d.PromptSize, &d.OutputSize, &d.Iteration, &d.PrefillStep, &d.DecodeStep} {
		*h = h.clone()
	}
	return d
}

// Load is the engine's state at one instant: its gauges.
type Load struct {
	Running, Waiting int
	KVUsage          float64 // share of KV blocks not available
	KVTokens         int     // tokens that the KV cache holds when full
	Blocks           int
}

func (c *Counters) finish(r *Request) {
	c.Finished[r.Finish]++
	sec := func(d time.Duration) float64 { return d.Seconds() }
	if r.Finish == FinishAbort {
		return
	}
	c.MostTokens = max(c.MostTokens, r.Context())
	c.E2E.Observe(sec(r.Last-r.Arrived), 1)
	c.Queue.Observe(sec(r.Scheduled-r.Queued), 1)
	c.Prefill.Observe(sec(r.First-r.Scheduled), 1)
	c.Decode.Observe(sec(r.Last-r.First), 1)
	c.Inference.Observe(sec(r.Last-r.Scheduled), 1)
	c.PromptSize.Observe(float64(r.Prompt), 1)
	c.OutputSize.Observe(float64(r.Generated), 1)
	if r.Generated > 1 {
		c.TPOT.Observe(sec(r.Last-r.First)/float64(r.Generated-1), 1)
	}
}
