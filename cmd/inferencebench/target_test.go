package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// chatServer is a small OpenAI-compatible server. Each answer is one token; fail decides
// which chat request is answered with an error instead.
type chatServer struct {
	models []string
	key    string
	fail   func(n int64) (status int, body string)
	chats  atomic.Int64
}

func (s *chatServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`)
		return
	}
	switch r.URL.Path {
	case "/health":
	case "/v1/models":
		var list []map[string]any
		for _, m := range s.models {
			list = append(list, map[string]any{"id": m, "object": "model", "owned_by": "test"})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
	case "/v1/chat/completions":
		s.chat(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *chatServer) chat(w http.ResponseWriter, r *http.Request) {
	var req struct{ Model string }
	_ = json.NewDecoder(r.Body).Decode(&req)
	known := len(s.models) == 0
	for _, m := range s.models {
		known = known || m == req.Model
	}
	if !known {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":{"message":"The model %q does not exist","code":"model_not_found"}}`, req.Model)
		return
	}
	if s.fail != nil {
		if status, body := s.fail(s.chats.Add(1)); status != 0 {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":null}]}`+"\n\n")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n")
	fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}`+"\n\ndata: [DONE]\n\n")
}

// command runs the program in process.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, msg bytes.Buffer
	code = execute(t.Context(), args, &out, &msg)
	return code, out.String(), msg.String()
}

// TestTargets tries every way in which a target can be unusable: one clear error, the
// documented exit code, and no run directory, since nothing was measured.
func TestTargets(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>hello</title>")
	})
	closed := httptest.NewServer(page)
	closed.Close()
	for _, tt := range []struct {
		why     string
		handler http.Handler
		url     string
		tls     bool
		env     map[string]string
		args    []string
		code    int
		want    []string
	}{
		{why: "nobody listens", url: closed.URL, code: exitUnreachable, want: []string{closed.URL, "Try: "}},
		{why: "a web page, not a server", handler: page, code: exitUnreachable, want: []string{"Try: "}},
		{why: "the key is missing", handler: &chatServer{models: []string{"m"}, key: "right-key"}, code: exitUsage, want: []string{"OPENAI_API_KEY"}},
		{
			why: "the key is wrong", handler: &chatServer{models: []string{"m"}, key: "right-key"},
			env: map[string]string{"OPENAI_API_KEY": "wrong-key-4711"}, code: exitUsage, want: []string{"key"},
		},
		{why: "the model is wrong", handler: &chatServer{models: []string{"m"}}, args: []string{"--model", "nope"}, code: exitUsage, want: []string{"nope", "m"}},
		{why: "several models and no choice", handler: &chatServer{models: []string{"a", "b", "c"}}, code: exitUsage, want: []string{"a, b, c", "--model"}},
		{why: "names that would drive the terminal", handler: &chatServer{models: []string{"a\x1b[31mred", "b\x1b]0;title\x07"}}, code: exitUsage, want: []string{"--model", "red"}},
		{why: "no model listed and none named", handler: &chatServer{}, code: exitUsage, want: []string{"--model"}},
		{why: "a certificate that nobody vouches for", handler: &chatServer{models: []string{"m"}}, tls: true, code: exitUsage, want: []string{"certificate", "--ca-file"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			u := tt.url
			if tt.handler != nil {
				srv := httptest.NewUnstartedServer(tt.handler)
				if tt.tls {
					srv.StartTLS()
				} else {
					srv.Start()
				}
				t.Cleanup(srv.Close)
				u = srv.URL
			}
			t.Setenv("OPENAI_API_KEY", "")
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			out := filepath.Join(t.TempDir(), "runs")
			code, stdout, stderr := command(t, append([]string{"run", "--no-calibration", "--url", u, "--out", out, "--requests", "2"}, tt.args...)...)
			if code != tt.code {
				t.Errorf("exit code = %d; want %d", code, tt.code)
			}
			for _, w := range tt.want {
				if !strings.Contains(stderr, w) {
					t.Errorf("standard error lacks %q", w)
				}
			}
			if strings.ContainsAny(stdout+stderr, "\x1b\x07") {
				t.Error("control characters of the server reached the terminal")
			}
			if strings.Contains(stdout+stderr, "wrong-key-4711") {
				t.Error("the key was printed")
			}
			if dirs, _ := filepath.Glob(filepath.Join(out, "*")); len(dirs) > 0 {
				t.Errorf("run directories were made: %v", dirs)
			}
			if t.Failed() {
				t.Logf("stderr: %s", stderr)
			}
		})
	}
}

func TestReadOnlyOutput(t *testing.T) {
	if os.Geteuid() == 0 {
		// Nothing is read-only for root, but a file is no folder for anybody.
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := command(t, "run", "--out", filepath.Join(file, "runs"), "--requests", "1")
		if code != exitUsage || !strings.Contains(stderr, "--out") && !strings.Contains(stderr, "out:") {
			t.Errorf("run into a file = %d, %q; want %d and the field", code, stderr, exitUsage)
		}
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := command(t, "run", "--out", filepath.Join(dir, "runs"), "--requests", "1")
	if code != exitUsage || !strings.Contains(stderr, "out") {
		t.Errorf("run into a read-only folder = %d, %q; want %d", code, stderr, exitUsage)
	}
}

func start(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestAllRequestsFail: a run in which everything failed is never a success.
func TestAllRequestsFail(t *testing.T) {
	s := &chatServer{models: []string{"m"}, fail: func(n int64) (int, string) {
		if n == 1 { // the test request before the run
			return 0, ""
		}
		return 503, `{"error":{"message":"no capacity"}}`
	}}
	out := t.TempDir()
	code, stdout, stderr := command(t, "run", "--no-calibration", "--url", start(t, s), "--out", out, "--requests", "8", "--concurrency", "2", "--no-checkpoints", "--turns", "1")
	if code != exitUndecided {
		t.Errorf("exit code = %d; want %d\n%s\n%s", code, exitUndecided, stdout, stderr)
	}
	a, err := onlyRun(t, out).Analysis()
	if err != nil {
		t.Fatal(err)
	}
	if a.Counts.OK != 0 || a.Counts.Failures["http_503"] != 8 || a.Verdict.State != archive.VerdictInvalid {
		t.Errorf("counts %+v, verdict %+v; want 8 of http_503, none ok, and invalid", a.Counts, a.Verdict)
	}
}

// TestB30SomeRequestsFail: 503 answers are failures by kind, and gate the run where the
// user says how many are too many.
func TestB30SomeRequestsFail(t *testing.T) {
	s := &chatServer{models: []string{"m"}, fail: func(n int64) (int, string) {
		if n > 1 && n%2 == 0 {
			return 503, "busy"
		}
		return 0, ""
	}}
	out := t.TempDir()
	code, stdout, stderr := command(t, "run", "--no-calibration", "--url", start(t, s), "--out", out, "--requests", "4", "--concurrency", "1",
		"--no-checkpoints", "--turns", "1", "--max-error-rate", "0.1")
	if code == exitOK {
		t.Errorf("exit code = 0 with half of the requests failed\n%s\n%s", stdout, stderr)
	}
	a, err := onlyRun(t, out).Analysis()
	if err != nil {
		t.Fatal(err)
	}
	if a.Counts.OK != 2 || a.Counts.Failures["http_503"] != 2 {
		t.Errorf("counts = %+v; want 2 ok, 2 of http_503", a.Counts)
	}
}

// TestServerDiesMidRun: the run goes on to its end, counts the failures and says so.
func TestServerDiesMidRun(t *testing.T) {
	var srv *httptest.Server
	s := &chatServer{models: []string{"m"}}
	s.fail = func(n int64) (int, string) {
		if n == 6 {
			go srv.CloseClientConnections()
			_ = srv.Listener.Close()
		}
		return 0, ""
	}
	srv = httptest.NewServer(s)
	t.Cleanup(srv.Close)
	out := t.TempDir()
	code, stdout, stderr := command(t, "run", "--no-calibration", "--url", srv.URL, "--out", out, "--requests", "20", "--concurrency", "1",
		"--no-checkpoints", "--turns", "1")
	if code != exitUndecided {
		t.Errorf("exit code = %d; want %d\n%s\n%s", code, exitUndecided, stdout, stderr)
	}
	run := onlyRun(t, out)
	n := 0
	for r, err := range run.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == archive.KindLoad {
			n++
		}
	}
	if n != 20 {
		t.Errorf("%d records of load; want all 20", n)
	}
}

// TestKeyNeverReachesDisk greps everything that a run writes for the key and the header.
func TestKeyNeverReachesDisk(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret-0815")
	t.Setenv("TEAM_TOKEN", "team-secret-0815")
	out := t.TempDir()
	u := start(t, &chatServer{models: []string{"m"}, key: "sk-secret-0815"})
	code, stdout, stderr := command(t, "run", "--no-calibration", "--url", strings.Replace(u, "http://", "http://user:url-secret-0815@", 1), "--out", out,
		"--requests", "3", "--turns", "1", "--header", "X-Team: ${TEAM_TOKEN}")
	if code != exitOK && code != exitUndecided {
		t.Fatalf("exit code = %d\n%s", code, stderr)
	}
	if strings.Contains(stdout+stderr, "secret-0815") {
		t.Errorf("a secret was printed:\n%s\n%s", stdout, stderr)
	}
	for _, f := range []string{"manifest.json", "requests.jsonl", "events.jsonl", "series.jsonl", "analysis.json", "report.html"} {
		b, err := os.ReadFile(filepath.Join(onlyRun(t, out).Dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("secret-0815")) {
			t.Errorf("%s holds a secret", f)
		}
	}
}
