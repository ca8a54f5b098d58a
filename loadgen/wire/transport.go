package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// newTransport returns an HTTP/1.1 transport over stamping connections, without a limit of
// its own on anything.
func (c *Client) newTransport() (*http.Transport, error) {
	conf, err := c.tlsConfig()
	if err != nil {
		return nil, err
	}
	t := &http.Transport{
		DialContext:         c.dial,
		DialTLSContext:      c.dialTLS,
		TLSClientConfig:     conf,
		DisableCompression:  true,
		DisableKeepAlives:   c.cfg.NoKeepAlive,
		MaxIdleConnsPerHost: math.MaxInt, // 0 would mean two
		MaxConnsPerHost:     c.cfg.MaxConns,
		WriteBufferSize:     1 << 10,                                                // what is larger goes to the socket as it is
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2
	}
	if c.proxy != nil {
		t.Proxy = http.ProxyURL(c.proxy)
	}
	return t, nil
}

func (c *Client) tlsConfig() (*tls.Config, error) {
	conf := &tls.Config{
		InsecureSkipVerify: c.cfg.Insecure, //nolint:gosec // only where the user asks for it by name
		NextProtos:         []string{"http/1.1"},
		MinVersion:         tls.VersionTLS12,
	}
	if c.cfg.CAFile != "" {
		pem, err := os.ReadFile(c.cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("certificate authorities: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate authorities: %s holds no PEM certificate", c.cfg.CAFile)
		}
	}
	return conf, nil
}

// dial opens a connection to the server, or to the proxy.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func (c *Client) open(ctx context.Context, network, addr string) (*stampConn, error) {
	ctx, cancel := c.connectLimit(ctx)
	defer cancel()
	if c.cfg.UnixSocket != "" {
		network, addr = "unix", c.cfg.UnixSocket
	}
	start := c.cfg.Clock.Now()
	conn, err := c.dialer(ctx, network, addr)
	if err != nil {
		return nil, c.dialError(ctx, err, false)
	}
	c.opened.Add(1)
	s := &stampConn{Conn: conn, client: c, dial: c.cfg.Clock.Now().Sub(start), cur: &times{lag: -1}}
	if !c.cfg.UserStamps {
		s.kernel = newReceiver(conn)
	}
	if s.kernel != nil {
		c.kernelConns.Add(1)
	}
	return s, nil
}

func (c *Client) connectLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.cfg.Timeouts.Connect <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, c.cfg.Timeouts.Connect, errConnectLimit)
}

var errConnectLimit = errors.New("connect limit passed")

// dialError names the failure to connect, and the proxy where there is one.
func (c *Client) dialError(ctx context.Context, err error, handshake bool) error {
	kind := dialKind(err, handshake)
	if errors.Is(context.Cause(ctx), errConnectLimit) {
		err = fmt.Errorf("no connection within the limit of %v: %w", c.cfg.Timeouts.Connect.Round(time.Millisecond), err)
	}
	if handshake {
		err = fmt.Errorf("TLS handshake: %w", err)
	}
	if c.proxy != nil {
		err = fmt.Errorf("proxy %s: %w", c.proxy.Redacted(), err)
	}
	return &dialError{kind: kind, err: err}
}

// under returns the stamping connection below conn; nil when there is none.
func under(conn net.Conn) *stampConn {
	for {
		switch c := conn.(type) {
		case *stampConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// parseProxy reads a proxy's URL.
func parseProxy(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		return nil, errors.New("proxy: want a URL such as http://host:port")
	}
	return u, nil
}
