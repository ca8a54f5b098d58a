package search_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/loadgen/search"
)

// run carries a whole search out against a queue.
func run(t *testing.T, q *queue, cfg search.Config) search.Answer {
	t.Helper()
	cfg.Limits = []search.Limit{{Name: "e2e", Allowed: 0.01}}
	m, err := search.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		p, ok := m.Next()
		if !ok {
			return m.Answer()
		}
		m.Report(p, q.probe(p, m.Level(p)))
	}
	t.Fatal("the search did not end within 500 probes")
	return search.Answer{}
}

// TestFindsTheCapacityOfAQueue searches the rate of synthetic queues whose capacity is
// known, with 20 seeds each: at least 19 land within 5 % of the truth, and at least 19
// intervals hold it.
func TestFindsTheCapacityOfAQueue(t *testing.T) {
	exponential := func(mean float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return mean * r.ExpFloat64() }
	}
	for _, c := range []struct {
		name  string
		queue queue
		truth float64 // 0 is to be simulated
	}{
		// One server with exponential times of mean 1/μ: P(T > t) = exp(−(μ−λ)t), so that
		// 1 % miss at λ = μ − ln(100)/t.
		{"one server, limit at a tenth of the load", queue{servers: 1, service: exponential(0.1), limit: 1}, 10 - math.Log(100)},
		{"one server, limit near saturation", queue{servers: 1, service: exponential(0.1), limit: 3}, 10 - math.Log(100)/3},
		{"eight servers of constant time", queue{servers: 8, service: func(*rand.Rand) float64 { return 1 }, limit: 2}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.truth > 0 {
				t.Skip("sixty searches take half a minute")
			}
			truth := c.truth
			if truth == 0 {
				c.queue.rng = rand.New(rand.NewPCG(99, 1))
				truth = c.queue.capacity(0.01, 1, 8)
			}
			close, held, requests := 0, 0, 0
			for seed := range uint64(20) {
				q := c.queue
				q.rng = rand.New(rand.NewPCG(seed, 7))
				a := run(t, &q, search.Config{})
				if math.Abs(a.Rate/truth-1) <= 0.05 {
					close++
				}
				if a.Low <= truth && truth <= a.High {
					held++
				}
				requests += a.Requests
				t.Logf("seed %d: %.3f [%.3f, %.3f] of %.3f, off by %+.1f %%, %d requests, precise %v, confirmed %v",
					seed, a.Rate, a.Low, a.High, truth, 100*(a.Rate/truth-1), a.Requests, a.Precise, a.Confirmed)
			}
			t.Logf("within 5 %%: %d of 20; truth in the interval: %d of 20; %d requests on average", close, held, requests/20)
			if close < 19 || held < 19 {
				t.Errorf("within 5 %%: %d of 20, truth in the interval: %d of 20; want at least 19 of each", close, held)
			}
		})
	}
}

// Searches without an answer say why, and keep the bound that they found.
func TestSearchWithoutAnAnswer(t *testing.T) {
	slow := func(*rand.Rand) float64 { return 1 }
	for _, c := range []struct {
		name      string
		limit     float64
		cfg       search.Config
		reason    string
		low, high bool
	}{
		{"no rate keeps the limit", 0.5, search.Config{}, "miss a limit", false, true},
		{"the largest allowed rate keeps it", 5, search.Config{MaxRate: 2}, "largest rate allowed", true, false},
		{"the budget is too small", 2, search.Config{Budget: 100}, "budget", true, false},
	} {
		q := &queue{servers: 8, service: slow, limit: c.limit, rng: rand.New(rand.NewPCG(1, 1))}
		a := run(t, q, c.cfg)
		if a.Known || !strings.Contains(a.Reason, c.reason) || a.Low > 0 != c.low || a.High > 0 != c.high {
			t.Errorf("%s: %+v; want no estimate, reason %q, low %v, high %v", c.name, a, c.reason, c.low, c.high)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := []search.Limit{{Name: "x", Allowed: 0.01}}
	for _, cfg := range []search.Config{
		{}, {Limits: []search.Limit{{Allowed: 0}}}, {Limits: []search.Limit{{Allowed: 1}}}, {Limits: good, Budget: -1},
		{Limits: good, Confidence: 1}, {Limits: good, MaxRate: -1}, {Limits: make([]search.Limit, 65)},
	} {
		if _, err := search.New(cfg); err == nil {
			t.Errorf("New(%+v) is accepted", cfg)
		}
	}
}

// The sequential test keeps its errors on independent misses: at the allowed share it
// fails few levels, at twice the share it passes few, and it needs about 600 requests.
func TestLevelErrors(t *testing.T) {
	for _, c := range []struct {
		share float64
		wrong search.Decision
		most  float64
	}{{0.01, search.Fail, 0.08}, {0.02, search.Pass, 0.13}, {0.005, search.Fail, 0.01}, {0.05, search.Pass, 0.01}} {
		rng := rand.New(rand.NewPCG(3, uint64(c.share*1e4)))
		m, err := search.New(search.Config{Limits: []search.Limit{{Name: "x", Allowed: 0.01}}})
		if err != nil {
			t.Fatal(err)
		}
		const levels = 1000
		wrong, requests := 0, 0
		for range levels {
			l := m.Level(search.Probe{Rate: 1, Requests: 20_000})
			for l.Decide() == search.Continue {
				misses := uint64(0)
				if rng.Float64() < c.share {
					misses = 1
				}
				l.Finish(l.Start(), misses)
				requests++
			}
			if l.Decide() == c.wrong {
				wrong++
			}
		}
		if got := float64(wrong) / levels; got > c.most {
			t.Errorf("at a share of %g misses, %.3f of the levels end in %v; want at most %g", c.share, got, c.wrong, c.most)
		}
		t.Logf("at %g: %d of %d wrong, %d requests on average", c.share, wrong, levels, requests/levels)
	}
}

// Outcomes count in the order of the starts, whatever the order of the ends.
func TestLevelCountsInOrder(t *testing.T) {
	m, err := search.New(search.Config{Limits: []search.Limit{{Name: "x", Allowed: 0.01}}})
	if err != nil {
		t.Fatal(err)
	}
	l := m.Level(search.Probe{Rate: 1, Requests: 300, Fixed: true})
	slow := l.Start()
	for range 299 {
		l.Finish(l.Start(), 0)
	}
	if l.Open() != 1 || l.Decide() != search.Continue {
		t.Fatalf("with the first request open: %d open, %v; want 1 and continue", l.Open(), l.Decide())
	}
	l.Finish(slow, search.AllMissed)
	if l.Open() != 0 || l.Decide() == search.Continue {
		t.Errorf("after the first request: %d open, %v; want 0 and a decision", l.Open(), l.Decide())
	}
}

// A backlog that grows fails a level even when no limit is missed.
func TestGrowingBacklogFails(t *testing.T) {
	m, err := search.New(search.Config{Limits: []search.Limit{{Name: "x", Allowed: 0.01}}})
	if err != nil {
		t.Fatal(err)
	}
	l := m.Level(search.Probe{Rate: 1, Requests: 500, Fixed: true})
	var open []int
	for i := 0; l.Decide() == search.Continue; i++ {
		open = append(open, l.Start())
		if i%2 == 1 { // one leaves for every two that arrive
			l.Finish(open[0], 0)
			open = open[1:]
		}
	}
	if d := l.Decide(); d != search.Fail || !l.Growing() {
		t.Errorf("decision %v, growing %v; want fail and true", d, l.Growing())
	}
}
