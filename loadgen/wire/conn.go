package wire

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// arrival is when bytes came, by the best clock there is.
type arrival struct {
	at   archive.Instant // the stamp: the kernel's, or this program's
	user archive.Instant // right after the read returned
	read uint64          // number of the read that brought them, on its connection
}

// stampConn is a connection that knows when its bytes came and went. Reads and writes may
// run at the same time; there is at most one of each, as net.Conn's users in net/http and
// crypto/tls make sure.
type stampConn struct {
	net.Conn
	client *Client
	dial   time.Duration // connecting took this long
	tls    time.Duration // the TLS handshake took this long; 0 without one
	kernel *receiver     // nil when this program takes the stamps

	mu   sync.Mutex
	last arrival
	sent archive.Instant // the first write since begin
	lag  int64           // the largest of this exchange, in nanoseconds
}

// Read reads and stamps.
func (c *stampConn) Read(p []byte) (int, error) {
	var n int
	var err error
	var stamp int64
	if c.kernel != nil {
		n, stamp, err = c.kernel.recv(p)
	} else {
		n, err = c.Conn.Read(p)
	}
	if n > 0 || err == io.EOF { //nolint:errorlint // a connection's end is bare
		c.stamp(stamp, n)
	}
	return n, err
}

// stamp records an arrival of n bytes, none for the end of the connection, that the kernel
// saw at the given wall-clock nanosecond; 0 when it did not say.
func (c *stampConn) stamp(wall int64, n int) {
	now := c.client.cfg.Clock.Now()
	at, lag := now, int64(-1)
	if wall != 0 {
		at = c.client.wall.instant(wall, now)
		lag = int64(now - at)
		c.client.lag.Record(lag)
	} else if c.kernel != nil && n > 0 {
		c.client.unstamped.Add(1)
	}
	c.mu.Lock()
	c.last = arrival{at: max(at, c.last.at), user: now, read: c.last.read + 1}
	c.lag = max(c.lag, lag)
	c.mu.Unlock()
}

// Write stamps the first write of an exchange, just before it.
func (c *stampConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if !c.sent.Known() {
		c.sent = c.client.cfg.Clock.Now()
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// begin starts an exchange.
func (c *stampConn) begin() {
	c.mu.Lock()
	c.sent, c.lag = 0, -1
	c.mu.Unlock()
}

// latest returns the arrival of the last read.
func (c *stampConn) latest() arrival {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// exchange returns the send stamp and the largest lag since begin; the lag is below zero
// when no read had a kernel stamp.
func (c *stampConn) exchange() (sent archive.Instant, lag int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent, c.lag
}
