package slots

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		why, in string
		want    map[string]float64
	}{
		{
			"a build of 2026: two slots, one working", `[{"id":0,"n_ctx":2048,"is_processing":true,"n_prompt_tokens":41,"n_prompt_tokens_processed":37,"next_token":[{"n_decoded":4}],"params":{"x":1}},
{"id":1,"n_ctx":2048,"is_processing":false,"n_prompt_tokens":900,"next_token":[{"n_decoded":80}]}]`,
			map[string]float64{
				"slots_total": 2, "slots_busy": 1, "generation_tokens_in_flight": 4, "kv_cache_tokens_capacity": 4096,
				"kv_cache_tokens_used": 41, "kv_cache_usage": 41.0 / 4096, "kv_cache_usage_max": 41.0 / 2048,
			},
		},
		{
			"an older build: state, and one object of the next token", `[{"n_ctx":512,"state":1,"n_past":128,"next_token":{"n_decoded":3}}]`,
			map[string]float64{
				"slots_total": 1, "slots_busy": 1, "generation_tokens_in_flight": 3, "kv_cache_tokens_capacity": 512,
				"kv_cache_tokens_used": 128, "kv_cache_usage": 0.25, "kv_cache_usage_max": 0.25,
			},
		},
		{
			"a build that does not tell what a slot holds: use is unknown", `[{"n_ctx":512,"is_processing":true}]`,
			map[string]float64{"slots_total": 1, "slots_busy": 1, "generation_tokens_in_flight": 0, "kv_cache_tokens_capacity": 512},
		},
	}
	for _, tt := range tests {
		got, err := Parse([]byte(tt.in))
		if d := cmp.Diff(tt.want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.why, err, d)
		}
	}
	for _, in := range []string{"", "{}", "[]", `[{"n_ctx":"x"}]`, "<html>"} {
		if v, err := Parse([]byte(in)); err == nil {
			t.Errorf("Parse(%q) = %v; want an error", in, v)
		}
	}
}

func TestRead(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `[{"n_ctx":512,"is_processing":false}]`)
	}))
	defer s.Close()
	if v, err := New(s.Client(), s.URL, http.Header{"Authorization": {"Bearer k"}}).Read(t.Context()); err != nil || v["slots_total"] != 1 {
		t.Errorf("Read = %v, %v", v, err)
	}
	if v, err := New(s.Client(), s.URL, nil).Read(t.Context()); err == nil {
		t.Errorf("Read without key = %v; want an error", v)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"n_ctx":512,"is_processing":true,"next_token":[{"n_decoded":1}]}]`))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = Parse(b) })
}
