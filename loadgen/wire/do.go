package wire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Do sends the call, waits for the reply to end and fills rec: T (all but Intended),
// Chunks, Usage, Asked.MaxTokens, Conn, Finish, Text, Reasoning, ToolCalls, the hashes,
// Status, Error and Annotations, to which it adds. It leaves the other fields alone, never
// panics, and keeps no reference to call or rec after it returns. When ctx ends first, the
// request is cancelled with what it had.
//
// A request is sent twice in two cases only. Where the server refused the name of a body
// field and the client knows the other one, the first try is in rec.Attempts. Where the
// server had closed the idle connection that the request went out on, which shows by its
// end without any response within a second of the send, the record is that of the try that
// got through and has the annotation connection_replaced.
func (c *Client) Do(ctx context.Context, call *Call, rec *archive.Request) {
	done := make(chan struct{})
	c.begin(ctx, call, rec, c.loops == nil, func() { close(done) })
	<-done
}

// Start is Do without waiting: it calls done when rec is filled. With EngineEventLoop no
// goroutine is held while the reply comes, and done is called by the loop, so that it
// must not block; an idle connection is written to before Start returns. With
// EngineNetHTTP a goroutine waits. Call and rec must be left alone until done is called.
func (c *Client) Start(ctx context.Context, call *Call, rec *archive.Request, done func()) {
	if c.loops == nil {
		go c.begin(ctx, call, rec, true, done)
		return
	}
	c.begin(ctx, call, rec, false, done)
}

// begin renders and sends the call, and again where the server has shown that it wants
// another body.
func (c *Client) begin(ctx context.Context, call *Call, rec *archive.Request, wait bool, done func()) {
	defer func() {
		if p := recover(); p != nil {
			rec.Status, rec.Error = archive.StatusFailed, c.fail(archive.FailInternal, "panic: %v", p)
			c.close(rec)
			done()
		}
	}()
	if call.MaxTokens > 0 {
		rec.Asked.MaxTokens = archive.Some(call.MaxTokens)
	}
	s := c.shape()
	body, err := c.render(call, s)
	if err != nil {
		rec.Status, rec.Error = archive.StatusFailed, c.fail(archive.FailInternal, "%v", err)
		c.close(rec)
		done()
		return
	}
	sum := sha256.Sum256(body)
	rec.BodySHA256 = hex.EncodeToString(sum[:])
	ended := func() {
		note, again := c.adapt(rec.Error, s, call)
		if !again {
			done()
			return
		}
		rec.Attempts = append(rec.Attempts, rec.Error)
		rec.Annotations = append(rec.Annotations, note)
		c.clear(rec)
		if wait {
			c.begin(ctx, call, rec, wait, done)
		} else {
			go c.begin(ctx, call, rec, wait, done)
		}
	}
	if !wait {
		c.loops.start(ctx, call, body, rec, false, ended)
		return
	}
	for c.exchange(ctx, call, body, rec) {
		c.replace(rec)
	}
	ended()
}

// staleWithin is how soon after the send the end of a connection that had been idle means
// that the server had closed it already.
const staleWithin = time.Second

// stale reports whether a request was lost to an idle connection that the server had
// closed: the connection ended without a byte of a response, before or just after the send.
func (c *Client) stale(rec *archive.Request) bool {
	return rec.Error != nil && rec.Error.Kind == archive.FailCut && rec.Conn.Reused.Or(false) && !rec.T.Headers.Known() &&
		(!rec.T.Send.Known() || rec.T.Done.Sub(rec.T.Send) < staleWithin)
}

// replace readies a record for another connection.
func (c *Client) replace(rec *archive.Request) {
	c.clear(rec)
	if !slices.Contains(rec.Annotations, connectionReplaced) {
		rec.Annotations = append(rec.Annotations, connectionReplaced)
	}
}

// clear takes the traces of a try out of the record.
func (c *Client) clear(rec *archive.Request) {
	rec.T = archive.Times{Intended: rec.T.Intended}
	rec.Chunks, rec.Usage, rec.Conn = archive.Chunks{}, archive.Usage{}, archive.Conn{Wait: rec.Conn.Wait}
	rec.Finish, rec.Text, rec.Reasoning, rec.ToolCalls, rec.TextSHA256 = "", "", "", "", ""
	rec.Status, rec.Error = "", nil
}

// close gives a record the end that it lacks.
func (c *Client) close(rec *archive.Request) {
	if !rec.T.Done.Known() {
		rec.T.Done = c.cfg.Clock.Now()
	}
	if rec.Usage.Source == "" {
		rec.Usage.Source = archive.UsageNone
	}
}

// tryState is what the callbacks of one exchange share.
type tryState struct {
	mu              sync.Mutex
	conn            *stampConn
	times           *times
	failure         *archive.Failure // the limit that passed
	got             archive.Instant  // when there was a connection
	reused          bool
	conns           int // connections tried
	kernel, further bool
	dial, tls       time.Duration
}

// exchange makes one request and reads its reply to the end. It reports true when the
// request was lost to a stale connection and must go out again.
func (c *Client) exchange(parent context.Context, call *Call, body []byte, rec *archive.Request) (again bool) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	st := &tryState{}
	w := &watch{client: c}
	w.cancel = func(f *archive.Failure) {
		st.mu.Lock()
		st.failure = f
		st.mu.Unlock()
		cancel()
	}
	defer w.stop()
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		sc := under(info.Conn)
		st.mu.Lock()
		if c.shared != nil {
			st.further = sc != nil && sc.further
			sc = nil // its stamps are those of all requests on it
		}
		st.conn, st.reused, st.got = sc, info.Reused, c.cfg.Clock.Now()
		st.conns++
		first := st.conns == 1
		st.times = new(times)
		if sc != nil {
			st.kernel, st.dial, st.tls = sc.kernel != nil, sc.dial, sc.tls
			sc.begin(st.times)
		}
		st.mu.Unlock()
		if first {
			w.begin()
		}
	}}
	if c.shared != nil {
		trace.WroteHeaders = func() {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.times.sent, st.times.lag = c.cfg.Clock.Now(), -1
		}
	}
	req, err := c.request(httptrace.WithClientTrace(ctx, trace), call, body)
	if err != nil {
		rec.Status, rec.Error = archive.StatusFailed, c.fail(archive.FailInternal, "%v", err)
		c.close(rec)
		return false
	}
	r := newReply(c, rec, call.MaxTokens)
	resp, err := c.roundTripper().RoundTrip(req)
	var last arrival
	if err == nil {
		last, err = c.read(resp, st, w, r)
	}
	w.stop()
	var broke *archive.Failure
	if err != nil {
		broke = c.broke(parent, st, err)
	}
	rec.T.Done = c.cfg.Clock.Now()
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.conn != nil {
		seen := st.conn.look(st.times)
		st.times = &seen
	}
	c.connection(rec, st)
	c.conclude(r, broke, last)
	return c.stale(rec)
}

// conclude ends a record whose bytes came last at a. Without a response there is only
// what broke.
func (c *Client) conclude(r *reply, broke *archive.Failure, a arrival) {
	rec := r.rec
	if r.status == 0 {
		rec.Status, rec.Error = archive.StatusFailed, broke
		rec.Usage.Source = archive.UsageNone
	} else {
		if broke == nil && a.at.Known() {
			rec.T.Done = a.at
		}
		r.end(broke, a)
	}
	if rec.Error != nil && rec.Error.Kind == archive.FailEnded {
		rec.Status = archive.StatusCancelled
	}
}

func (c *Client) request(ctx context.Context, call *Call, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	if call.ID != "" {
		req.Header.Set("X-Request-Id", call.ID)
	}
	for name, value := range call.Header {
		req.Header.Set(name, value)
	}
	return req, nil
}

// readSize is the buffer for the body: a chunk has a few hundred bytes.
const readSize = 2 << 10

var readBuffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// read reads the body to its end, which lets the connection carry the next request. It
// returns when the last bytes came; the error is nil for a clean end.
func (c *Client) read(resp *http.Response, st *tryState, w *watch, r *reply) (arrival, error) {
	defer resp.Body.Close() //nolint:errcheck // nothing is written
	st.mu.Lock()
	sc, own := st.conn, st.times
	st.mu.Unlock()
	var reads uint64
	latest := func() arrival {
		if sc != nil {
			return sc.look(own).last
		}
		reads++
		now := c.cfg.Clock.Now()
		return arrival{at: now, user: now, read: reads}
	}
	last := latest()
	w.byteT.Store(int64(last.user))
	r.head(resp.StatusCode, resp.Header, resp.Proto, last)
	buf := readBuffers.Get().(*[readSize]byte)
	defer readBuffers.Put(buf)
	for {
		n, err := resp.Body.Read(buf[:])
		if n > 0 || err == io.EOF {
			last = latest()
		}
		if n > 0 {
			w.byteT.Store(int64(last.user))
			r.body(buf[:n], last)
			if r.rec.T.First.Known() {
				w.token.Store(true)
			}
			if r.over || r.failure != nil {
				w.finished(last.user)
			}
			if r.broken {
				return last, nil
			}
		}
		if err == io.EOF { //nolint:errorlint // the body's reader returns it bare
			return last, nil
		}
		if err != nil {
			return last, err
		}
	}
}

// broke says why an exchange did not come to its end.
func (c *Client) broke(parent context.Context, st *tryState, err error) *archive.Failure {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.failure != nil {
		return st.failure
	}
	if parent.Err() != nil {
		return c.fail(archive.FailEnded, "ended while open: %v", context.Cause(parent))
	}
	if st.conns == 0 {
		// No connection: not even a reused one was found.
		var dial *dialError
		if !errors.As(err, &dial) {
			return c.fail(archive.FailConnect, "%s%v", c.proxyWords(), err)
		}
	}
	return c.fail(brokenKind(err), "%v", err)
}

func (c *Client) proxyWords() string {
	if c.proxy == nil {
		return ""
	}
	return fmt.Sprintf("proxy %s: ", c.proxy.Redacted())
}

// connection fills what is known of the connection.
func (c *Client) connection(rec *archive.Request, st *tryState) {
	if st.conns == 0 {
		return
	}
	conn := &rec.Conn
	conn.Reused = archive.Some(st.reused)
	conn.Stamp = "user"
	if st.kernel {
		conn.Stamp = "kernel"
	}
	rec.T.Send = st.times.sent
	if st.times.lag >= 0 && st.kernel {
		conn.Lag = archive.Some(st.times.lag)
	}
	fresh := int64(0)
	if st.reused {
		c.reused.Add(1)
	} else if st.dial > 0 {
		conn.Dial = archive.Some(int64(st.dial))
		if st.tls > 0 {
			conn.TLS = archive.Some(int64(st.tls))
		}
		fresh = int64(st.dial + st.tls)
	}
	if rec.T.Intended.Known() && !conn.Wait.Known() {
		conn.Wait = archive.Some(max(0, int64(st.got-rec.T.Intended)-fresh))
	}
	if st.further {
		rec.Annotations = append(rec.Annotations, archive.Annotation{Code: "stream_limited", Message: "The server takes no more streams on the connections that were asked for: this request went over a further one."})
	}
	if st.conns > 1 && !slices.Contains(rec.Annotations, connectionReplaced) {
		rec.Annotations = append(rec.Annotations, connectionReplaced)
	}
}

var connectionReplaced = archive.Annotation{Code: "connection_replaced", Message: "The server had closed the idle connection that the request was given: it went out on another one."}
