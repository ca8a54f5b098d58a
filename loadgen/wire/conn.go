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
	// further marks a connection opened because the server takes no more streams on those
	// there are.
	further bool

	mu  sync.Mutex
	cur *times // of the exchange that has the connection
}

// times are the stamps of one exchange. They belong to the exchange, not to the
// connection, which may carry the next one before the last stamp of this is looked at.
type times struct {
	last arrival
	sent archive.Instant // the first write
	lag  int64           // the largest, in nanoseconds; below zero without kernel stamps
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
	t := c.cur
	t.last = arrival{at: max(at, t.last.at), user: now, read: t.last.read + 1}
	t.lag = max(t.lag, lag)
	c.mu.Unlock()
}

// Write stamps the first write of an exchange, just before it.
func (c *stampConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if !c.cur.sent.Known() {
		c.cur.sent = c.client.cfg.Clock.Now()
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// begin starts an exchange, whose stamps go to t.
func (c *stampConn) begin(t *times) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.lag = -1
	c.cur = t
}

// look returns the stamps of an exchange so far.
func (c *stampConn) look(t *times) times {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *t
}
