package faults

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/sim/server"
)

// traffic plays a condition's traffic over HTTP for some simulated seconds and returns the
// metrics page at its end and the median wall time to a stream's first token.
func traffic(t *testing.T, l *Live, speed float64, dur time.Duration) (page string, first time.Duration) {
	t.Helper()
	l.Server.Speed = speed
	srv, err := server.New(l.Server)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(srv.Handler())
	defer h.Close()
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(float64(dur)/speed))
	defer cancel()
	var mu sync.Mutex
	var firsts []time.Duration
	plan := l.Sessions
	next := func() (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		s, ok := plan.Next()
		if !ok || ctx.Err() != nil {
			return "", false
		}
		// Distinct words of the planned number: one token each.
		words := strings.Repeat(" w", s.Turns[0].Prompt/2)
		return fmt.Sprintf(`{"prompt":"%d%s","max_tokens":%d,"ignore_eos":true,"stream":true}`, len(firsts)*7919+s.Turns[0].Prompt, words, s.Turns[0].Output), true
	}
	var wg sync.WaitGroup
	users := l.Concurrency
	if users == 0 {
		users = 24
	}
	for range users {
		wg.Go(func() {
			for {
				body, ok := next()
				if !ok {
					return
				}
				req, _ := http.NewRequestWithContext(ctx, "POST", h.URL+"/v1/completions", strings.NewReader(body))
				began := time.Now()
				res, err := client.Do(req)
				if err != nil {
					return
				}
				if _, err := io.ReadFull(res.Body, make([]byte, 1)); err == nil {
					mu.Lock()
					firsts = append(firsts, time.Since(began))
					mu.Unlock()
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
	<-time.After(time.Duration(0.8 * float64(dur) / speed)) // under load
	res, err := http.Get(h.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(res.Body)
	res.Body.Close()
	cancel()
	wg.Wait()
	if len(firsts) > 0 {
		v := make([]float64, len(firsts))
		for i, f := range firsts {
			v[i] = float64(f)
		}
		first = time.Duration(quantile(v, .5))
	}
	return string(b), first
}

// metric adds up a series of the page over its labels.
func metric(page, name string) (sum float64) {
	for _, m := range regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`(?:\{[^}]*\})? (\S+)$`).FindAllStringSubmatch(page, -1) {
		v, _ := strconv.ParseFloat(m[1], 64)
		sum += v
	}
	return sum
}

// Every condition can be met over HTTP too.
func TestEveryConditionServes(t *testing.T) {
	for i, c := range Conditions() {
		if testing.Short() && i%6 != 0 {
			continue // each finds the engine's capacity first, which is slow with a race detector
		}
		l, err := Prepare(context.Background(), c.ID, Options{Severity: Mid, Seed: 1, Duration: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		l.Server.Speed = 100
		srv, err := server.New(l.Server)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		h := httptest.NewServer(srv.Handler())
		res, err := http.Post(h.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"hello there","max_tokens":8}`))
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 200 || !strings.Contains(string(b), `"completion_tokens":8`) {
			t.Errorf("%s: status %d: %.200s", c.ID, res.StatusCode, b)
		}
		if l.Truth.Cause != c.Cause || l.Rate == 0 && l.Concurrency == 0 {
			t.Errorf("%s: truth %q, rate %g, concurrency %d", c.ID, l.Truth.Cause, l.Rate, l.Concurrency)
		}
		srv.Close()
		h.Close()
	}
}

func TestSymptomsOverHTTP(t *testing.T) {
	opt := Options{Severity: High, Seed: 1, Duration: 30 * time.Second}
	prepared := func(id string) *Live {
		l, err := Prepare(context.Background(), id, opt)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	page, _ := traffic(t, prepared("F05"), 8, 12*time.Second)
	if r := metric(page, "vllm:num_requests_running"); r != 8 || metric(page, "vllm:num_requests_waiting") < 4 {
		t.Errorf("F05: %g running, %g waiting; want 8 at the cap and others waiting", r, metric(page, "vllm:num_requests_waiting"))
	}
	page, _ = traffic(t, prepared("F23"), 4, 8*time.Second)
	if d, a := metric(page, "vllm:spec_decode_num_draft_tokens_total"), metric(page, "vllm:spec_decode_num_accepted_tokens_total"); d == 0 || a/d > 0.15 {
		t.Errorf("F23: %g of %g drafted tokens accepted; want few", a, d)
	}
	page, _ = traffic(t, prepared("F12"), 4, 8*time.Second)
	if metric(page, "vllm:prefix_cache_hits_total") != 0 || metric(page, "vllm:prompt_tokens_total") == 0 {
		t.Errorf("F12: %g tokens found in a cache that is off", metric(page, "vllm:prefix_cache_hits_total"))
	}
	_, slow := traffic(t, prepared("F15"), 1, 3*time.Second)
	if slow < 250*time.Millisecond {
		t.Errorf("F15: first byte after %v; want at least the round trip of 300 ms", slow)
	}
}
