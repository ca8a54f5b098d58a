package sim

import "time"

// Finish says why a request ended.
type Finish uint8

// The finish reasons. Unfinished requests have FinishNone.
const (
	FinishNone   Finish = iota
	FinishStop          // the reply came to its end
	FinishLength        // the output limit or the context limit was reached
	FinishAbort         // cancelled by the client
	finishKinds
)

// String is the name that metrics and responses use.
func (f Finish) String() string { return [...]string{"", "stop", "length", "abort"}[f] }

// Request is one request inside the engine. The caller fills the first group of fields and
// must not change them after [Engine.Submit]; the engine fills the second, which the
// caller may read between calls.
type Request struct {
	Prompt   int      // prompt tokens, at least 1
	Output   int      // tokens that will be generated, at least 1
	Reason   Finish   // why generation ends after Output tokens; FinishNone means FinishStop
	Keys     []uint64 // identity of each full block of prompt and output, in order; nil: never shared
	Priority int      // lower runs first, with priority scheduling
	Arrived  time.Duration
	User     any // the caller's own

	Queued      time.Duration // when the engine got it
	Scheduled   time.Duration // start of its first step
	First       time.Duration // end of the step that made the first token
	Last        time.Duration // end of the step that made the latest token
	Generated   int           // tokens so far
	Cached      int           // prompt tokens found in the prefix cache when first scheduled
	Recomputed  int           // tokens computed again after preemptions
	Preemptions int
	Finish      Finish

	state    state
	computed int   // leading tokens whose KV is present
	blocks   int   // KV blocks held
	inTree   int   // of these, leading ones that are in the prefix tree
	at       *node // end of its path in the tree
	restored int   // tokens coming back from host memory with the current admission
}

type state uint8

const (
	stateNew state = iota
	stateWaiting
	stateRunning
	stateDone
)

// Context is the request's tokens so far, generated ones included.
func (r *Request) Context() int { return r.Prompt + r.Generated }

// prefilling reports whether the next step of r is prompt work.
func (r *Request) prefilling() bool { return r.Generated == 0 || r.computed < r.Context()-1 }

// Span is a run of tokens of one content. Two spans with the same ID carry the same tokens,
// position by position.
type Span struct {
	ID     uint64
	Tokens int
}

// Keys returns the block keys of the spans in order, for blocks of size tokens. A block's
// key depends on the content of its own tokens; what came before it is the tree's business.
func Keys(size int, spans ...Span) []uint64 {
	total := 0
	for _, s := range spans {
		total += s.Tokens
	}
	keys := make([]uint64, 0, total/size)
	key, fill := uint64(0), 0
	for _, s := range spans {
		for off := 0; off < s.Tokens; {
			n := min(size-fill, s.Tokens-off)
			key = mix(key ^ mix(s.ID+uint64(off)*0x9e3779b97f4a7c15) + uint64(n))
			fill += n
			off += n
			if fill == size {
				keys = append(keys, key)
				key, fill = 0, 0
			}
		}
	}
	return keys
}

// mix is a bijective scramble of 64 bits.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return x
}
