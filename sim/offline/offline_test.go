package offline

import (
	"context"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim"
)

func run(t testing.TB, cfg Config) *Result {
	t.Helper()
	res, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestChatRunIsHealthyAndComplete(t *testing.T) {
	cfg := Config{Source: Chat(8, 1).Source(), Duration: 60 * time.Second, Records: true, Sampling: Sampling{Every: time.Second, Jitter: 0.1}}
	res := run(t, cfg)
	if res.Planned < 350 || res.Planned > 620 || len(res.Requests) != res.Planned || res.OK != res.Planned {
		t.Fatalf("planned %d, ok %d, recorded %d; want about 480, all ok", res.Planned, res.OK, len(res.Requests))
	}
	var ttft, tpot float64
	for _, r := range res.Requests {
		n := r.Usage.Completion.Or(0)
		if r.Status != archive.StatusOK || n != len(r.Chunks.T) || n == 0 || r.T.First < r.T.Send || r.T.Done < r.T.Last {
			t.Fatalf("record %s is inconsistent: %+v", r.ID, r)
		}
		ttft += r.T.First.Sub(r.T.Intended).Seconds() / float64(res.OK)
		if n > 1 {
			tpot += r.T.Last.Sub(r.T.First).Seconds() / float64(n-1) / float64(res.OK)
		}
	}
	if ttft < 0.015 || ttft > 0.12 || tpot < 0.007 || tpot > 0.02 {
		t.Errorf("mean time to first token %.1f ms, mean time a token %.1f ms; want a healthy H100", 1e3*ttft, 1e3*tpot)
	}
	if n := len(res.Samples); n < 4*55 || n > 4*100 {
		t.Errorf("%d samples in a minute of four sources; want about 240", n)
	}
	again := run(t, Config{Source: Chat(8, 1).Source(), Duration: 60 * time.Second, Records: true, Sampling: cfg.Sampling})
	if d := cmp.Diff(res.Requests, again.Requests); d != "" {
		t.Errorf("the same configuration gave another run:\n%.2000s", d)
	}
}

func TestClosedLoopObeysLittlesLaw(t *testing.T) {
	shape := Shape{Input: Between(200, 400), Output: Between(100, 200), Seed: 3}
	res := run(t, Config{Source: shape.Source(), Concurrency: 16, Duration: 60 * time.Second, Records: true})
	busy := 0.0
	for _, r := range res.Requests {
		busy += r.T.Done.Sub(r.T.Intended).Seconds()
	}
	if l := busy / res.End.Seconds(); math.Abs(l-16) > 1 {
		t.Errorf("mean requests in flight = %.2f; want 16", l)
	}
}

func TestSessionsResendTheirHistory(t *testing.T) {
	shape := Shape{Rate: 2, Input: Between(100, 100), Later: Between(50, 50), Output: Between(80, 80), Shared: 320, Turns: Between(3, 3),
		Think: func(*rand.Rand) time.Duration { return time.Second }, Seed: 1}
	res := run(t, Config{Source: shape.Source(), Duration: 30 * time.Second, Records: true})
	later := 0
	for _, r := range res.Requests {
		if want := 420 + r.Turn*130; r.Usage.Prompt.Or(0) != want {
			t.Fatalf("turn %d has %d prompt tokens; want %d", r.Turn, r.Usage.Prompt.Or(0), want)
		}
		if r.Turn > 0 {
			later++
			if c := r.Usage.Cached.Or(0); c < 420+(r.Turn-1)*130+80-32 {
				t.Errorf("turn %d found %d cached tokens; want nearly all of its history", r.Turn, c)
			}
		}
	}
	if later == 0 {
		t.Error("no session had a second turn")
	}
}

func TestAffinityKeepsPrefixHits(t *testing.T) {
	hits := func(rr bool) float64 {
		shape := Shape{Rate: 4, Input: Between(800, 1200), Later: Between(50, 100), Output: Between(80, 120), Turns: Between(4, 6),
			Think: func(*rand.Rand) time.Duration { return time.Second }, Seed: 1}
		res := run(t, Config{Source: shape.Source(), Replicas: 2, RoundRobin: rr, Duration: 60 * time.Second})
		v := sim.Signals(res.Engines)
		return v["prefix_cache_hits_total"] / v["prefix_cache_queries_total"]
	}
	if with, without := hits(false), hits(true); without > 0.8*with {
		t.Errorf("hit rate is %.2f with affinity and %.2f without; want a clear loss", with, without)
	}
}

func TestConnectionCapHoldsRequests(t *testing.T) {
	res := run(t, Config{Source: Chat(20, 1).Source(), Duration: 30 * time.Second, Client: Client{MaxConns: 8}, Records: true})
	held, most := 0, 0
	for _, r := range res.Requests {
		if !r.T.Send.Known() || r.T.Send.Sub(r.T.Intended) > 100*time.Millisecond {
			held++
		}
		most = max(most, r.InFlight.Or(0))
	}
	if held < len(res.Requests)/2 || most > 8 {
		t.Errorf("%d of %d requests were held by the connection cap, at most %d in flight; want most and 8", held, len(res.Requests), most)
	}
	if len(res.Requests) != res.Planned {
		t.Errorf("%d records of %d planned requests", len(res.Requests), res.Planned)
	}
}

func TestProxyCoalescesChunks(t *testing.T) {
	res := run(t, Config{Source: Chat(4, 1).Source(), Duration: 20 * time.Second, Proxy: Proxy{Every: 200 * time.Millisecond}, Records: true})
	tokens, chunks := 0, 0
	for _, r := range res.Requests {
		tokens += r.Usage.Completion.Or(0)
		chunks += len(r.Chunks.T)
	}
	if per := float64(tokens) / float64(chunks); per < 8 {
		t.Errorf("%.1f tokens a chunk behind a proxy of 200 ms; want more than 8", per)
	}
}

// BenchmarkChat measures simulated requests of the chat preset a second of processor time,
// which a busy machine does not change, garbage collection included.
func BenchmarkChat(b *testing.B) {
	requests := 0
	began := cpuTime()
	for b.Loop() {
		res := run(b, Config{Source: Chat(16, 1).Source(), MaxRequests: 20000})
		requests += res.OK
	}
	b.ReportMetric(float64(requests)/(cpuTime()-began).Seconds(), "requests/cpu-s")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestCapacity(t *testing.T) {
	lo, hi, err := Capacity(context.Background(), Config{}, Chat(0, 1), Objective{TTFT: 500 * time.Millisecond, TPOT: 50 * time.Millisecond, Share: 0.99})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("chat on one H100: %.1f req/s within the objective, %.1f saturated", lo, hi)
	if lo < 5 || lo > hi || hi > 60 {
		t.Errorf("capacity = %.1f, %.1f req/s; want 5-60 and in order", lo, hi)
	}
}

// What the hook tells of requests is what the records tell.
func TestEnded(t *testing.T) {
	var got []Ended
	res := run(t, Config{Source: Chat(8, 1).Source(), Duration: 20 * time.Second, Records: true, Ended: func(e Ended) { got = append(got, e) }})
	if len(got) != res.OK || res.OK < 100 {
		t.Fatalf("%d requests told, %d ended well", len(got), res.OK)
	}
	for i, r := range res.Requests[:res.OK] {
		want := Ended{Intended: got[i].Intended, First: r.T.First.Sub(Instant(0)), Done: r.T.Last.Sub(Instant(0)), Prompt: r.Usage.Prompt.Or(0), Output: r.Usage.Completion.Or(0)}
		if got[i] != want || Instant(got[i].Intended) != r.T.Intended {
			t.Errorf("request %d: told %+v; recorded %+v", i, got[i], want)
		}
	}
}
