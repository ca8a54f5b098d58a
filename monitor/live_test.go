package monitor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/monitor"
)

// liveEnv names a running server that TestLive may put load on.
const liveEnv = "INFERENCEBENCH_LIVE_URL"

// TestLive watches a real server under a little load: every signal that its adapter claims is
// seen, and changes. The server must have on what brings them: a cache of KV blocks, and
// speculative decoding where it can have it.
func TestLive(t *testing.T) {
	raw := os.Getenv(liveEnv)
	if raw == "" {
		t.Skip("set " + liveEnv + " to the address of a server to run this")
	}
	base, err := engines.NormalizeBase(raw)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{}
	id, err := engines.Probe(t.Context(), client, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("engine %s, version %q, models %v, max %v, metrics %s, settings %v, notes %v",
		id.Engine, id.Version, id.Models, id.MaxModelLen.Or(0), id.MetricsURL, id.Settings, id.Notes)
	if id.MetricsURL == "" {
		t.Fatal("no metrics page")
	}
	all, err := monitor.Attach(t.Context(), monitor.Wanted{Client: client, Server: id, NoGPU: true, KVEvents: os.Getenv("INFERENCEBENCH_LIVE_KV_EVENTS")})
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu      sync.Mutex
		samples []archive.Sample
	)
	m := monitor.Start(t.Context(), monitor.Config{
		Watchers: all.Watchers,
		Clock:    archive.NewRunClock(), Interval: 200 * time.Millisecond,
		Sources: slices.DeleteFunc(all.Sources, func(s monitor.Source) bool { return s.Kind() != archive.SourceEngine }),
		Sample: func(s archive.Sample) {
			mu.Lock()
			defer mu.Unlock()
			samples = append(samples, s)
		},
		Event: func(e archive.Event) { t.Logf("event %s: %s", e.Kind, e.Message) },
	})
	load(t.Context(), client, base, id.Models[0], 24, 8)
	m.Stop()

	first, low, high := map[string]float64{}, map[string]float64{}, map[string]float64{}
	failed := 0
	for _, s := range samples {
		if s.Error != "" {
			t.Logf("sample failed: %s", s.Error)
			failed++
		}
		for name, v := range s.Values {
			if _, ok := first[name]; !ok {
				first[name], low[name], high[name] = v, v, v
			}
			low[name], high[name] = min(low[name], v), max(high[name], v)
		}
	}
	if 4*failed > len(samples) {
		t.Errorf("%d of %d samples failed", failed, len(samples))
	}
	var changed, still, unseen []string
	for _, sig := range engines.Canonical() {
		if len(id.Adapter.Sources[sig.Name]) == 0 {
			continue
		}
		seen, moved := false, false
		for name := range maps.Keys(first) {
			if name == sig.Name || strings.HasPrefix(name, sig.Name+"_total") || strings.HasPrefix(name, sig.Name+"_sum") || strings.HasPrefix(name, sig.Name+"_count") {
				seen, moved = true, moved || high[name] > low[name]
			}
		}
		switch {
		case moved:
			changed = append(changed, sig.Name)
		case seen:
			still = append(still, sig.Name)
		default:
			unseen = append(unseen, sig.Name)
		}
	}
	for name, v := range high {
		if strings.HasPrefix(name, "kv_blocks") || strings.HasPrefix(name, "kv_event") {
			t.Logf("%s reached %v", name, v)
		}
	}
	t.Logf("%d samples; changed under load: %s", len(samples), strings.Join(changed, " "))
	t.Logf("seen, did not change: %s", strings.Join(still, " "))
	// What a version or a flag brings may be absent; sizes do not change.
	for _, name := range unseen {
		if c := id.Adapter.Sources[name]; !slices.ContainsFunc(c, func(c engines.Candidate) bool { return c.Since != "" || c.Until != "" }) {
			t.Errorf("claimed, not seen: %s", name)
			continue
		}
		t.Logf("not in this version: %s", name)
	}
	for _, name := range still {
		if name != "kv_cache_tokens_capacity" {
			t.Errorf("%s did not change under load", name)
		}
	}
}

// load sends chat requests, several at a time, and ignores the answers.
func load(ctx context.Context, client *http.Client, base, model string, requests, concurrency int) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range concurrency {
		wg.Go(func() {
			for i := range next {
				body, _ := json.Marshal(map[string]any{
					"model": model, "max_tokens": 24 + i%8, "ignore_eos": true,
					"messages": []map[string]string{{"role": "user", "content": strings.Repeat("Tell me a story. ", 5+i%3) + strings.Repeat(fmt.Sprintf("It has %d parts. ", i), 8)}},
				})
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", bytes.NewReader(body))
				if err != nil {
					return
				}
				req.Header.Set("Content-Type", "application/json")
				if resp, err := client.Do(req); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}
		})
	}
	for i := range requests {
		next <- i
	}
	close(next)
	wg.Wait()
}
