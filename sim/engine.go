package sim

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Engine simulates one engine core. The caller drives it: [Engine.Submit] as requests
// arrive, then [Engine.Begin] and [Engine.Commit] by turns. Not safe for concurrent use.
type Engine struct {
	// Emit is called by Commit once for each request that got tokens in the step: r got n more
	// at the instant at. A finished request has r.Finish set. It must not call the Engine.
	Emit func(r *Request, n int, at time.Duration)

	cfg     Config
	mem     Memory
	cost    cost
	pool    *pool
	host    *hostCache
	rng     *rand.Rand
	waiting queue
	running []*Request
	items   []item
	step    Step
	open    bool // between Begin and Commit
	count   Counters
	gpu     gpuMeter
	lastGap time.Duration // of gaps tokens with lastN a request, not yet observed
	lastN   int
	gaps    int64
}

// item is one request's share of a step.
type item struct {
	r      *Request
	n      int // tokens computed, drafts included
	decode bool
}

// Step is one iteration.
type Step struct {
	Start, End    time.Duration
	GPU, Host     time.Duration // the parts of End − Start; with async scheduling they overlap
	Comm          time.Duration // part of GPU
	Roofline      time.Duration // GPU time of the same batch on an undisturbed device
	Decodes       int           // sequences that decoded
	DecodeTokens  int           // tokens that decoding computed, drafts included
	PrefillTokens int           // prompt tokens computed
	KVRead        float64       // context tokens of the decoding sequences
}

// New returns an engine that has started. The error joins every reason why the real one
// would not: an invalid setting, or too little memory ([ErrOutOfMemory]).
func New(cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("simulated engine does not start: %w", err)
	}
	mem, err := cfg.Memory()
	if err != nil {
		return nil, fmt.Errorf("simulated engine does not start: %w", err)
	}
	e := &Engine{
		cfg: cfg, mem: mem, cost: newCost(cfg),
		pool:    newPool(mem.Blocks, cfg.PrefixCaching()),
		rng:     rand.New(rand.NewPCG(cfg.Seed, 0x1b)),
		waiting: queue{priority: cfg.PriorityScheduling},
		count:   newCounters(cfg.Speculative.Tokens),
	}
	if cfg.KVOffloadBytes > 0 {
		perBlock := cfg.Model.KVBytes(cfg.kvElem()) * float64(cfg.BlockSize)
		e.host = newHostCache(int(cfg.KVOffloadBytes / perBlock))
		e.pool.onEvict = e.host.put
	}
	e.gpu.init(cfg, mem)
	return e, nil
}

// Config returns the configuration as resolved.
func (e *Engine) Config() Config { return e.cfg }

// Memory returns how the device's memory is divided.
func (e *Engine) Memory() Memory { return e.mem }

// Counters returns the live counters. Clone them to keep a copy.
func (e *Engine) Counters() *Counters { return &e.count }

// Load returns the gauges as they are now.
func (e *Engine) Load() Load {
	return Load{Running: len(e.running), Waiting: e.waiting.len(), KVUsage: e.pool.usage(), KVTokens: e.mem.Tokens, Blocks: e.mem.Blocks}
}

// Idle reports whether there is nothing to do before the next Submit.
func (e *Engine) Idle() bool { return len(e.running) == 0 && e.waiting.len() == 0 }

// CheckRequest reports why the engine would refuse a request of that size, with the
// numbers: prompt and output together must fit the context and the KV cache.
func (e *Engine) CheckRequest(prompt, output int) error {
	switch {
	case prompt < 1:
		return fmt.Errorf("the prompt has no token")
	case prompt+output > e.cfg.MaxModelLen:
		return fmt.Errorf("this model's maximum context length is %d tokens, but %d were requested (%d in the prompt, %d to generate)", e.cfg.MaxModelLen, prompt+output, prompt, output)
	case prompt+output > e.mem.Tokens:
		return fmt.Errorf("the KV cache holds %d tokens, but %d were requested (%d in the prompt, %d to generate)", e.mem.Tokens, prompt+output, prompt, output)
	}
	return nil
}

// Submit hands a request to the engine at an instant. It takes part in the next Begin.
// Submitting a request twice, or one that CheckRequest refuses, panics: both are errors of
// the caller, not of its input.
func (e *Engine) Submit(at time.Duration, r *Request) {
	if r.state != stateNew {
		panic("sim: request submitted twice")
	}
	if err := e.CheckRequest(r.Prompt, max(r.Output, 1)); err != nil {
		panic("sim: " + err.Error())
	}
	r.Output = max(r.Output, 1)
	r.state = stateWaiting
	r.Queued = at
	if r.Arrived == 0 {
		r.Arrived = at
	}
	r.at = &e.pool.root
	e.waiting.push(r)
}

// Cancel ends a request at once and frees its blocks. Cancelling a finished or unknown
// request does nothing.
func (e *Engine) Cancel(r *Request) {
	switch r.state {
	case stateWaiting:
		e.waiting.remove(r)
	case stateRunning:
		e.drop(r)
		for i, o := range e.running {
			if o == r {
				e.running = append(e.running[:i], e.running[i+1:]...)
				break
			}
		}
	default:
		return
	}
	r.state, r.Finish = stateDone, FinishAbort
	e.count.finish(r)
}

// ResetPrefixCache forgets every cached block that no running request holds.
func (e *Engine) ResetPrefixCache() {
	e.pool.reset()
	if e.host != nil {
		e.host.reset()
	}
}

// CachedBlocks is the number of blocks kept for reuse that no request holds, and Evicted
// how many were ever evicted.
func (e *Engine) CachedBlocks() (cached int, evicted int64) { return e.pool.cached, e.pool.evicted }

// drop gives back all blocks of r.
func (e *Engine) drop(r *Request) {
	e.pool.release(r.at, r.blocks-r.inTree)
	r.at, r.blocks, r.inTree, r.computed = &e.pool.root, 0, 0, 0
}

// share puts r's full computed blocks into the prefix tree.
func (e *Engine) share(r *Request) {
	full := min(r.computed/e.cfg.BlockSize, len(r.Keys))
	if !e.pool.caching || full <= r.inTree {
		return
	}
	r.at = e.pool.extend(r.at, r.Keys[r.inTree:full])
	r.inTree = full
}

func (e *Engine) blocksFor(tokens int) int {
	return (tokens + e.cfg.BlockSize - 1) / e.cfg.BlockSize
}
