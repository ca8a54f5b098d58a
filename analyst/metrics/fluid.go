package metrics

import (
	"math"

	"github.com/inferencebench/inferencebench/archive"
)

// The deadlines of the fluidity index: the first token is due after firstBase and
// firstPerToken for each prompt token, every further one after eachToken. In milliseconds.
const (
	firstBase     = 300.0
	firstPerToken = 0.15
	eachToken     = 50.0
)

// Fluidity returns the share of token deadlines that a stream met. Being early gives
// slack to later tokens; a stall loses as many deadlines as pass during it, and the slack
// with them. first is the time to first token, gaps those between tokens, all in
// milliseconds, as are the deadlines.
//
//	met:  dt ≤ D + slack;  slack += D − dt
//	lost: ⌊(dt − slack − D_first)/D_each⌋ + 1 for the first token,
//	      ⌊(dt − slack)/D_each⌋ for others;  slack = 0
func Fluidity(first float64, gaps func(yield func(float64) bool), dFirst, dEach float64) (index float64, ok bool) {
	if dFirst <= 0 || dEach <= 0 || first < 0 {
		return 0, false
	}
	slack, missed, total := 0.0, 0.0, 0.0
	step := func(dt, d, base, extra float64) {
		if dt <= d+slack {
			slack += d - dt
			total++
			return
		}
		k := math.Max(1, math.Floor((dt-slack-base)/dEach)+extra)
		missed, total, slack = missed+k, total+k, 0
	}
	step(first, dFirst, dFirst, 1)
	for g := range gaps {
		step(g, dEach, 0, 0)
	}
	return 1 - missed/total, true
}

// fluid returns the fluidity of a record whose chunks each hold one token; negative when
// it is unknown.
func fluid(r *archive.Request, known bool, prompt int32) float32 {
	first, ok := between(r.T.Intended, r.T.First)
	if !ok || !known || len(r.Chunks.T) < 2 {
		return -1
	}
	f, ok := Fluidity(first, func(yield func(float64) bool) {
		for i := 1; i < len(r.Chunks.T); i++ {
			gap, ok := between(r.Chunks.T[i-1], r.Chunks.T[i])
			if !ok {
				continue
			}
			n := int32(1)
			if len(r.Chunks.Tokens) == len(r.Chunks.T) {
				n = max(1, min(r.Chunks.Tokens[i], 4096))
			}
			for range n {
				if !yield(gap / float64(n)) {
					return
				}
			}
		}
	}, firstBase+firstPerToken*float64(max(prompt, 0)), eachToken)
	if !ok {
		return -1
	}
	return float32(f)
}

// Fluid is the fluidity index of the answer: see Fluidity.
func (r *Row) Fluid() (float64, bool) { return float64(r.fluid), r.fluid >= 0 }
