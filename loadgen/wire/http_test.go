package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// reflector answers with a function of the request's body, and keeps what it saw.
type reflector struct {
	mu      sync.Mutex
	bodies  []map[string]any
	headers []http.Header
	answer  func(w http.ResponseWriter, body map[string]any)
}

func (s *reflector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, body)
	s.headers = append(s.headers, r.Header.Clone())
	s.mu.Unlock()
	s.answer(w, body)
}

func stream(w http.ResponseWriter, frames ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, strings.Join(frames, ""))
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		kind   string
		words  string
		retry  float64
	}{
		{"B30 503 is a failure", 503, nil, `{"error":{"message":"queue full"}}`, "http_503", "queue full", -1},
		{"B72 429 keeps what the server asks for", 429, map[string]string{"Retry-After": "2"}, `{"error":"slow down"}`, "http_429", "slow down", 2},
		{"a wrong key", 401, nil, `{"detail":"no such key sk-secret"}`, "http_401", "no such key [redacted]", -1},
		{"an HTML page of a proxy", 502, map[string]string{"Content-Type": "text/html"}, "<html>bad gateway</html>", "http_502", "bad gateway", -1},
		{"no body at all", 500, nil, "", "http_500", "Internal Server Error", -1},
		{"a redirect is named, not followed", 307, map[string]string{"Location": "/other"}, "", "http_307", "/other", -1},
		{"B80 llama.cpp's context overflow has both numbers", 400, nil, `{"error":{"code":400,"type":"exceed_context_size_error","message":"too long","n_prompt_tokens":3600,"n_ctx":4096}}`, archive.FailContextOverflow, `"n_prompt_tokens":3600,"n_ctx":4096`, -1},
		{"B80 vLLM's context overflow", 400, nil, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 4112 tokens","type":"BadRequestError","code":400}`, archive.FailContextOverflow, "4112", -1},
		{"B83 a template that refuses the roles", 400, nil, `{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}}`, archive.FailTemplate, "alternate", -1},
		{"an unknown model", 404, nil, `{"error":{"message":"The model m does not exist","code":404}}`, "http_404", "does not exist", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				for k, v := range tt.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			virtual(t, h, func(c *Config) { c.Key = "sk-secret" }, func(t *testing.T, c *Client) {
				rec := ask(t, c)
				if rec.Status != archive.StatusFailed || rec.Error.Kind != tt.kind || rec.Error.HTTPStatus.Or(0) != tt.status || !strings.Contains(rec.Error.Message, tt.words) {
					t.Fatalf("outcome %s %+v; want %s with %q", rec.Status, rec.Error, tt.kind, tt.words)
				}
				if got := rec.Error.RetryAfter.Or(-1); got != tt.retry {
					t.Errorf("retry after %v; want %v", got, tt.retry)
				}
				if b, _ := json.Marshal(rec); strings.Contains(string(b), "sk-secret") {
					t.Errorf("the key is in the record: %s", b)
				}
			})
		})
	}
}

func TestBodiesThatAreNoStream(t *testing.T) {
	const whole = `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`
	tests := []struct {
		name, contentType, body string
		status                  archive.Status
		kind, text              string
	}{
		{"a whole completion is an answer without chunk times", "application/json", whole, archive.StatusOK, "", "Hi"},
		{"a whole completion under the stream's content type", "text/event-stream", whole, archive.StatusOK, "", "Hi"},
		{"a stream under another content type", "application/json", text("Hi") + done, archive.StatusOK, "", "Hi"},
		{"a stream without content type", "", text("Hi") + done, archive.StatusOK, "", "Hi"},
		{"an error as JSON with status 200", "application/json", `{"error":{"message":"no","code":500}}`, archive.StatusFailed, archive.FailStreamError, ""},
		{"an error as JSON under the stream's content type", "text/event-stream", `{"error":{"message":"no","code":500}}`, archive.StatusFailed, archive.FailStreamError, ""},
		{"a page for people", "text/html; charset=utf-8", "<!doctype html><title>hello</title>", archive.StatusFailed, archive.FailNotSSE, ""},
		{"plain words", "text/plain", "hello", archive.StatusFailed, archive.FailNotSSE, ""},
		{"JSON of something else", "application/json", `{"hello":"world"}`, archive.StatusFailed, archive.FailNotSSE, ""},
		{"JSON that is cut", "application/json", `{"choices":[`, archive.StatusFailed, archive.FailMalformed, ""},
		{"a whole completion without text", "application/json", `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`, archive.StatusFailed, archive.FailNoTokens, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header()["Content-Type"] = []string{tt.contentType}
				_, _ = io.WriteString(w, tt.body)
			})
			virtual(t, h, nil, func(t *testing.T, c *Client) {
				rec := ask(t, c)
				kind := ""
				if rec.Error != nil {
					kind = rec.Error.Kind
				}
				if rec.Status != tt.status || kind != tt.kind || rec.Text != tt.text {
					t.Fatalf("outcome %s %+v text %q; want %s %s %q", rec.Status, rec.Error, rec.Text, tt.status, tt.kind, tt.text)
				}
				if noted(rec, "not_streamed") && (rec.T.First.Known() || len(rec.Chunks.T) > 0) {
					t.Errorf("a reply that came at once has token times: %+v", rec.T)
				}
			})
		})
	}
}

func TestGzipIsRefused(t *testing.T) {
	s := &reflector{answer: func(w http.ResponseWriter, _ map[string]any) {
		w.Header().Set("Content-Encoding", "gzip")
		stream(w, text("a"), done)
	}}
	virtual(t, s, nil, func(t *testing.T, c *Client) {
		rec := ask(t, c)
		if rec.Status != archive.StatusFailed || rec.Error.Kind != archive.FailNotSSE || !strings.Contains(rec.Error.Message, "gzip") {
			t.Errorf("outcome %+v; want not_sse that names gzip", rec.Error)
		}
		if got := s.headers[0].Get("Accept-Encoding"); got != "identity" {
			t.Errorf("Accept-Encoding = %q; want identity", got)
		}
	})
}

func TestTimeouts(t *testing.T) {
	slow := func(gap, n int) script {
		var s script
		for i := range n {
			s = append(s, step{gap * (i + 1), text("x")})
		}
		return append(s, step{gap*n + 1, done})
	}
	tests := []struct {
		name   string
		limits Timeouts
		server script
		kind   string
		at     float64 // of Done, in ms
	}{
		{"B60 no limit cuts a long generation", Timeouts{}, slow(60_000, 20), "", 1_200_001},
		{"B60 an idle limit above the gap", Timeouts{Idle: time.Second}, slow(500, 20), "", 10_001},
		{"B60 an idle limit below the gap", Timeouts{Idle: time.Second}, slow(2000, 3), archive.FailTimeoutIdle, 1000},
		{"idle counts from the last byte", Timeouts{Idle: time.Second}, script{{900, text("a")}, {1800, text("b")}, {5000, done}}, archive.FailTimeoutIdle, 2800},
		{"B03 comments reset the idle limit", Timeouts{Idle: time.Second}, script{{900, ":\n\n"}, {1800, ":\n\n"}, {2700, text("a") + done}}, "", 2700},
		{"comments are no first token", Timeouts{FirstToken: 2 * time.Second}, script{{900, ":\n\n"}, {1800, role}, {2700, text("a") + done}}, archive.FailTimeoutFirst, 2000},
		{"the first-token limit ends at the first token", Timeouts{FirstToken: time.Second}, script{{900, text("a")}, {5000, text("b") + done}}, "", 5000},
		{"the total limit", Timeouts{Total: 3 * time.Second}, slow(500, 20), archive.FailTimeoutTotal, 3000},
		{"the nearest limit wins", Timeouts{Total: 3 * time.Second, Idle: 700 * time.Millisecond, FirstToken: time.Second}, script{{600, text("a")}, {1200, text("b")}, {5000, done}}, archive.FailTimeoutIdle, 1900},
		{"a body left open after [DONE] is closed", Timeouts{}, script{{100, text("a") + done}, {60_000, ""}}, "", 5100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			virtual(t, tt.server, func(c *Config) { c.Timeouts = tt.limits }, func(t *testing.T, c *Client) {
				rec := ask(t, c)
				kind := ""
				if rec.Error != nil {
					kind = rec.Error.Kind
				}
				if kind != tt.kind {
					t.Errorf("outcome %+v; want %q", rec.Error, tt.kind)
				}
				if got := ms(rec, rec.T.Done); got != tt.at {
					t.Errorf("done at %v ms; want %v", got, tt.at)
				}
			})
		})
	}
}

func TestCancelledByTheCaller(t *testing.T) {
	virtual(t, script{{100, text("part")}, {60_000, done}}, nil, func(t *testing.T, c *Client) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("the phase is over")) })
		rec := &archive.Request{}
		c.Do(ctx, &Call{Prompt: "x"}, rec)
		if rec.Status != archive.StatusCancelled || rec.Error.Kind != archive.FailEnded || !strings.Contains(rec.Error.Message, "the phase is over") || rec.Text != "part" {
			t.Errorf("outcome %s %+v text %q; want cancelled, ended, with the cause and the partial text", rec.Status, rec.Error, rec.Text)
		}
		if got := ms(rec, rec.T.Done); got != 1000 {
			t.Errorf("done at %v ms; want 1000", got)
		}
	})
}

func TestRequestBody(t *testing.T) {
	zero, half := archive.Some(0.0), archive.Some(0.5)
	msgs := []tasks.Message{{Role: "system", Content: "be <short>"}, {Role: "user", Content: "hi"}}
	tests := []struct {
		name string
		cfg  Config
		call Call
		want string
	}{
		{"B35 a chat stream asks for usage", Config{}, Call{Messages: msgs, MaxTokens: 512},
			`{"model":"m","messages":[{"role":"system","content":"be <short>"},{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":512}`},
		{"a known temperature of 0 is sent", Config{}, Call{Prompt: "x", Temperature: zero},
			`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true},"temperature":0}`},
		{"B88 stream_options only with a stream", Config{NoStream: true}, Call{Prompt: "x", Temperature: half, Stop: []string{"\n"}},
			`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":false,"temperature":0.5,"stop":["\n"]}`},
		{"B88 engine fields only when asked for", Config{NoUsage: true}, Call{Prompt: "x", MaxTokens: 9, IgnoreEOS: true, Extra: map[string]any{"top_k": 1, "min_tokens": 9}},
			`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"max_tokens":9,"ignore_eos":true,"min_tokens":9,"top_k":1}`},
		{"completions take a prompt", Config{Endpoint: EndpointCompletions, MaxTokensField: MaxTokensCompletion}, Call{Messages: msgs, MaxTokens: 4},
			`{"model":"m","prompt":"be <short>\n\nhi","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":4}`},
		{"extra fields replace and remove", Config{}, Call{Prompt: "x", Extra: map[string]any{"model": "other", "stream_options": nil}},
			`{"model":"other","messages":[{"role":"user","content":"x"}],"stream":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.BaseURL, tt.cfg.Model, tt.cfg.Clock = "http://s", "m", archive.NewRunClock()
			c, err := New(tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.render(&tt.call, c.shape())
			if err != nil || string(got) != tt.want {
				t.Errorf("body %s, %v;\nwant %s", got, err, tt.want)
			}
		})
	}
	c, err := New(Config{BaseURL: "http://s", Model: "m", Clock: archive.NewRunClock()})
	if err != nil {
		t.Fatal(err)
	}
	rec := &archive.Request{}
	c.Do(t.Context(), &Call{Extra: map[string]any{"f": func() {}}}, rec)
	if rec.Status != archive.StatusFailed || rec.Error.Kind != archive.FailInternal || !rec.T.Done.Known() {
		t.Errorf("a body that cannot be written: %s %+v", rec.Status, rec.Error)
	}
}

func TestB86MaxTokensSwitch(t *testing.T) {
	s := &reflector{answer: func(w http.ResponseWriter, body map[string]any) {
		if _, ok := body["max_tokens"]; ok {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"Unsupported parameter: use max_completion_tokens","param":"max_tokens","code":"unsupported_parameter"}}`)
			return
		}
		stream(w, text("a"), usage(1, 1), done)
	}}
	virtual(t, s, nil, func(t *testing.T, c *Client) {
		first, second := ask(t, c), ask(t, c)
		if first.Status != archive.StatusOK || len(first.Attempts) != 1 || first.Attempts[0].Kind != "http_400" || !noted(first, "max_completion_tokens") {
			t.Errorf("first request %s %+v, attempts %v; want ok after one refused try", first.Status, first.Error, first.Attempts)
		}
		if second.Status != archive.StatusOK || len(second.Attempts) != 0 {
			t.Errorf("second request %s, attempts %v; want ok at once", second.Status, second.Attempts)
		}
		for i, b := range s.bodies {
			_, old := b["max_tokens"]
			_, new := b["max_completion_tokens"]
			if old == new || old != (i == 0) {
				t.Errorf("body %d has max_tokens %v and max_completion_tokens %v", i, old, new)
			}
		}
		if len(s.bodies) != 3 {
			t.Errorf("%d bodies; want 3", len(s.bodies))
		}
	})
	virtual(t, s, func(c *Config) { c.MaxTokensField = MaxTokensOld }, func(t *testing.T, c *Client) {
		if rec := ask(t, c); rec.Error == nil || rec.Error.Kind != "http_400" || len(rec.Attempts) != 0 {
			t.Errorf("with the field given: %+v; want http_400 and no second try", rec.Error)
		}
	})
}

func TestB88StrictServer(t *testing.T) {
	known := map[string]bool{"model": true, "messages": true, "stream": true, "max_tokens": true}
	s := &reflector{answer: func(w http.ResponseWriter, body map[string]any) {
		for name := range body {
			if !known[name] {
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = io.WriteString(w, `{"error":{"message":"unknown field `+name+`"}}`)
				return
			}
		}
		stream(w, text("a"), finish("stop"))
	}}
	virtual(t, s, nil, func(t *testing.T, c *Client) {
		if rec := ask(t, c); rec.Status != archive.StatusOK || !noted(rec, "no_stream_options") || !noted(rec, "no_usage") {
			t.Errorf("outcome %s %+v %v; want ok without usage, and a note", rec.Status, rec.Error, rec.Annotations)
		}
		if rec := ask(t, c); rec.Status != archive.StatusOK || len(rec.Attempts) != 0 {
			t.Errorf("the second request tried %v again", rec.Attempts)
		}
	})
}

func TestHeaders(t *testing.T) {
	s := &reflector{answer: func(w http.ResponseWriter, _ map[string]any) { stream(w, text("a"), done) }}
	set := func(c *Config) {
		c.Key, c.Header = "sk-1", http.Header{"x-team": {"blue"}, "Accept": {"*/*"}}
	}
	virtual(t, s, set, func(t *testing.T, c *Client) {
		rec := &archive.Request{}
		c.Do(t.Context(), &Call{ID: "req-7", Prompt: "x", Header: map[string]string{"traceparent": "00-1-2-01"}}, rec)
		for name, want := range map[string]string{"X-Request-Id": "req-7", "Traceparent": "00-1-2-01", "Authorization": "Bearer sk-1", "X-Team": "blue", "Accept": "*/*", "Content-Type": "application/json"} {
			if got := s.headers[0].Get(name); got != want {
				t.Errorf("header %s = %q; want %q", name, got, want)
			}
		}
		if rec.BodySHA256 == "" || rec.TextSHA256 != "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" {
			t.Errorf("hashes %q %q", rec.BodySHA256, rec.TextSHA256)
		}
	})
}

func TestB90Addresses(t *testing.T) {
	for _, tt := range []struct {
		base     string
		endpoint Endpoint
		want     string
	}{
		{"http://h:8000", EndpointChat, "http://h:8000/v1/chat/completions"},
		{"http://h:8000/", EndpointChat, "http://h:8000/v1/chat/completions"},
		{"http://h:8000/v1", EndpointChat, "http://h:8000/v1/chat/completions"},
		{"http://h:8000/v1//", EndpointChat, "http://h:8000/v1/chat/completions"},
		{"http://h:8000/api", EndpointCompletions, "http://h:8000/api/v1/completions"},
		{"http://h:8000/api/v1", EndpointCompletions, "http://h:8000/api/v1/completions"},
		{"https://h/v1beta/openai", EndpointChat, "https://h/v1beta/openai/chat/completions"},
		{"https://h/v1beta", EndpointChat, "https://h/v1beta/chat/completions"},
		{"http://h/v1/chat/completions", EndpointChat, "http://h/v1/chat/completions"},
		{"http://[::1]:8000", EndpointChat, "http://[::1]:8000/v1/chat/completions"},
		{"http://user:pw@h", EndpointChat, "http://h/v1/chat/completions"},
	} {
		c, err := New(Config{BaseURL: tt.base, Endpoint: tt.endpoint, Model: "m", Clock: archive.NewRunClock()})
		if err != nil || c.URL() != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.base, c, err, tt.want)
		}
	}
	for _, bad := range []Config{
		{BaseURL: "h:8000"}, {BaseURL: "ftp://h"}, {BaseURL: "http://"}, {BaseURL: ""}, {BaseURL: "http://h", Endpoint: "nope"},
		{BaseURL: "http://h", Proxy: "not a url"}, {BaseURL: "http://h", CAFile: "/does/not/exist"}, {BaseURL: "http://h", MaxTokensField: "tokens"},
	} {
		bad.Model, bad.Clock = "m", archive.NewRunClock()
		if _, err := New(bad); err == nil {
			t.Errorf("New(%+v) = nil error; want one", bad)
		}
	}
}
