package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferencebench/inferencebench/archive"
)

// engines are the transports of this system.
func engines(t *testing.T) map[string]func(*Config) {
	out := map[string]func(*Config){"net/http": func(*Config) {}}
	if stampHere() == "kernel" {
		out["event loop"] = func(c *Config) { c.Engine = EngineEventLoop }
		out["two loops that drain lazily"] = func(c *Config) { c.Engine, c.Loops, c.Drain = EngineEventLoop, 2, time.Millisecond }
	} else {
		t.Log("this system has no event loop")
	}
	return out
}

// raw is a server that reads one request for each connection and writes given bytes, in
// given pieces, each in a segment of its own as far as the kernel lets it.
type raw struct {
	pieces []string
	reset  bool // end by a reset
	keep   bool // serve further requests on the connection
}

func (r raw) serve(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { r.answer(conn) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		wg.Wait()
	})
	return "http://" + ln.Addr().String()
}

func (r raw) answer(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		for _, p := range r.pieces {
			if _, err := io.WriteString(conn, p); err != nil {
				return
			}
		}
		if r.reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
			return
		}
		if !r.keep {
			return
		}
	}
}

// gist is what both engines must agree on.
func gist(rec *archive.Request) *archive.Request {
	g := *rec
	g.T, g.Conn, g.Chunks.T, g.Chunks.Coalesced = archive.Times{}, archive.Conn{Protocol: rec.Conn.Protocol}, make([]archive.Instant, len(rec.Chunks.T)), 0
	for _, p := range []struct{ from, to *archive.Instant }{{&rec.T.Send, &g.T.Send}, {&rec.T.Headers, &g.T.Headers}, {&rec.T.First, &g.T.First}, {&rec.T.Answer, &g.T.Answer}, {&rec.T.Last, &g.T.Last}, {&rec.T.Done, &g.T.Done}} {
		if p.from.Known() {
			*p.to = 1
		}
	}
	if g.Error != nil && g.Error.Kind == archive.FailCut {
		e := *g.Error
		e.Message = "" // the words of a broken connection are the engine's own
		g.Error = &e
	}
	g.Annotations = nil
	for _, a := range rec.Annotations {
		g.Annotations = append(g.Annotations, archive.Annotation{Code: a.Code})
	}
	return &g
}

// agree asks through every engine and fails on any difference. It returns the record.
func agree(t *testing.T, url string, set func(*Config)) *archive.Request {
	t.Helper()
	var first *archive.Request
	for name, engine := range engines(t) {
		c := client(t, url, func(cfg *Config) {
			if set != nil {
				set(cfg)
			}
			engine(cfg)
		})
		rec := ask(t, c)
		c.Close()
		if first == nil {
			first = rec
			continue
		}
		if diff := cmp.Diff(gist(first), gist(rec), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s differs:\n%s", name, diff)
		}
	}
	return first
}

func chunked(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestEnginesAgreeOnHTTP(t *testing.T) {
	body := text("a") + text("b") + finish("stop") + usage(3, 2) + done
	tests := []struct {
		name   string
		server raw
		status archive.Status
		kind   string
	}{
		{"chunked", raw{pieces: []string{okHead, chunked(body), "0\r\n\r\n"}}, archive.StatusOK, ""},
		{"chunked, in one piece", raw{pieces: []string{okHead + chunked(body) + "0\r\n\r\n"}}, archive.StatusOK, ""},
		{"chunked with extensions and trailers", raw{pieces: []string{okHead, fmt.Sprintf("%X;a=b \r\n%s\r\n", len(body), body), "0\r\nX-Cost: 1\r\n\r\n"}}, archive.StatusOK, ""},
		{"chunked without the last chunk", raw{pieces: []string{okHead, chunked(text("a"))}}, archive.StatusFailed, archive.FailCut},
		{"chunked and reset", raw{pieces: []string{okHead, chunked(text("a"))}, reset: true}, archive.StatusFailed, archive.FailCut},
		{"a size that is none", raw{pieces: []string{okHead, "zz\r\n"}}, archive.StatusFailed, archive.FailCut},
		{"a chunk longer than it says", raw{pieces: []string{okHead, "1\r\nabc\r\n0\r\n\r\n"}}, archive.StatusFailed, archive.FailCut},
		{"a length", raw{pieces: []string{fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n", len(body)), body[:10], body[10:]}}, archive.StatusOK, ""},
		{"a length that is not reached", raw{pieces: []string{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n", text("a")}}, archive.StatusFailed, archive.FailCut},
		{"a body that ends with the connection", raw{pieces: []string{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n", body}}, archive.StatusOK, ""},
		{"the same in HTTP/1.0", raw{pieces: []string{"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", body}}, archive.StatusOK, ""},
		{"an interim response first", raw{pieces: []string{"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", okHead, chunked(body), "0\r\n\r\n"}}, archive.StatusOK, ""},
		{"line ends of LF alone", raw{pieces: []string{strings.ReplaceAll(okHead, "\r\n", "\n"), chunked(body), "0\r\n\r\n"}}, archive.StatusOK, ""},
		{"a size line that ends in LF alone", raw{pieces: []string{okHead, fmt.Sprintf("%x\n%s\r\n", len(body), body), "0\r\n\r\n"}}, archive.StatusFailed, archive.FailCut},
		{"no content", raw{pieces: []string{"HTTP/1.1 204 No Content\r\n\r\n"}}, archive.StatusFailed, archive.FailTruncated},
		{"a length of nothing", raw{pieces: []string{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}}, archive.StatusFailed, archive.FailTruncated},
		{"refused with a body", raw{pieces: []string{"HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 27\r\n\r\n", `{"error":{"message":"full"}}`[:27]}}, archive.StatusFailed, "http_503"},
		{"an HTML page", raw{pieces: []string{"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"}}, archive.StatusFailed, archive.FailNotSSE},
		{"not HTTP at all", raw{pieces: []string{"SSH-2.0-OpenSSH\r\n"}}, archive.StatusFailed, archive.FailCut},
		{"a head that is cut", raw{pieces: []string{"HTTP/1.1 200 OK\r\nConte"}}, archive.StatusFailed, archive.FailCut},
		{"nothing", raw{}, archive.StatusFailed, archive.FailCut},
		{"a reset for nothing", raw{reset: true}, archive.StatusFailed, archive.FailCut},
		{"bytes behind the end", raw{pieces: []string{okHead + chunked(body) + "0\r\n\r\nHTTP/1.1 200 OK\r\n"}}, archive.StatusOK, ""},
		{"a whole completion", raw{pieces: []string{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n", `{"choices":[{"message":{"content":"x"},"finish_reason":"s"}]}`[:60], ""}}, archive.StatusFailed, archive.FailMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := agree(t, tt.server.serve(t), nil)
			kind := ""
			if rec.Error != nil {
				kind = rec.Error.Kind
			}
			if rec.Status != tt.status || kind != tt.kind {
				t.Errorf("outcome %s %+v; want %s %s", rec.Status, rec.Error, tt.status, tt.kind)
			}
		})
	}
}

// Random replies, cut at random places, ended in random ways, must give equal records.
func TestEnginesAgreeOnRandomReplies(t *testing.T) {
	frames := []string{role, text("a"), text("中🦀"), text("a  b"), frame(`{"reasoning":"r"}`, "null"), frame(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}`, "null"),
		": ping\n\n", "retry: 1\r\n\r\n", finish("stop"), usage(3, 4), done, `data: {"error":{"message":"gone"}}` + "\n\n", "data: {oops\n\n", "event: x\ndata: {}\n\n"}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		var body strings.Builder
		for range rng.IntN(8) {
			body.WriteString(frames[rng.IntN(len(frames))])
		}
		whole := okHead
		for b := body.String(); b != ""; {
			n := 1 + rng.IntN(len(b))
			whole += chunked(b[:n])
			b = b[n:]
		}
		switch rng.IntN(4) {
		case 0: // cut: without the last chunk
		default:
			whole += "0\r\n\r\n"
		}
		s := raw{}
		for b := whole; b != ""; {
			n := 1 + rng.IntN(min(len(b), 200))
			s.pieces = append(s.pieces, b[:n])
			b = b[n:]
		}
		agree(t, s.serve(t), nil)
		if t.Failed() {
			t.Fatalf("round %d: %q", i, whole)
		}
	}
}

func TestEnginesReuseAndCap(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			s := serve(t, meeting(100), (*httptest.Server).Start)
			c := client(t, s.URL, engine)
			wave(t, c, 100)
			wave(t, c, 100)
			if got := s.opened.Load(); got != 100 || s.most.Load() != 100 {
				t.Errorf("%d connections, %d at once; want 100", got, s.most.Load())
			}
			capped := client(t, s.URL, func(cfg *Config) { engine(cfg); cfg.MaxConns = 3 })
			wave(t, capped, 50)
			if got := capped.Stats().Opened; got > 3 {
				t.Errorf("%d connections under a cap of 3", got)
			}
			once := client(t, s.URL, func(cfg *Config) { engine(cfg); cfg.NoKeepAlive = true })
			wave(t, once, 5)
			wave(t, once, 5)
			if st := once.Stats(); st.Opened != 10 || st.Reused != 0 {
				t.Errorf("without keep-alive: %+v; want 10 connections", st)
			}
		})
	}
}

func TestEnginesCancelAndLimit(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			s := serve(t, script{{1, text("part")}, {60_000, done}}, (*httptest.Server).Start)
			c := client(t, s.URL, func(cfg *Config) { engine(cfg); cfg.Timeouts.Idle = 50 * time.Millisecond })
			if rec := ask(t, c); rec.Error == nil || rec.Error.Kind != archive.FailTimeoutIdle || rec.Text != "part" {
				t.Errorf("idle: %+v, text %q; want timeout_idle and the partial text", rec.Error, rec.Text)
			}
			c = client(t, s.URL, engine)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("over")) })
			rec := &archive.Request{}
			c.Do(ctx, &Call{Prompt: "x"}, rec)
			if rec.Status != archive.StatusCancelled || rec.Error.Kind != archive.FailEnded || rec.Text != "part" {
				t.Errorf("cancelled: %s %+v, text %q", rec.Status, rec.Error, rec.Text)
			}
			c.Do(ctx, &Call{Prompt: "x"}, rec)
			if rec.Status != archive.StatusCancelled {
				t.Errorf("with a context that is over: %s %+v", rec.Status, rec.Error)
			}
		})
	}
}

// A server that closes its idle connections costs no request.
func TestEnginesMeetClosedIdleConnections(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			s := serve(t, script{{0, text("a") + done}}, (*httptest.Server).Start)
			c := client(t, s.URL, engine)
			for range 5 {
				if rec := ask(t, c); rec.Status != archive.StatusOK {
					t.Fatalf("%+v", rec.Error)
				}
				s.CloseClientConnections()
				for s.open.Load() > 0 {
					<-time.After(time.Millisecond)
				}
				<-time.After(20 * time.Millisecond) // for the end of the connection to get here
			}
		})
	}
}

// A server that closes each connection as the next request goes out on it, without a
// response, costs no request either, and each is answered once.
func TestEnginesMeetStaleConnections(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			// Each connection answers one request and then promises more, but is closed.
			url := raw{pieces: []string{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 14\r\n\r\ndata: [DONE]\n\n"}}.serve(t)
			c := client(t, url, engine)
			for range 50 {
				rec := &archive.Request{}
				c.Do(t.Context(), &Call{Prompt: "x"}, rec)
				if rec.Error == nil || rec.Error.Kind != archive.FailNoTokens || len(rec.Attempts) != 0 {
					t.Fatalf("%+v, attempts %v; want the answer, which has no tokens", rec.Error, rec.Attempts)
				}
			}
		})
	}
}

// A body larger than the socket takes at once goes out whole.
func TestEnginesSendLargeBodies(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			var got atomic.Int64
			s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n, _ := io.Copy(io.Discard, r.Body)
				got.Store(n)
				stream(w, text("a"), done)
			}), (*httptest.Server).Start)
			rec := &archive.Request{}
			client(t, s.URL, engine).Do(t.Context(), &Call{Prompt: strings.Repeat("word ", 4_000_000)}, rec)
			if rec.Status != archive.StatusOK || got.Load() < 20_000_000 {
				t.Errorf("%+v, %d bytes arrived", rec.Error, got.Load())
			}
		})
	}
}

// Both engines send the same headers.
func TestEnginesSendTheSameHeaders(t *testing.T) {
	for _, call := range []*Call{{Prompt: "x"}, {Prompt: "x", ID: "r-1"}, {Prompt: "x", ID: "two words"}, {Prompt: "x", ID: "r-2", Header: map[string]string{"traceparent": "00-1-2-01", "accept": "*/*"}}} {
		var seen []http.Header
		for _, engine := range engines(t) {
			s := &reflector{answer: func(w http.ResponseWriter, _ map[string]any) { stream(w, text("a"), done) }}
			srv := serve(t, s, (*httptest.Server).Start)
			c := client(t, srv.URL, func(cfg *Config) { engine(cfg); cfg.Key, cfg.Header = "sk", http.Header{"X-Team": {"a", "b"}} })
			for range 2 {
				rec := &archive.Request{}
				c.Do(t.Context(), call, rec)
				if rec.Status != archive.StatusOK {
					t.Fatalf("%+v", rec.Error)
				}
			}
			s.mu.Lock()
			seen = append(seen, s.headers...)
			s.mu.Unlock()
		}
		for _, h := range seen[1:] {
			if diff := cmp.Diff(seen[0], h); diff != "" {
				t.Errorf("call %+v:\n%s", call, diff)
			}
		}
	}
}

func TestEventLoopRefusesWhatItCannotDo(t *testing.T) {
	for _, cfg := range []Config{
		{BaseURL: "https://h", Engine: EngineEventLoop}, {BaseURL: "http://h", Proxy: "http://p", Engine: EngineEventLoop}, {BaseURL: "http://h", Engine: "magic"},
	} {
		cfg.Model, cfg.Clock = "m", archive.NewRunClock()
		if c, err := New(cfg); err == nil {
			c.Close()
			t.Errorf("New(%+v) = nil error; want one", cfg)
		}
	}
}

// FuzzResponse holds the response reader against net/http's own, for any bytes in any
// pieces.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(okHead+chunked("abc")+"0\r\n\r\n"), uint16(7))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcX"), uint16(40))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 No\r\n\r\nabc"), uint16(3))
	f.Fuzz(func(t *testing.T, in []byte, at uint16) {
		if len(in) > 1<<14 {
			t.Skip("longer than a response need be")
		}
		read := func(pieces ...[]byte) (int, string, bool) {
			var r response
			got := &parts{}
			for _, p := range pieces {
				if _, err := r.feed(p, got); err != nil {
					return got.status, got.text.String(), false
				}
			}
			return got.status, got.text.String(), r.end() == nil
		}
		i := int(at) % (len(in) + 1)
		s1, b1, ok1 := read(in)
		s2, b2, ok2 := read(in[:i], in[i:])
		if s1 != s2 || b1 != b2 || ok1 != ok2 {
			t.Fatalf("whole: %d %q %v; cut at %d: %d %q %v", s1, b1, ok1, i, s2, b2, ok2)
		}
		br := bufio.NewReader(strings.NewReader(string(in)))
		resp, err := http.ReadResponse(br, &http.Request{Method: http.MethodPost})
		for err == nil && resp.StatusCode >= 100 && resp.StatusCode < 200 && resp.StatusCode != 101 {
			resp, err = http.ReadResponse(br, &http.Request{Method: http.MethodPost})
		}
		if err != nil || resp.StatusCode == 101 {
			if ok1 {
				t.Fatalf("%q is a response here, but net/http says %v", in, err)
			}
			return
		}
		body, err := io.ReadAll(resp.Body)
		if ok1 != (err == nil) && len(resp.Trailer) == 0 || ok1 && (s1 != resp.StatusCode || b1 != string(body)) {
			t.Fatalf("%d %q %v; net/http says %d %q %v", s1, b1, ok1, resp.StatusCode, body, err)
		}
	})
}

type parts struct {
	status int
	text   strings.Builder
}

func (p *parts) head(status int, _ http.Header, _ string) { p.status = status }
func (p *parts) body(b []byte)                            { p.text.Write(b) }
