package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

// site is a folder with a finished run of each kind, served.
func site(t *testing.T, cfg Config) (*httptest.Server, string) {
	t.Helper()
	root := t.TempDir()
	for _, k := range []reporttest.Kind{reporttest.Saturated, reporttest.Healthy, reporttest.Hostile} {
		reporttest.BuildIn(t, filepath.Join(root, string(k)), k)
	}
	cfg.Root = root
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return srv, root
}

func get(t *testing.T, url string, edit func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(req)
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

func TestPages(t *testing.T) {
	srv, _ := site(t, Config{})
	for _, c := range []struct {
		why, path string
		code      int
		want      string
	}{
		{"the list names the runs", "/", 200, "KV cache capacity limits this server"},
		{"the list can be searched", "/?q=healthy", 200, "Nothing limits the server"},
		{"a search without result says so", "/?q=nothing-like-it", 200, "No run matches"},
		{"a run shows its report", "/runs/saturated", 200, "Bottleneck found"},
		{"the report leads back and offers downloads", "/runs/saturated", 200, `href="/runs/saturated/export/junit"`},
		{"two runs are compared", "/compare?run=saturated&run=healthy", 200, "What changed in the set-up"},
		{"one run is not a comparison", "/compare?run=saturated", 400, "two to six runs"},
		{"an unknown run is not found", "/runs/nope", 404, "no run of that name"},
		{"a path cannot leave the folder", "/runs/..%2F..%2Fetc", 404, "no run of that name"},
		{"a file is sent", "/runs/saturated/files/analysis.json", 200, `"definitions"`},
		{"only a run's own files are sent", "/runs/saturated/files/passwd", 404, "no file of that name"},
		{"an export is sent", "/runs/saturated/export/markdown", 200, "## KV cache capacity"},
		{"an unknown export names the formats", "/runs/saturated/export/pdf", 404, "junit"},
		{"the live page of a finished run works", "/runs/saturated/live", 200, "/runs/saturated/stream"},
	} {
		code, body, h := get(t, srv.URL+c.path, nil)
		if code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s: GET %s = %d without %q", c.why, c.path, code, c.want)
		}
		if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s has not the safe headers", c.path)
		}
	}
}

func TestHostileRunStaysText(t *testing.T) {
	srv, _ := site(t, Config{})
	for _, path := range []string{"/", "/runs/hostile", "/runs/hostile/live", "/compare?run=hostile&run=saturated"} {
		_, body, _ := get(t, srv.URL+path, nil)
		for _, bad := range []string{"<img", "<script>alert", "\x1b", "\u202e"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
	}
	_, _, h := get(t, srv.URL+"/runs/hostile/files/requests.jsonl", nil)
	if h.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") {
		t.Errorf("raw records are sent as %q, %q", h.Get("Content-Type"), h.Get("Content-Disposition"))
	}
}

func TestAccess(t *testing.T) {
	open, _ := site(t, Config{})
	closed, _ := site(t, Config{Token: "s3cret"})
	bearer := func(tok string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+tok) }
	}
	for _, c := range []struct {
		why, url string
		edit     func(*http.Request)
		code     int
	}{
		{"a forged host is refused", open.URL + "/", func(r *http.Request) { r.Host = "evil.example:80" }, 403},
		{"localhost is answered", open.URL + "/", func(r *http.Request) { r.Host = "localhost:99" }, 200},
		{"IPv6 loopback is answered", open.URL + "/", func(r *http.Request) { r.Host = "[::1]:99" }, 200},
		{"writing is refused", open.URL + "/", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{"without the token nothing is shown", closed.URL + "/", nil, 401},
		{"a wrong token is refused", closed.URL + "/", bearer("wrong"), 401},
		{"the right token is taken, by any host name", closed.URL + "/", func(r *http.Request) { bearer("s3cret")(r); r.Host = "bench.example" }, 200},
		{"a right query token moves into a cookie", closed.URL + "/runs/saturated?token=s3cret", nil, 303},
	} {
		if code, _, _ := get(t, c.url, c.edit); code != c.code {
			t.Errorf("%s: %d; want %d", c.why, code, c.code)
		}
	}
	_, _, h := get(t, closed.URL+"//evil.example/?token=s3cret", nil)
	if l := h.Get("Location"); strings.HasPrefix(l, "//") || strings.Contains(l, "s3cret") {
		t.Errorf("redirect to %q leaves the server or keeps the token", l)
	}
}

func TestListenNeedsATokenForOthers(t *testing.T) {
	if _, err := Listen(t.Context(), "0.0.0.0:0", ""); !errors.Is(err, ErrNeedsToken) {
		t.Errorf("Listen on every address without a token: %v", err)
	}
	l, err := Listen(t.Context(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	code, body, _ := get(t, "http://"+l.Addr().String()+"/", nil)
	if code != 200 || !strings.Contains(body, "No runs yet") {
		t.Errorf("an empty folder: %d", code)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve after its context ended: %v", err)
	}
}

func TestLinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	srv, root := site(t, Config{})
	outside := filepath.Join(t.TempDir(), "secret")
	reporttest.BuildIn(t, outside, reporttest.Healthy)
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	if code, _, _ := get(t, srv.URL+"/runs/link", nil); code != 404 {
		t.Errorf("a link out of the folder: %d; want 404", code)
	}
}

// A run that another part is writing is followed to its end.
func TestStreamFollowsARun(t *testing.T) {
	root := t.TempDir()
	m := archive.Manifest{Schema: archive.SchemaVersion, ID: "going", Name: "going", State: archive.StateRunning, Started: 1e9}
	w, err := archive.Create(filepath.Join(root, "going"), m)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Root: root, Interval: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	if code, _, h := get(t, srv.URL+"/runs/going", nil); code != 303 || h.Get("Location") != "/runs/going/live" {
		t.Errorf("a run that is going: %d to %q; want the live view", code, h.Get("Location"))
	}
	res, err := http.Get(srv.URL + "/runs/going/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	send := func(id string, at archive.Instant) {
		w.Request(&archive.Request{ID: id, Kind: archive.KindLoad, Status: archive.StatusOK, T: archive.Times{Intended: at, Send: at + 1, First: at + 5e6, Last: at + 9e6, Done: at + 9e6}, Usage: archive.Usage{Completion: archive.Some(7), Source: archive.UsageServer}})
	}
	send("a", 2e9)
	sent, ended, ok, tokens, points := false, false, 0, 0, 0
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if lines.Text() == "event: end" {
			ended = true
			break
		}
		if !is {
			continue
		}
		var u update
		if err := json.Unmarshal([]byte(data), &u); err != nil {
			t.Fatalf("%v in %q", err, data)
		}
		ok, tokens, points = u.OK, u.Tokens, points+len(u.Requests)
		if u.OK == 1 && !sent {
			sent = true
			send("b", 3e9)
			m.State, m.Ended = archive.StateComplete, 4e9
			if err := w.Close(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !ended || ok != 2 || tokens != 14 || points != 2 {
		t.Errorf("the stream ended: %v, with %d ok, %d tokens, %d points; want true, 2, 14, 2", ended, ok, tokens, points)
	}
}

func TestTailWaitsForWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	tl := tail{path: path}
	var got []string
	read := func() {
		if err := tl.lines(func(b []byte) { got = append(got, string(b)) }); err != nil {
			t.Fatal(err)
		}
	}
	add := func(s string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(s); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read()
	add("one\ntw")
	read()
	add("o\n" + strings.Repeat("x", tailLine+10) + "\nthree\n")
	read()
	if strings.Join(got, ",") != "one,two,three" {
		t.Errorf("lines = %d, the last %q; want one, two, three", len(got), got[len(got)-1])
	}
}

func TestListMarksRunsThatAreNotValid(t *testing.T) {
	srv, root := site(t, Config{})
	if _, out, _ := get(t, srv.URL+"/", nil); strings.Contains(out, ">not valid<") {
		t.Error("a valid run is marked as not valid")
	}
	reporttest.BuildIn(t, filepath.Join(root, "refused"), reporttest.AllFailed)
	if _, out, _ := get(t, srv.URL+"/", nil); !strings.Contains(out, `<span class="tag bad">not valid</span>`) {
		t.Error("a run that is not valid has no mark in the list")
	}
}
