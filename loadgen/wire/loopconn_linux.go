//go:build linux && !386 && !s390x

package wire

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// loopConn is a connection of an event loop. Only the loop reads it and closes it.
type loopConn struct {
	loop   *loop
	fd     int
	kernel bool // stamps are on
	dial   time.Duration
	cur    atomic.Pointer[loopExchange] // what it carries now

	mu     sync.Mutex // of what follows, and of writing and closing
	out    []byte     // the rest of a request that the socket did not take at once
	closed bool
}

// write sends a request, or as much as the socket takes; the loop sends the rest.
func (conn *loopConn) write(p []byte) error {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if conn.closed {
		return net.ErrClosed
	}
	return conn.push(p)
}

// push writes what the socket takes and keeps the rest. The caller holds mu.
func (conn *loopConn) push(p []byte) error {
	had := len(conn.out) > 0
	for len(p) > 0 {
		n, err := unix.SendmsgN(conn.fd, p, nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		if err == unix.EINTR { //nolint:errorlint // errno values are bare
			continue
		}
		if err == unix.EAGAIN { //nolint:errorlint // errno values are bare
			break
		}
		if err != nil {
			return os.NewSyscallError("write", err)
		}
		p = p[n:]
	}
	conn.out = p
	if len(p) == 0 {
		conn.out = nil
	}
	switch {
	case len(p) > 0 && !had:
		return conn.loop.watch(conn.fd, readable|unix.EPOLLOUT, unix.EPOLL_CTL_MOD)
	case len(p) == 0 && had:
		return conn.loop.watch(conn.fd, readable, unix.EPOLL_CTL_MOD)
	}
	return nil
}

// flush sends more of a request. A failure shows at the next read.
func (conn *loopConn) flush() {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if !conn.closed && len(conn.out) > 0 && conn.push(conn.out) != nil {
		conn.out = nil
		_ = conn.loop.watch(conn.fd, readable, unix.EPOLL_CTL_MOD)
	}
}
