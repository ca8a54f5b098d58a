//go:build linux && !386 && !s390x

package wire

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/inferencebench/inferencebench/archive"
)

// loopEngine is the event-loop transport: a few threads that read all connections.
type loopEngine struct {
	client *Client
	loops  []*loop
	next   atomic.Uint32
	pool   loopPool

	front   sync.Once // makes the next two
	head    []byte    // of every request, without its own fields
	headErr error
}

// loop is one thread, which waits for readable sockets and reads them, all into one buffer.
type loop struct {
	engine *loopEngine
	epoll  int
	wake   int // an eventfd
	done   chan struct{}

	mu     sync.Mutex
	conns  map[int32]*loopConn
	orders []order
	ending bool

	recv rawReceiver
	buf  []byte
}

// order is work for the loop from outside: to end an exchange, or to close a connection.
type order struct {
	exchange *loopExchange
	failure  *archive.Failure
	conn     *loopConn
}

// readable are the events that a connection is watched for.
const readable = unix.EPOLLIN | unix.EPOLLRDHUP

// newLoopEngine starts the loops of a client.
func newLoopEngine(c *Client) (*loopEngine, error) {
	switch {
	case c.cfg.Engine != EngineEventLoop:
		return nil, fmt.Errorf("engine %q is not known", c.cfg.Engine)
	case c.url.Scheme != "http":
		return nil, errors.New("the event loop speaks plain HTTP only: use the net/http engine for " + c.url.Scheme)
	case c.proxy != nil:
		return nil, errors.New("the event loop goes through no proxy: use the net/http engine for one")
	}
	e := &loopEngine{client: c, pool: loopPool{most: c.cfg.MaxConns}}
	for range max(1, c.cfg.Loops) {
		l, err := newLoop(e)
		if err != nil {
			e.close()
			return nil, err
		}
		e.loops = append(e.loops, l)
		go l.run()
	}
	return e, nil
}

func newLoop(e *loopEngine) (*loop, error) {
	l := &loop{engine: e, done: make(chan struct{}), conns: map[int32]*loopConn{}, buf: make([]byte, 64<<10)}
	var err error
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("event loop: %w", err)
	}
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		_ = unix.Close(l.epoll)
		return nil, fmt.Errorf("event loop: %w", err)
	}
	if err = l.watch(l.wake, unix.EPOLLIN, unix.EPOLL_CTL_ADD); err != nil {
		_ = unix.Close(l.epoll)
		_ = unix.Close(l.wake)
		return nil, fmt.Errorf("event loop: %w", err)
	}
	return l, nil
}

func (l *loop) watch(fd int, events uint32, op int) error {
	return unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// close ends the loops and closes all connections.
func (e *loopEngine) close() {
	for _, l := range e.loops {
		l.mu.Lock()
		first := !l.ending
		l.ending = true
		l.mu.Unlock()
		if first {
			l.ring()
		}
		<-l.done
	}
}

func (l *loop) ring() { _, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// run is the loop's thread.
func (l *loop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(l.done)
	events := make([]unix.EpollEvent, 512)
	drain := l.engine.client.cfg.Drain
	for {
		n, err := unix.EpollWait(l.epoll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			n = 0
		}
		for _, ev := range events[:max(n, 0)] {
			if int(ev.Fd) == l.wake {
				var b [8]byte
				_, _ = unix.Read(l.wake, b[:])
				continue
			}
			l.mu.Lock()
			conn := l.conns[ev.Fd]
			l.mu.Unlock()
			if conn == nil {
				continue
			}
			if ev.Events&unix.EPOLLOUT != 0 {
				conn.flush()
			}
			if ev.Events&^unix.EPOLLOUT != 0 {
				l.read(conn)
			}
		}
		if l.obey() {
			return
		}
		if drain > 0 && n > 0 && n < len(events) {
			ts := unix.NsecToTimespec(int64(drain))
			_ = unix.Nanosleep(&ts, nil)
		}
	}
}

// obey carries out the orders, and ends everything when the engine is closed.
func (l *loop) obey() (ended bool) {
	l.mu.Lock()
	orders, ending := l.orders, l.ending
	l.orders = nil
	l.mu.Unlock()
	for _, o := range orders {
		if o.conn != nil {
			l.drop(o.conn)
		} else {
			l.finish(o.exchange, o.failure)
		}
	}
	if !ending {
		return false
	}
	l.mu.Lock()
	all := slices.Collect(maps.Values(l.conns))
	l.mu.Unlock()
	for _, conn := range all {
		if x := conn.cur.Load(); x != nil {
			l.finish(x, l.engine.client.fail(archive.FailEnded, "the client was closed"))
		}
		l.drop(conn)
	}
	_ = unix.Close(l.epoll)
	_ = unix.Close(l.wake)
	return true
}

// end has the loop end an exchange.
func (l *loop) end(x *loopExchange, f *archive.Failure) { l.order(order{exchange: x, failure: f}) }

// discard has the loop close a connection.
func (l *loop) discard(conn *loopConn) { l.order(order{conn: conn}) }

func (l *loop) order(o order) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		return
	}
	l.orders = append(l.orders, o)
	l.ring()
}

// read makes one read of a ready connection and hands on what came.
func (l *loop) read(conn *loopConn) {
	c := l.engine.client
	n, wall, errno := l.recv.recv(conn.fd, l.buf)
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return
	}
	now := c.cfg.Clock.Now()
	x := conn.cur.Load()
	if x == nil || x.claimed.Load() {
		l.drop(conn) // closed by the server while idle, or it spoke out of turn
		return
	}
	if n > 0 || errno == 0 {
		at, lag := now, int64(-1)
		switch {
		case wall != 0:
			at = c.wall.instant(wall, now)
			lag = int64(now - at)
			c.lag.Record(lag)
		case conn.kernel && n > 0:
			c.unstamped.Add(1)
		}
		t := &x.times
		t.last = arrival{at: max(at, t.last.at), user: now, read: t.last.read + 1}
		t.lag = max(t.lag, lag)
		x.watch.byteT.Store(int64(now))
	}
	switch {
	case errno != 0:
		l.finish(x, c.fail(archive.FailCut, "%v", os.NewSyscallError("recvmsg", errno)))
	case n == 0:
		if err := x.resp.end(); err != nil {
			l.finish(x, c.fail(archive.FailCut, "%v", err))
			return
		}
		x.resp.close = true
		l.finish(x, nil)
	default:
		rest, err := x.resp.feed(l.buf[:n], x)
		switch {
		case err != nil:
			l.finish(x, c.fail(archive.FailCut, "%v", err))
		case x.reply.broken:
			x.resp.close = true
			l.finish(x, nil)
		case x.resp.state == inNothing:
			x.resp.close = x.resp.close || len(rest) > 0
			l.finish(x, nil)
		}
	}
}

// finish ends an exchange: its connection goes back or is closed, and its owner is told.
func (l *loop) finish(x *loopExchange, broke *archive.Failure) {
	if !x.claim() {
		return
	}
	conn, c := x.conn, l.engine.client
	conn.mu.Lock()
	again := broke == nil && !x.resp.close && len(conn.out) == 0 && !conn.closed && !c.cfg.NoKeepAlive
	conn.mu.Unlock()
	if again {
		conn.cur.Store(nil)
		l.engine.pool.give(conn)
	} else {
		l.drop(conn)
	}
	x.finish(c, broke)
}

// drop closes a connection.
func (l *loop) drop(conn *loopConn) {
	l.engine.pool.forget(conn)
	l.mu.Lock()
	if l.conns[int32(conn.fd)] == conn {
		delete(l.conns, int32(conn.fd))
	}
	l.mu.Unlock()
	conn.mu.Lock()
	first := !conn.closed
	conn.closed = true
	if first {
		_ = unix.Close(conn.fd)
	}
	conn.mu.Unlock()
	if first {
		l.engine.pool.closed()
	}
}
