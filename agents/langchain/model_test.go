package langchain

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/agents/llm"
)

var ask = llm.Request{System: "sys", User: "usr", Tool: "turn", Schema: json.RawMessage(`{"type":"object"}`), MaxTokens: 50, Temperature: 0.5}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestProviders(t *testing.T) {
	openAI := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Bearer k1" || !strings.Contains(string(body), `"tool_choice"`) || !strings.Contains(string(body), `"max_tokens":50`) {
			t.Errorf("header %q, body %s", r.Header.Get("Authorization"), body)
		}
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"turn","arguments":"{\"message\":\"hi\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}`)
	}
	for _, c := range []struct {
		about    string
		provider Provider
		path     string
		h        http.HandlerFunc
	}{
		{"an OpenAI-compatible server", OpenAI, "/v1", openAI},
		{"Google by its OpenAI endpoint", Google, "/v1beta/openai", openAI},
		{"Ollama by its OpenAI endpoint", Ollama, "/v1", openAI},
		{"Anthropic", Anthropic, "/v1", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Api-Key") != "k1" {
				t.Errorf("key header %q", r.Header.Get("X-Api-Key"))
			}
			fmt.Fprint(w, `{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"turn","input":{"message":"hi"}}],"usage":{"input_tokens":12,"output_tokens":5}}`)
		}},
	} {
		m, err := New(Config{Provider: c.provider, Model: "m", BaseURL: serve(t, c.h) + c.path, Key: "k1"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Generate(t.Context(), ask)
		if err != nil || string(got.Answer) != `{"message":"hi"}` || got.In != 12 || got.Out != 5 {
			t.Errorf("%s: %+v, %v; want the tool's arguments, 12 in, 5 out", c.about, got, err)
		}
	}
}

func TestServerWithoutToolsIsAskedInWords(t *testing.T) {
	var bodies []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if strings.Contains(string(body), `"tools"`) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"tools are not supported"}}`)
			return
		}
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"Here: {\"message\":\"hi\"}"},"finish_reason":"stop"}]}`)
	})
	m, err := New(Config{Provider: OpenAI, Model: "m", BaseURL: url + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := m.Generate(t.Context(), ask); err != nil || string(got.Answer) != `{"message":"hi"}` {
			t.Errorf("Generate = %+v, %v", got, err)
		}
	}
	if len(bodies) != 3 {
		t.Errorf("%d requests for two calls; want 3, as tools are tried once", len(bodies))
	}
}

func TestErrorsAreTypedAndHoldNoKey(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"key sk-very-secret is wrong"}}`)
	})
	m, err := New(Config{Provider: OpenAI, Model: "m", BaseURL: url, Key: "sk-very-secret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), ask)
	if se, ok := llm.AsStatus(err); !ok || se.Code != 401 || strings.Contains(err.Error(), "sk-very-secret") {
		t.Errorf("Generate = %v; want a status 401 without the key", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []Config{{Provider: OpenAI}, {Provider: "telepathy", Model: "m"}} {
		if _, err := New(c); err == nil {
			t.Errorf("New(%+v) accepts it", c)
		}
	}
}
