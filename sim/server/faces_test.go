package server

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// The two faces of the core give the same times: a closed loop of eight users over HTTP and
// on the virtual clock.
func TestBothFacesAgree(t *testing.T) {
	const users, each, tokens = 8, 3, 120
	s, err := New(Config{Speed: 4})
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var wg sync.WaitGroup
	for u := range users {
		wg.Go(func() {
			for i := range each {
				// A prompt of 302 tokens that no other shares: a begin mark, a number, 300 words.
				body := `{"prompt":"` + strings.Repeat("ab"[u%2:u%2+1], 1+u+users*i%7) + strings.Repeat(" word", 300) + `","max_tokens":120,"ignore_eos":true}`
				if status, _, text := post(t, url+"/v1/completions", body); status != 200 {
					t.Errorf("status %d: %s", status, text)
				}
			}
		})
	}
	wg.Wait()
	live := s.sources()[0].State.Counters
	shape := offline.Shape{Input: offline.Between(305, 305), Output: offline.Between(tokens, tokens), Seed: 1}
	res, err := offline.Run(context.Background(), offline.Config{Source: shape.Source(), Concurrency: users, MaxRequests: users * each})
	if err != nil {
		t.Fatal(err)
	}
	virtual := res.Engines[0].Counters
	if live.Generated != users*each*tokens || virtual.Generated != live.Generated {
		t.Fatalf("%d and %d tokens; want %d", live.Generated, virtual.Generated, users*each*tokens)
	}
	if b := s.Behind(); b > 0 {
		t.Skipf("this machine fell behind the simulated clock by %v: its times cannot be compared", b)
	}
	mean := func(h sim.Histogram) float64 { return h.Sum / float64(h.N) }
	if a, b := mean(live.TPOT), mean(virtual.TPOT); math.Abs(a/b-1) > 0.12 {
		t.Errorf("time a token is %.2f ms over HTTP and %.2f ms offline", 1e3*a, 1e3*b)
	}
}
