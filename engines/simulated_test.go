package engines_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/sim/server"
)

// TestSimulatedEngine looks at the simulated engine in each of its dialects: it must say
// that it is a simulation, and its page must be read by the adapter of the server that it
// imitates.
func TestSimulatedEngine(t *testing.T) {
	for dialect, adapter := range map[string]string{
		"": "inferencebench_sim", "vllm": "inferencebench_sim", "sglang": "sglang", "tgi": "tgi", "trtllm": "tensorrt_llm", "llamacpp": "llama_cpp",
	} {
		t.Run("dialect "+dialect, func(t *testing.T) {
			s, err := server.New(server.Config{ModelName: "m", Dialect: dialect, Speed: 100})
			if err != nil {
				t.Fatal(err)
			}
			url, err := s.Start("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			resp, err := client.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"hi"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			id, err := engines.Probe(ctx, client, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !id.Simulated || id.Engine != "inferencebench_sim" || id.Adapter.Name != adapter || len(id.Models) != 1 || id.MetricsURL == "" {
				t.Fatalf("engine %s (simulated %v) read by %s, models %v, metrics %q; want inferencebench_sim read by %s", id.Engine, id.Simulated, id.Adapter.Name, id.Models, id.MetricsURL, adapter)
			}
			page, err := client.Get(id.MetricsURL)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(page.Body)
			page.Body.Close()
			v, notes, err := id.Adapter.Signals(b)
			if err != nil || len(notes) > 0 {
				t.Errorf("Signals: %v, %v", err, notes)
			}
			for _, name := range []string{"requests_running", "requests_waiting", "prompt_tokens_total", "generation_tokens_total"} {
				if _, ok := v[name]; !ok {
					t.Errorf("%s is not on the page", name)
				}
			}
			if v["generation_tokens_total"] != 8 {
				t.Errorf("generation_tokens_total = %v; want 8", v["generation_tokens_total"])
			}
			t.Logf("%d values, settings %v", len(v), id.Settings)
		})
	}
}
