package sim

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// drive runs the engine from the arrivals' first instant until all are done, and returns
// the steps. Arrivals are in time order.
func drive(t *testing.T, e *Engine, reqs []*Request, at []time.Duration) []Step {
	t.Helper()
	var steps []Step
	now := time.Duration(0)
	for next := 0; next < len(reqs) || !e.Idle(); {
		if e.Idle() && next < len(reqs) {
			now = max(now, at[next])
		}
		for next < len(reqs) && at[next] <= now {
			e.Submit(at[next], reqs[next])
			next++
		}
		s, ok := e.Begin(now)
		if !ok {
			t.Fatalf("at %v nothing can run: %+v", now, e.Load())
		}
		e.Commit()
		checkBlocks(t, e)
		now = s.End
		steps = append(steps, s)
	}
	return steps
}

// checkBlocks recounts the pool from the requests and the tree.
func checkBlocks(t *testing.T, e *Engine) {
	t.Helper()
	held, cached := 0, 0
	var walk func(n *node)
	walk = func(n *node) {
		for first, c := range n.children {
			if c.parent != n || len(c.keys) == 0 || c.keys[0] != first {
				t.Fatalf("prefix tree is inconsistent below %v", n.keys)
			}
			if c.ref > 0 {
				held += len(c.keys)
			} else {
				cached += len(c.keys)
				if (len(c.children) == 0) != (c.next != nil) {
					t.Fatalf("a run without holder is evictable = %v with %d children", c.next != nil, len(c.children))
				}
			}
			walk(c)
		}
	}
	walk(&e.pool.root)
	for _, r := range e.running {
		held += r.blocks - r.inTree
	}
	p := e.pool
	if held != p.used || cached != p.cached || p.used+p.cached+p.lost > p.total && p.lost == 0 {
		t.Fatalf("pool says used %d, cached %d of %d; recount gives %d, %d", p.used, p.cached, p.total, held, cached)
	}
}

func TestAloneRequestTakesPrefillAndDecodeSteps(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Request{Prompt: 1024, Output: 10}
	steps := drive(t, e, []*Request{r}, []time.Duration{time.Second})
	if len(steps) != 10 || r.Generated != 10 || r.Finish != FinishStop {
		t.Fatalf("10 tokens took %d steps, generated %d, finish %v; want 10, 10, stop", len(steps), r.Generated, r.Finish)
	}
	if ttft := r.First - r.Arrived; ttft < 20*time.Millisecond || ttft > 30*time.Millisecond {
		t.Errorf("time to first token of 1024 tokens = %v; want 20-30 ms", ttft)
	}
	if tpot := (r.Last - r.First) / 9; tpot < 7*time.Millisecond || tpot > 8*time.Millisecond {
		t.Errorf("time a token alone = %v; want 7-8 ms", tpot)
	}
	if l := e.Load(); l.Running != 0 || l.KVUsage != 0 {
		t.Errorf("after the last request the load is %+v; want none", l)
	}
}

func TestChunkedPrefillSharesTheBudget(t *testing.T) {
	e, err := New(Config{MaxNumBatchedTokens: 512, MaxNumSeqs: 64})
	if err != nil {
		t.Fatal(err)
	}
	long, short := &Request{Prompt: 2000, Output: 1}, &Request{Prompt: 10, Output: 50}
	steps := drive(t, e, []*Request{short, long}, []time.Duration{0, 20 * time.Millisecond})
	for _, s := range steps {
		if s.DecodeTokens+s.PrefillTokens > 512 {
			t.Errorf("a step computed %d tokens; the budget is 512", s.DecodeTokens+s.PrefillTokens)
		}
	}
	if long.Finish != FinishStop || short.Finish != FinishStop {
		t.Errorf("finish = %v, %v; want both done", long.Finish, short.Finish)
	}
}

func TestPrefixIsReusedByTheNextTurn(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	// Turn two resends turn one's prompt and reply and adds 100 tokens.
	first := &Request{Prompt: 1000, Output: 200, Keys: Keys(16, Span{1, 1000}, Span{2, 200})}
	second := &Request{Prompt: 1300, Output: 5, Keys: Keys(16, Span{1, 1000}, Span{2, 200}, Span{3, 100}, Span{4, 5})}
	drive(t, e, []*Request{first, second}, []time.Duration{0, 10 * time.Second})
	if second.Cached != 1184 { // 74 full blocks of the 1199 computed tokens
		t.Errorf("second turn found %d cached tokens; want 1184", second.Cached)
	}
	if a, b := first.First-first.Arrived, second.First-second.Arrived; b > a/2 {
		t.Errorf("time to first token fell from %v to %v only", a, b)
	}
	off, err := New(Config{EnablePrefixCaching: Off})
	if err != nil {
		t.Fatal(err)
	}
	again := &Request{Prompt: 1000, Output: 2, Keys: first.Keys}
	same := &Request{Prompt: 1000, Output: 2, Keys: first.Keys}
	drive(t, off, []*Request{again, same}, []time.Duration{0, time.Second})
	if same.Cached != 0 {
		t.Errorf("with the prefix cache off %d tokens were found; want 0", same.Cached)
	}
}

func TestAWhollyCachedPromptComputesItsLastBlock(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	keys := Keys(16, Span{1, 64}, Span{2, 16})
	a, b := &Request{Prompt: 64, Output: 16, Keys: keys}, &Request{Prompt: 64, Output: 16, Keys: keys}
	drive(t, e, []*Request{a, b}, []time.Duration{0, time.Second})
	if b.Cached != 48 {
		t.Errorf("a prompt of 64 cached tokens reused %d; want 48, the last block computed again", b.Cached)
	}
}

func TestPreemptionRecomputesAndLosesNothing(t *testing.T) {
	e, err := New(Config{NumGPUBlocksOverride: 100, MaxModelLen: 1600})
	if err != nil {
		t.Fatal(err)
	}
	var reqs []*Request
	var at []time.Duration
	for i := range 8 {
		reqs = append(reqs, &Request{Prompt: 150, Output: 300, Keys: Keys(16, Span{uint64(i + 1), 150}, Span{uint64(i + 100), 300})})
		at = append(at, time.Duration(i)*time.Millisecond)
	}
	drive(t, e, reqs, at)
	for i, r := range reqs {
		if r.Generated != 300 || r.Finish != FinishStop {
			t.Errorf("request %d generated %d tokens, finish %v; want 300, stop", i, r.Generated, r.Finish)
		}
	}
	if e.count.Preemptions == 0 {
		t.Error("8 requests of 450 tokens in 1600 tokens of KV cache met no preemption")
	}
	if reqs[0].Preemptions != 0 {
		t.Error("the oldest request was preempted; the latest must go first")
	}
}

func TestCancelFreesBlocks(t *testing.T) {
	e, err := New(Config{EnablePrefixCaching: Off})
	if err != nil {
		t.Fatal(err)
	}
	running, waiting := &Request{Prompt: 500, Output: 100}, &Request{Prompt: 500, Output: 100}
	e.Submit(0, running)
	s, _ := e.Begin(0)
	e.Submit(s.Start, waiting)
	e.Cancel(running) // while its step runs
	e.Commit()
	e.Cancel(waiting)
	e.Cancel(waiting)
	if !e.Idle() || e.pool.used != 0 || running.Finish != FinishAbort || running.Generated != 0 {
		t.Errorf("after cancelling: idle %v, %d blocks used, finish %v", e.Idle(), e.pool.used, running.Finish)
	}
	if got := e.count.Finished[FinishAbort]; got != 2 {
		t.Errorf("aborted requests counted = %d; want 2", got)
	}
}

// Whatever arrives, every request ends with its tokens, blocks add up after every step, and
// time goes forward.
func TestSchedulerInvariants(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cfg := Config{
			MaxNumSeqs: 1 + rng.IntN(40), MaxNumBatchedTokens: 64 + rng.IntN(2000), MaxModelLen: 1024,
			NumGPUBlocksOverride: 70 + rng.IntN(300), PriorityScheduling: rng.IntN(2) == 0, Seed: seed, StepNoise: 0.03,
		}
		if rng.IntN(2) == 0 {
			cfg.Speculative = Speculative{Tokens: 1 + rng.IntN(5), Acceptance: rng.Float64(), DraftShare: 0.1}
		}
		if rng.IntN(3) == 0 {
			cfg.EnablePrefixCaching = Off
		}
		if rng.IntN(3) == 0 {
			cfg.KVOffloadBytes = 1e8
		}
		e, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var reqs []*Request
		var at []time.Duration
		clock := time.Duration(0)
		for i := range 60 {
			shared := 16 * rng.IntN(10)
			unique, out := 1+rng.IntN(300), 1+rng.IntN(300)
			reqs = append(reqs, &Request{
				Prompt: shared + unique, Output: out, Priority: rng.IntN(3),
				Keys: Keys(16, Span{uint64(1 + rng.IntN(3)), shared}, Span{uint64(1000 + i), unique}, Span{uint64(2000 + i), out}),
			})
			at = append(at, clock)
			clock += time.Duration(rng.IntN(30)) * time.Millisecond
		}
		for _, s := range drive(t, e, reqs, at) {
			if s.End <= s.Start {
				t.Fatalf("seed %d: a step ends at %v, not after its start %v", seed, s.End, s.Start)
			}
		}
		for i, r := range reqs {
			if r.Generated != r.Output || r.Finish != FinishStop || r.First > r.Last || r.Scheduled < r.Queued {
				t.Fatalf("seed %d request %d: %d of %d tokens, finish %v, queued %v, scheduled %v, first %v, last %v",
					seed, i, r.Generated, r.Output, r.Finish, r.Queued, r.Scheduled, r.First, r.Last)
			}
		}
		if e.pool.used != 0 {
			t.Fatalf("seed %d: %d blocks are held after the last request", seed, e.pool.used)
		}
	}
}

func TestOutOfMemoryDoesNotStart(t *testing.T) {
	cfg := lookup(t, "l4", "llama-3.1-70b")
	if _, err := New(cfg); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("70B on an L4: error %v; want out of memory", err)
	}
}

func BenchmarkDecodeStep(b *testing.B) {
	e, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Duration(0)
	for b.Loop() {
		if e.Idle() {
			for i := range 64 {
				e.Submit(now, &Request{Prompt: 1000 + i, Output: 2000})
			}
		}
		s, ok := e.Begin(now)
		if !ok {
			b.Fatal("nothing runs")
		}
		e.Commit()
		now = s.End
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/token")
}
