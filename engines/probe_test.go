package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
)

// routes serves fixed answers; a route that is not in it is 404 as a JSON API gives it.
type routes map[string]string

func (r routes) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, ok := r[req.Method+" "+req.URL.Path]
	if !ok {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"message":"not found"}}`)
		return
	}
	if status, rest, ok := strings.Cut(body, "|"); ok {
		code := 0
		fmt.Sscan(status, &code)
		w.WriteHeader(code)
		body = rest
	}
	fmt.Fprint(w, body)
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func probe(t *testing.T, base string) (Identity, error) {
	t.Helper()
	return Probe(t.Context(), &http.Client{}, base, nil)
}

func codes(id Identity) (out []string) {
	for _, n := range id.Notes {
		out = append(out, n.Code)
	}
	return out
}

func TestProbeRecognises(t *testing.T) {
	const vllmPage = "vllm:num_requests_running{engine=\"0\"} 0\nvllm:num_requests_waiting{engine=\"0\"} 0\nvllm:kv_cache_usage_perc{engine=\"0\"} 0\n" +
		"vllm:cache_config_info{engine=\"0\",block_size=\"16\",num_gpu_blocks=\"100\"} 1\n"
	vllm := routes{
		"GET /v1/models": `{"object":"list","data":[{"id":"m","owned_by":"vllm","max_model_len":32768}]}`,
		"GET /version":   `{"version":"0.30.1"}`, "GET /health": "", "GET /ping": "", "GET /metrics": vllmPage,
	}
	tests := []struct {
		why       string
		routes    routes
		engine    string
		adapter   string
		version   string
		models    []string
		max       int
		settings  map[string]string
		metrics   bool
		simulated bool
		codes     []string
	}{
		{
			"vLLM", vllm, "vllm", "vllm", "0.30.1",
			[]string{"m"}, 32768,
			map[string]string{"block_size": "16", "num_gpu_blocks": "100"}, true, false, nil,
		},
		{
			"llama.cpp without --metrics", routes{
				"GET /v1/models": `{"object":"list","data":[{"id":"g","owned_by":"llamacpp","meta":{"n_ctx":2048,"n_ctx_train":8192}}]}`,
				"GET /props":     `{"total_slots":4,"build_info":"b9","default_generation_settings":{"n_ctx":2048},"api_key":"sk-never"}`,
				"GET /health":    `{"status":"ok"}`, "GET /metrics": "501|{}",
			},
			"llama_cpp", "llama_cpp", "b9",
			[]string{"g"}, 2048,
			map[string]string{"slots": "4", "max_model_len": "2048"}, false, false,
			[]string{"no_metrics"},
		},
		{
			"llama.cpp of a build that does not know itself", routes{
				"GET /v1/models": `{"object":"list","data":[{"id":"g","owned_by":"llamacpp","meta":{"n_ctx":2048,"n_ctx_train":8192}}]}`,
				"GET /props":     `{"total_slots":4,"build_info":"b0-unknown","default_generation_settings":{"n_ctx":2048},"api_key":"sk-never"}`,
				"GET /health":    `{"status":"ok"}`, "GET /metrics": "501|{}",
			},
			"llama_cpp", "llama_cpp", "",
			[]string{"g"}, 2048,
			map[string]string{"slots": "4", "max_model_len": "2048"}, false, false,
			[]string{"no_metrics"},
		},
		{
			"our own simulator says so before anything else", routes{
				"GET /v1/models": `{"data":[{"id":"s","owned_by":"inferencebench-sim","max_model_len":8192}]}`,
				"GET /version":   `{"version":"1"}`, "GET /health": "", "GET /metrics": vllmPage,
			},
			"inferencebench_sim", "inferencebench_sim", "1",
			[]string{"s"}, 8192,
			map[string]string{"block_size": "16", "num_gpu_blocks": "100"}, true, true, nil,
		},
		{
			"the llm-d simulator is not taken for vLLM", routes{
				"GET /v1/models": `{"data":[{"id":"s","owned_by":"vllm"}]}`, "GET /health": "", "GET /health/ready": "", "GET /admin/config": "{}",
				"GET /metrics": "vllm:num_requests_running{model_name=\"s\"} 0\nvllm:num_requests_waiting 0\n",
			},
			"llm_d_sim", "llm_d_sim", "",
			[]string{"s"}, 0, map[string]string{}, true, true, nil,
		},
		{
			"a router with vLLM's metric names is unknown, but its page is read", routes{
				"GET /v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`, "GET /metrics": vllmPage,
			},
			"unknown", "vllm", "",
			[]string{"a", "b"}, 0,
			map[string]string{"block_size": "16", "num_gpu_blocks": "100"}, true, false,
			[]string{"borrowed_metrics", "no_health"},
		},
		{
			"B95 only a chat route: usable, and everything else is noted", routes{"POST /v1/chat/completions": "400|{\"error\":{\"message\":\"messages missing\"}}"},
			"unknown", "generic", "", nil, 0,
			map[string]string{}, false, false,
			[]string{"no_metrics", "no_health", "no_models"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			id, err := probe(t, serve(t, tt.routes))
			if err != nil {
				t.Fatal(err)
			}
			if id.Engine != tt.engine || id.Adapter.Name != tt.adapter || id.Version != tt.version || id.Simulated != tt.simulated {
				t.Errorf("engine %q, adapter %q, version %q, simulated %v; want %q, %q, %q, %v",
					id.Engine, id.Adapter.Name, id.Version, id.Simulated, tt.engine, tt.adapter, tt.version, tt.simulated)
			}
			if !slices.Equal(id.Models, tt.models) || id.MaxModelLen.Or(0) != tt.max {
				t.Errorf("models %v, max %v; want %v, %v", id.Models, id.MaxModelLen.Or(0), tt.models, tt.max)
			}
			if d := cmp.Diff(tt.settings, id.Settings); d != "" {
				t.Errorf("settings (-want +got):\n%s", d)
			}
			if (id.MetricsURL != "") != tt.metrics {
				t.Errorf("metrics URL %q; want one: %v", id.MetricsURL, tt.metrics)
			}
			if !slices.Equal(codes(id), tt.codes) {
				t.Errorf("notes %v; want %v", id.Notes, tt.codes)
			}
		})
	}
}

func TestProbeErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	secure := httptest.NewUnstartedServer(routes{"GET /v1/models": `{"data":[{"id":"m"}]}`})
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshakes that fail are the test
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := serve(t, routes{})

	tests := []struct {
		why, base string
		kind      ProbeKind
		words     []string
	}{
		{"nothing listens", closed, Unreachable, []string{"refused", "port"}},
		{"no such host", "http://no-such-host.invalid:8000", Unreachable, []string{"check the address"}},
		{"a wrong key", serve(t, routes{"GET /v1/models": "401|{}"}), Auth, []string{"401", "key"}},
		{"a key without the right", serve(t, routes{"GET /v1/models": "403|{}"}), Auth, []string{"403", "key"}},
		{"a self-signed certificate", secure.URL, TLS, []string{"certificate", "--ca-file", "--insecure"}},
		{"TLS to a plain port", "https" + strings.TrimPrefix(plain, "http"), TLS, []string{"http://"}},
		{"plain to a TLS port", "http" + strings.TrimPrefix(secure.URL, "https"), TLS, []string{"https://"}},
		{"a web page", serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!DOCTYPE html><p>hi") })), NotLLM, []string{"web page"}},
		{"a web server's own 404 page", serve(t, http.NotFoundHandler()), NotLLM, []string{"/v1/models", "OpenAI"}},
		{"a server that still loads", serve(t, routes{"GET /v1/models": "503|{}"}), NotReady, []string{"503", "wait"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, err := probe(t, tt.base)
			var pe *ProbeError
			if !errors.As(err, &pe) || pe.Kind != tt.kind {
				t.Fatalf("Probe: %v; want kind %s", err, tt.kind)
			}
			for _, w := range tt.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not contain %q", err, w)
				}
			}
		})
	}
}

func TestProbeTrustsGivenAuthority(t *testing.T) {
	s := httptest.NewTLSServer(routes{"GET /v1/models": `{"data":[{"id":"m"}]}`, "GET /metrics": "up 1\n"})
	t.Cleanup(s.Close)
	id, err := Probe(t.Context(), s.Client(), s.URL, nil)
	if err != nil || !slices.Equal(id.Models, []string{"m"}) || id.MetricsURL != s.URL+"/metrics" {
		t.Errorf("Probe = %+v, %v; want model m and the metrics page", id, err)
	}
}

func TestProbeSendsHeaderAndKeepsItSecret(t *testing.T) {
	seen := make(chan string, 100)
	base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	_, err := Probe(t.Context(), &http.Client{}, strings.Replace(base, "://", "://user:hunter2@", 1), http.Header{"Authorization": {"Bearer sk-hidden"}})
	if got := <-seen; got != "Bearer sk-hidden" {
		t.Errorf("Authorization = %q; want the given one", got)
	}
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "sk-hidden") {
		t.Errorf("Probe: %v; want an error without password and key", err)
	}
}

func TestProbeCancelled(t *testing.T) {
	stuck := make(chan struct{})
	base := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stuck:
		case <-r.Context().Done():
		}
	}))
	defer close(stuck)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Probe(ctx, &http.Client{}, base, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Probe: %v; want the context's error", err)
	}
}

func TestChoose(t *testing.T) {
	id := func(models ...string) *Identity {
		g, _ := Lookup(Generic)
		out := &Identity{Models: models, Adapter: g}
		for _, m := range models {
			out.Details = append(out.Details, Model{ID: m})
		}
		return out
	}
	tests := []struct {
		why  string
		id   *Identity
		want string
		got  string
		err  string
	}{
		{"the only model", id("a"), "", "a", ""},
		{"one by name", id("a", "b"), "b", "b", ""},
		{"never a silent pick", id("a", "b", "c"), "", "", "3 models; choose one with --model: a, b, c"},
		{"a wrong name lists the right ones", id("a", "b"), "x", "", `no model "x"; it has: a, b`},
		{"no list and no name", id(), "", "", "name one with --model"},
		{"no list, but a name", id(), "x", "x", ""},
	}
	for _, tt := range tests {
		m, err := tt.id.Choose(tt.want)
		if m.ID != tt.got || (err != nil) != (tt.err != "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: Choose(%q) = %q, %v; want %q, %q", tt.why, tt.want, m.ID, err, tt.got, tt.err)
		}
	}
}

func TestServerHasNoCredentials(t *testing.T) {
	id := Identity{Base: "http://u:hunter2@h:1", MetricsURL: "http://u:hunter2@h:1/metrics", Engine: "vllm", Models: []string{"m"}, Details: []Model{{ID: "m", MaxModelLen: archive.Some(9)}}}
	s := id.Server("m")
	if strings.Contains(s.URL+s.MetricsURL, "hunter2") || s.MaxModelLen.Or(0) != 9 {
		t.Errorf("Server = %+v; want no credentials and the model's own limit", s)
	}
}
