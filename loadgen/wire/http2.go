package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
)

// share makes the transports of the HTTP/2 connections that all requests share: one for
// each, since net/http puts all requests of a transport on one connection.
func (c *Client) share() error {
	switch {
	case c.cfg.HTTP2 < 0 || c.cfg.HTTP2 > 1<<16:
		return errors.New("wire: the number of HTTP/2 connections must be between 1 and 65536")
	case c.cfg.Engine != EngineNetHTTP:
		return errors.New("wire: HTTP/2 goes with the net/http engine only")
	case c.cfg.MaxConns > 0:
		return errors.New("wire: with HTTP/2 the number of connections is given by itself")
	}
	for range c.cfg.HTTP2 {
		t := c.transport.Clone()
		t.TLSNextProto = nil
		t.TLSClientConfig.NextProtos = []string{"h2"}
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP2(true)
		t.Protocols.SetUnencryptedHTTP2(true)
		// Where a server's limit of streams is reached, net/http opens a further connection.
		conf, opened := t.TLSClientConfig, new(atomic.Int64)
		t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := c.handshake(ctx, network, addr, conf)
			return further(conn, err, opened)
		}
		t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := c.dial(ctx, network, addr)
			return further(conn, err, opened)
		}
		c.shared = append(c.shared, t)
	}
	return nil
}

// further marks a connection that is not the first of its transport.
func further(conn net.Conn, err error, opened *atomic.Int64) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	if sc := under(conn); sc != nil && opened.Add(1) > 1 {
		sc.further = true
	}
	return conn, nil
}

// roundTripper returns the transport for the next request.
func (c *Client) roundTripper() http.RoundTripper {
	if c.shared == nil {
		return c.transport
	}
	return c.shared[int(c.turn.Add(1))%len(c.shared)]
}

// dialTLS opens a connection and completes the TLS handshake on it.
func (c *Client) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.handshake(ctx, network, addr, c.transport.TLSClientConfig)
}

// handshake opens a connection and completes the TLS handshake on it.
func (c *Client) handshake(ctx context.Context, network, addr string, conf *tls.Config) (net.Conn, error) {
	ctx, cancel := c.connectLimit(ctx)
	defer cancel()
	s, err := c.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	conf = conf.Clone()
	if conf.ServerName == "" {
		conf.ServerName = addr
		if host, _, err := net.SplitHostPort(addr); err == nil {
			conf.ServerName = host
		}
	}
	start := c.cfg.Clock.Now()
	conn := tls.Client(s, conf)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = s.Close() // the handshake's error is the one to report
		return nil, c.dialError(ctx, err, true)
	}
	s.tls = c.cfg.Clock.Now().Sub(start)
	return conn, nil
}
