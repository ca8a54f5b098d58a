package sim

import (
	"math"
	"time"
)

// Begin forms the batch of the next iteration at an instant and says when it ends. It
// returns false, and forms none, when nothing can run. Every successful Begin must be
// followed by Commit before the next one.
func (e *Engine) Begin(now time.Duration) (Step, bool) {
	if e.open {
		panic("sim: Begin before Commit")
	}
	var cond Conditions
	if e.cfg.Conditions != nil {
		cond = e.cfg.Conditions(now)
	}
	e.pool.lost = int(cond.KVLost * float64(e.pool.total))
	e.pool.makeRoom()
	e.items = e.items[:0]
	var b batch
	budget := e.cfg.MaxNumBatchedTokens
	restored := e.form(now, &b, &budget)
	if len(e.items) == 0 {
		e.gpu.idleUntil(now, cond)
		return Step{}, false
	}
	c := e.cost.gpu(&b, &cond)
	if restored > 0 { // blocks come back over PCIe before the step can use them
		c.total += float64(restored) * e.cfg.Model.KVBytes(e.cfg.kvElem()) / hostLink
	}
	gpu := c.total
	if e.cfg.StepNoise > 0 {
		gpu *= math.Exp(e.rng.NormFloat64()*e.cfg.StepNoise - e.cfg.StepNoise*e.cfg.StepNoise/2)
	}
	host := e.cfg.HostBase + time.Duration(len(e.items))*e.cfg.HostPerSeq + cond.HostExtra
	if b.chunks > 0 { // launched layer by layer: what the device waits for is host time
		launch := time.Duration(e.cfg.Model.Layers) * e.cfg.PrefillLaunch
		if e.cfg.AsyncScheduling != On { // where host and device overlap, all of it is the host's
			launch = max(launch-seconds(gpu), 0)
		}
		host += launch
	}
	if e.cfg.PauseEvery > 0 && e.rng.Float64() < 1/e.cfg.PauseEvery {
		host += time.Duration(20+30*e.rng.Float64()) * time.Millisecond
	}
	e.step = Step{
		Start: now, GPU: seconds(gpu), Host: host, Comm: seconds(c.comm), Roofline: seconds(c.roofline),
		Decodes: b.decodes, DecodeTokens: b.tokens - b.prefill, PrefillTokens: b.prefill, KVRead: b.kRead,
	}
	if e.cfg.AsyncScheduling == On {
		e.step.End = now + max(e.step.GPU, host) + asyncSync
	} else {
		e.step.End = now + e.step.GPU + host
	}
	e.gpu.step(e.step, c, cond)
	e.count.Flops += c.flops
	e.count.ReadBytes += c.read
	e.open = true
	return e.step, true
}

const (
	// asyncSync is what a step still waits for the host when scheduling overlaps it.
	asyncSync = 150 * time.Microsecond
	// hostLink is the bandwidth at which KV blocks come back from host memory, bytes/s.
	hostLink = 40e9
)

// form fills the batch and returns how many tokens come back from host memory.
func (e *Engine) form(now time.Duration, b *batch, budget *int) (restored int) {
	if !e.cfg.PrefillFirst {
		if e.scheduleRunning(b, budget, nil) {
			return 0
		}
		return e.admit(now, b, budget)
	}
	preempted := e.scheduleRunning(b, budget, (*Request).prefilling)
	if !preempted {
		restored = e.admit(now, b, budget)
	}
	if len(e.items) == 0 {
		e.scheduleRunning(b, budget, func(r *Request) bool { return !r.prefilling() })
	}
	return restored
}

// scheduleRunning gives every running request its tokens, oldest first, and preempts from
// the end when blocks run out. Only requests that pick accepts take part; nil accepts all.
// It reports whether anything was preempted.
func (e *Engine) scheduleRunning(b *batch, budget *int, pick func(*Request) bool) (preempted bool) {
	k := e.cfg.Speculative.Tokens
	for i := 0; i < len(e.running) && *budget > 0; {
		r := e.running[i]
		if pick != nil && !pick(r) {
			i++
			continue
		}
		n := r.Context() - r.computed
		decode := !r.prefilling()
		switch {
		case decode:
			n = min(1+min(k, r.Output-r.Generated-1), *budget)
		case e.cfg.LongPrefillThreshold > 0:
			n = min(n, *budget, e.cfg.LongPrefillThreshold)
		default:
			n = min(n, *budget)
		}
		if r.computed+n > r.blocks*e.cfg.BlockSize {
			need := e.blocksFor(r.computed+n) - r.blocks
			for e.pool.avail() < need {
				v := e.victim(i)
				e.preempt(v)
				preempted = true
				if v == r {
					break
				}
			}
			if r.state != stateRunning {
				continue
			}
			e.pool.take(need)
			r.blocks += need
		}
		e.add(b, r, n, decode)
		*budget -= n
		i++
	}
	return preempted
}

// victim chooses whom to preempt among the requests from index i on: the last to be
// admitted, or the lowest in priority.
func (e *Engine) victim(i int) *Request {
	v := e.running[len(e.running)-1]
	if e.cfg.PriorityScheduling {
		for _, r := range e.running[i:] {
			if before(v, r) {
				v = r
			}
		}
	}
	return v
}

func (e *Engine) preempt(v *Request) {
	for i := len(e.running) - 1; i >= 0; i-- {
		if e.running[i] == v {
			e.running = append(e.running[:i], e.running[i+1:]...)
			break
		}
	}
	e.share(v)
	e.drop(v)
	v.state = stateWaiting
	v.Preemptions++
	e.count.Preemptions++
	e.waiting.unshift(v)
}

// admit moves waiting requests into the batch while budget, sequences and blocks last. It
// returns how many tokens come back from host memory.
func (e *Engine) admit(now time.Duration, b *batch, budget *int) (restored int) {
	chunked := e.cfg.EnableChunkedPrefill.or(true)
	watermark := int(e.cfg.Watermark * float64(e.pool.total))
	for e.waiting.len() > 0 && *budget > 0 && len(e.running) < e.cfg.MaxNumSeqs {
		r := e.waiting.first()
		known := r.Context()
		// The last token is always computed, since its output is what samples the next.
		at, within, hit := e.pool.match(r.Keys[:min(len(r.Keys), (known-1)/e.cfg.BlockSize)])
		back := 0
		if e.host != nil {
			back = e.host.match(r.Keys[hit:min(len(r.Keys), (known-1)/e.cfg.BlockSize)])
		}
		present := (hit + back) * e.cfg.BlockSize
		n := known - present
		if !chunked && n > *budget {
			return restored
		}
		if t := e.cfg.LongPrefillThreshold; t > 0 {
			n = min(n, t)
		}
		n = min(n, *budget)
		path := e.pool.acquire(at, within)
		need := e.blocksFor(known) - hit
		if spare := e.pool.avail() - need; spare < 0 || (spare < watermark && len(e.running) > 0) {
			e.pool.release(path, 0)
			return restored
		}
		e.pool.take(need)
		e.waiting.pop()
		r.state, r.at, r.inTree, r.blocks, r.computed, r.restored = stateRunning, path, hit, hit+need, present, back*e.cfg.BlockSize
		restored += r.restored
		if r.Preemptions == 0 {
			r.Scheduled, r.Cached = now, present
			e.count.PrefixQueries += int64(r.Prompt)
			e.count.PrefixHits += int64(present)
		} else {
			r.Recomputed += known - present
			e.count.Recomputed += int64(known - present)
		}
		e.count.OffloadHits += int64(r.restored)
		e.running = append(e.running, r)
		e.add(b, r, n, false)
		*budget -= n
	}
	return restored
}

// add puts n tokens of r into the batch.
func (e *Engine) add(b *batch, r *Request, n int, decode bool) {
	e.items = append(e.items, item{r, n, decode})
	b.tokens += n
	c := float64(r.computed)
	if decode {
		b.decodes++
		b.kRead += c + 1
		if w := e.cfg.Model.Window; w > 0 {
			b.windowK += min(c+1, float64(w))
		}
		return
	}
	b.chunks++
	b.prefill += n
	b.attn += float64(n) * (c + float64(n)/2)
}

// Commit applies the results of the step that Begin formed: tokens are emitted, finished
// requests leave, full blocks become shareable.
func (e *Engine) Commit() {
	if !e.open {
		panic("sim: Commit without Begin")
	}
	e.open = false
	e.count.Steps++
	e.count.Iteration.Observe(float64(e.step.DecodeTokens+e.step.PrefillTokens), 1)
	e.count.BatchSum += int64(len(e.items))
	if took := (e.step.End - e.step.Start).Seconds(); e.step.PrefillTokens > 0 {
		e.count.PrefillStep.Observe(took, 1)
	} else {
		e.count.DecodeStep.Observe(took, 1)
	}
	end := e.step.End
	done := 0
	for _, it := range e.items {
		r := it.r
		if r.state != stateRunning {
			continue // cancelled while the step ran
		}
		if !it.decode {
			r.computed += it.n
			e.count.PromptComputed += int64(it.n)
			e.share(r)
			if r.computed < r.Context() {
				continue
			}
			e.emit(r, 1, end)
		} else {
			n := 1
			if it.n > 1 {
				n += e.accept(it.n - 1)
			}
			r.computed += n
			e.emit(r, n, end)
		}
		if r.Finish != FinishNone {
			done++
		}
	}
	e.flushGaps()
	if done > 0 {
		keep := e.running[:0]
		for _, r := range e.running {
			if r.state == stateRunning {
				keep = append(keep, r)
			}
		}
		clear(e.running[len(keep):])
		e.running = keep
	}
}

// accept draws how many of k drafted tokens the target accepts.
func (e *Engine) accept(k int) (n int) {
	e.count.Drafts++
	e.count.DraftTokens += int64(k)
	for n < k && e.rng.Float64() < e.cfg.Speculative.Acceptance {
		e.count.DraftByPosition[n]++
		n++
	}
	e.count.DraftAccepted += int64(n)
	return n
}

// gap counts n tokens that came after a pause. Most requests of a step pause equally long:
// equal ones are counted together and observed when another length comes, or at the end of
// the step.
func (e *Engine) gap(d time.Duration, n int) {
	if d != e.lastGap || n != e.lastN {
		e.flushGaps()
		e.lastGap, e.lastN = d, n
	}
	e.gaps += int64(n)
}

func (e *Engine) flushGaps() {
	if e.gaps > 0 {
		e.count.ITL.Observe(e.lastGap.Seconds()/float64(e.lastN), e.gaps)
		e.gaps = 0
	}
}

func (e *Engine) emit(r *Request, n int, at time.Duration) {
	if r.Generated == 0 {
		r.First = at
		e.count.PromptTokens += int64(r.Prompt)
		e.count.PromptCached += int64(r.Cached)
		e.count.TTFT.Observe((at - r.Arrived).Seconds(), 1)
		if n > 1 {
			e.count.ITL.Observe(0, int64(n-1))
		}
	} else {
		e.gap(at-r.Last, n)
	}
	r.Last = at
	r.Generated += n
	e.count.Generated += int64(n)
	if r.Generated >= r.Output {
		r.Finish = r.Reason
		if r.Finish == FinishNone {
			r.Finish = FinishStop
		}
		e.share(r)
		e.drop(r)
		r.state = stateDone
		e.count.finish(r)
	}
	if e.Emit != nil {
		e.Emit(r, n, at)
	}
}
