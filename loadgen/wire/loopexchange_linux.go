//go:build linux && !386 && !s390x

package wire

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/inferencebench/inferencebench/archive"
)

// loopExchange is one request on a connection of an event loop, and its reply. From the
// send on the loop owns it, until one side claims it to end it.
type loopExchange struct {
	conn    *loopConn
	reply   *reply
	watch   watch
	resp    response
	times   times
	got     archive.Instant // when there was a connection
	reused  bool
	claimed atomic.Bool // somebody is ending it, or has
	done    func()
	again   func() // sends the request once more, on a new connection

	mu    sync.Mutex
	ended bool
	stop  func() bool // ends the watch on the caller's context
}

// claim makes the caller the one that ends the exchange, or reports false.
func (x *loopExchange) claim() bool { return x.claimed.CompareAndSwap(false, true) }

// head hands the head of the response to the reply, with the stamp of the read under way.
func (x *loopExchange) head(status int, h http.Header, protocol string) {
	x.again = nil // and with it the request's body
	x.reply.head(status, h, protocol, x.times.last)
}

// body hands on bytes of the response's body.
func (x *loopExchange) body(p []byte) {
	x.reply.body(p, x.times.last)
	if x.reply.rec.T.First.Known() {
		x.watch.token.Store(true)
	}
	if x.reply.over || x.reply.failure != nil {
		x.watch.finished(x.times.last.user)
	}
}

// follow has the exchange end with the caller's context.
func (x *loopExchange) follow(ctx context.Context, c *Client) {
	if ctx.Done() == nil {
		return
	}
	stop := context.AfterFunc(ctx, func() {
		x.conn.loop.end(x, c.fail(archive.FailEnded, "ended while open: %v", context.Cause(ctx)))
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		stop()
		return
	}
	x.stop = stop
}

// finish fills the record and tells the owner. The caller has claimed the exchange.
func (x *loopExchange) finish(c *Client, broke *archive.Failure) {
	x.watch.stop()
	x.mu.Lock()
	x.ended = true
	stop := x.stop
	x.mu.Unlock()
	if stop != nil {
		stop()
	}
	x.settle(c, broke)
	if x.again != nil && c.stale(x.reply.rec) {
		x.again()
		return
	}
	x.done()
}

func (x *loopExchange) settle(c *Client, broke *archive.Failure) {
	rec := x.reply.rec
	defer func() {
		if p := recover(); p != nil {
			rec.Status, rec.Error = archive.StatusFailed, c.fail(archive.FailInternal, "panic: %v", p)
		}
	}()
	rec.T.Done = c.cfg.Clock.Now()
	c.connection(rec, &tryState{
		times: &x.times, got: x.got, reused: x.reused, conns: 1,
		kernel: x.conn.kernel, dial: x.conn.dial,
	})
	c.conclude(x.reply, broke, x.times.last)
}

// start makes one request, waiting for a connection if need be; fresh asks for a new one
// where there is room. The reply is read by a
// loop, which calls done at its end; done must not block.
func (e *loopEngine) start(ctx context.Context, call *Call, body []byte, rec *archive.Request, fresh bool, done func()) {
	c := e.client
	fail := func(f *archive.Failure) {
		rec.Status, rec.Error = archive.StatusFailed, f
		if f.Kind == archive.FailEnded {
			rec.Status = archive.StatusCancelled
		}
		c.close(rec)
		done()
	}
	request, err := e.request(call, body)
	if err != nil {
		fail(c.fail(archive.FailInternal, "%v", err))
		return
	}
	for ; ; fresh = true {
		conn, reused, err := e.acquire(ctx, fresh)
		if err != nil && ctx.Err() != nil {
			fail(c.fail(archive.FailEnded, "ended while open: %v", context.Cause(ctx)))
			return
		}
		if err != nil {
			fail(c.fail(brokenKind(err), "%v", err))
			return
		}
		x := &loopExchange{conn: conn, reply: newReply(c, rec, call.MaxTokens), reused: reused, got: c.cfg.Clock.Now(), done: done}
		x.again = func() {
			c.replace(rec)
			go e.start(ctx, call, body, rec, true, done)
		}
		x.watch.client = c
		x.watch.cancel = func(f *archive.Failure) { conn.loop.end(x, f) }
		x.watch.begin()
		x.times = times{lag: -1, sent: c.cfg.Clock.Now()}
		conn.cur.Store(x)
		err = conn.write(request)
		if err == nil {
			x.follow(ctx, c)
			return
		}
		if !x.claim() {
			return // the loop met the end of the connection first, and has told the caller
		}
		x.watch.stop()
		conn.loop.discard(conn)
		if !reused {
			fail(c.fail(archive.FailCut, "%v", err))
			return
		}
		c.replace(rec)
	}
}

// request returns the bytes of the request. What all requests share is written once.
func (e *loopEngine) request(call *Call, body []byte) ([]byte, error) {
	if len(call.Header) > 0 || !plainValue(call.ID) {
		return e.requestWith(call, body)
	}
	e.front.Do(func() {
		b, err := e.requestWith(&Call{}, nil)
		e.head, e.headErr = bytes.TrimSuffix(b, []byte("Content-Length: 0\r\n\r\n")), err
	})
	if e.headErr != nil {
		return nil, e.headErr
	}
	b := make([]byte, 0, len(e.head)+len(call.ID)+len(body)+64)
	b = append(b, e.head...)
	if call.ID != "" {
		b = append(append(append(b, "X-Request-Id: "...), call.ID...), "\r\n"...)
	}
	b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(len(body)), 10), "\r\n\r\n"...)
	return append(b, body...), nil
}

// plainValue reports whether a text can stand as a header's value as it is.
func plainValue(s string) bool {
	for _, b := range []byte(s) {
		if b <= ' ' || b >= 0x7f {
			return false
		}
	}
	return true
}

// requestWith writes a whole request by the rules of net/http.
func (e *loopEngine) requestWith(call *Call, body []byte) ([]byte, error) {
	req, err := e.client.request(context.Background(), call, body)
	if err != nil {
		return nil, err
	}
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	var b bytes.Buffer
	b.Grow(1024 + len(body))
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\n", req.URL.RequestURI(), host)
	if e.client.cfg.NoKeepAlive {
		b.WriteString("Connection: close\r\n")
	}
	if err := req.Header.Write(&b); err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	b.Write(body)
	return b.Bytes(), nil
}
