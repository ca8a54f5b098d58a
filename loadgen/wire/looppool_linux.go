//go:build linux && !386 && !s390x

package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// loopPool holds the idle connections of an event-loop engine, and keeps the number of
// open ones under a cap where there is one.
type loopPool struct {
	mu      sync.Mutex
	most    int // 0 is no cap
	open    int
	idle    []*loopConn      // the last used is taken first
	waiting []chan *loopConn // for a connection, or for the room to open one (nil)
}

// acquire returns a connection, and whether it has carried an exchange before. With fresh,
// a new one is opened if there is room.
func (e *loopEngine) acquire(ctx context.Context, fresh bool) (conn *loopConn, reused bool, err error) {
	p := &e.pool
	p.mu.Lock()
	room := p.most == 0 || p.open < p.most
	if n := len(p.idle); n > 0 && (!fresh || !room) {
		conn = p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return conn, true, nil
	}
	if room {
		p.open++
		p.mu.Unlock()
	} else {
		ch := make(chan *loopConn, 1)
		p.waiting = append(p.waiting, ch)
		p.mu.Unlock()
		select {
		case conn = <-ch:
			if conn != nil {
				return conn, true, nil
			}
		case <-ctx.Done():
			p.leave(ch)
			return nil, false, ctx.Err()
		}
	}
	if conn, err = e.connect(ctx); err != nil {
		p.closed()
	}
	return conn, false, err
}

// leave ends a wait. What had been handed over already goes on to the next.
func (p *loopPool) leave(ch chan *loopConn) {
	p.mu.Lock()
	i := slices.Index(p.waiting, ch)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		return
	}
	if conn := <-ch; conn != nil {
		p.give(conn)
	} else {
		p.closed()
	}
}

// give hands on a connection that is free.
func (p *loopPool) give(conn *loopConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		p.waiting[0] <- conn
		p.waiting = p.waiting[1:]
		return
	}
	p.idle = append(p.idle, conn)
}

// closed hands on the room of a connection that is gone.
func (p *loopPool) closed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		p.waiting[0] <- nil
		p.waiting = p.waiting[1:]
		return
	}
	p.open--
}

// forget takes a connection out of the idle ones, if it is there.
func (p *loopPool) forget(conn *loopConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, conn); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
}

// connect opens a connection and gives it to a loop, which has its own descriptor of the
// socket from then on.
func (e *loopEngine) connect(ctx context.Context) (*loopConn, error) {
	c := e.client
	addr := c.url.Host
	if c.url.Port() == "" {
		addr = net.JoinHostPort(c.url.Hostname(), "80")
	}
	s, err := c.open(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer s.Conn.Close() //nolint:errcheck // nothing was written
	sc, ok := s.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.New("the connection has no file descriptor")
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var dupErr error
	err = rc.Control(func(old uintptr) { fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) })
	if err == nil && dupErr != nil {
		err = &dialError{kind: dialKind(dupErr, false), err: os.NewSyscallError("dup", dupErr)}
	}
	if err != nil {
		return nil, err
	}
	l := e.loops[int(e.next.Add(1))%len(e.loops)]
	conn := &loopConn{loop: l, fd: fd, kernel: s.kernel != nil, dial: s.dial}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		err = net.ErrClosed
	} else if err = l.watch(fd, readable, unix.EPOLL_CTL_ADD); err != nil {
		err = fmt.Errorf("event loop: %w", err)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	l.conns[int32(fd)] = conn
	return conn, nil
}
