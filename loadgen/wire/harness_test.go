package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// The frames of the cases, in shorthand.
func frame(delta, finish string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}` + "\n\n"
}

func text(s string) string { return frame(fmt.Sprintf(`{"content":%q}`, s), "null") }

func finish(reason string) string { return frame(`{}`, `"`+reason+`"`) }

func usage(p, c int) string {
	return fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", p, c, p+c)
}

const (
	role = `data: {"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	done = "data: [DONE]\n\n"
	cut  = "\x00cut"
)

// step is bytes that the server writes so many milliseconds after it has the request.
type step struct {
	at    int
	bytes string
}

// script is a server that answers every request with the same steps.
type script []step

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	start := time.Now()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, st := range s {
		select {
		case <-time.After(time.Until(start.Add(time.Duration(st.at) * time.Millisecond))):
		case <-r.Context().Done():
			return
		}
		if st.bytes == cut {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, st.bytes)
		_ = http.NewResponseController(w).Flush()
	}
}

// pipes is a listener whose connections are pipes in memory.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
	mu    sync.Mutex
	count int
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case p.conns <- b:
		p.mu.Lock()
		p.count++
		p.mu.Unlock()
		return a, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// virtual runs f in virtual time with a client of the handler.
func virtual(t *testing.T, h http.Handler, set func(*Config), f func(t *testing.T, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ln := newPipes()
		srv := &http.Server{Handler: h}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = srv.Serve(ln)
		}()
		cfg := Config{BaseURL: "http://server:8000", Model: "m", Clock: archive.NewRunClock()}
		if set != nil {
			set(&cfg)
		}
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c.dialer = ln.dial
		f(t, c)
		c.Close()
		_ = srv.Close()
		<-served
	})
}

// ask makes one call with a message.
func ask(t *testing.T, c *Client) *archive.Request {
	t.Helper()
	rec := &archive.Request{}
	c.Do(t.Context(), &Call{ID: "r1", Messages: []tasks.Message{{Role: "user", Content: "hello"}}, MaxTokens: 512}, rec)
	checkTimes(t, rec)
	return rec
}

// checkTimes fails when a record's instants are out of order.
func checkTimes(t *testing.T, rec *archive.Request) {
	t.Helper()
	last := archive.Instant(0)
	for i, at := range append([]archive.Instant{rec.T.Send, rec.T.Headers}, append(rec.Chunks.T, rec.T.Done)...) {
		if !at.Known() {
			continue
		}
		if at < last {
			t.Errorf("instant %d of %+v %v lies before the one ahead of it", i, rec.T, rec.Chunks.T)
		}
		last = at
	}
	if rec.Status == archive.StatusOK && rec.Error != nil || rec.Status != archive.StatusOK && rec.Error == nil {
		t.Errorf("status %q with error %v", rec.Status, rec.Error)
	}
	if rec.Chunks.Tokens != nil && len(rec.Chunks.Tokens) != len(rec.Chunks.T) {
		t.Errorf("%d token counts for %d chunks", len(rec.Chunks.Tokens), len(rec.Chunks.T))
	}
}

// ms is a time since the send, in milliseconds; -1 when unknown.
func ms(rec *archive.Request, at archive.Instant) float64 {
	if !at.Known() || !rec.T.Send.Known() {
		return -1
	}
	return float64(at.Sub(rec.T.Send)) / 1e6
}

// want is what a case expects of a record; -1 means unknown.
type want struct {
	status             archive.Status
	fail               string
	text               string
	ttft, ttfa, e2e    float64
	done               float64
	prompt, completion int
	chunks             int
	finish             string
	note               string
}

// answered is the want of a plain success.
func answered(text string, ttft, e2e float64, prompt, completion, chunks int, finish string) want {
	return want{status: archive.StatusOK, text: text, ttft: ttft, ttfa: ttft, e2e: e2e, done: -2, prompt: prompt, completion: completion, chunks: chunks, finish: finish}
}

func (w want) check(t *testing.T, rec *archive.Request) {
	t.Helper()
	kind := ""
	if rec.Error != nil {
		kind = rec.Error.Kind
	}
	if rec.Status != w.status || kind != w.fail {
		t.Errorf("outcome %s %s (%+v); want %s %s", rec.Status, kind, rec.Error, w.status, w.fail)
	}
	if rec.Text != w.text || rec.Finish != w.finish {
		t.Errorf("text %q finish %q; want %q %q", rec.Text, rec.Finish, w.text, w.finish)
	}
	for name, v := range map[string][2]float64{"TTFT": {ms(rec, rec.T.First), w.ttft}, "TTFA": {ms(rec, rec.T.Answer), w.ttfa}, "E2E": {ms(rec, rec.T.Last), w.e2e}, "done": {ms(rec, rec.T.Done), w.done}} {
		if v[1] != -2 && v[0] != v[1] {
			t.Errorf("%s = %v ms; want %v", name, v[0], v[1])
		}
	}
	if p, c := rec.Usage.Prompt.Or(-1), rec.Usage.Completion.Or(-1); p != w.prompt || c != w.completion {
		t.Errorf("usage %d, %d (%s); want %d, %d", p, c, rec.Usage.Source, w.prompt, w.completion)
	}
	if len(rec.Chunks.T) != w.chunks {
		t.Errorf("%d chunks; want %d", len(rec.Chunks.T), w.chunks)
	}
	if w.note != "" && !noted(rec, w.note) {
		t.Errorf("annotations %v lack %s", rec.Annotations, w.note)
	}
}

func noted(rec *archive.Request, code string) bool {
	for _, a := range rec.Annotations {
		if a.Code == code {
			return true
		}
	}
	return false
}
