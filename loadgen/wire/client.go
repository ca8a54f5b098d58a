package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/inferencebench/inferencebench/archive"
)

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	cfg       Config
	api       *api
	url       *url.URL
	proxy     *url.URL
	header    http.Header
	transport *http.Transport
	wall      *wallClock
	shared    []*http.Transport // of HTTP/2, one for each connection
	turn      atomic.Uint32
	loops     *loopEngine // nil with EngineNetHTTP
	dialer    func(ctx context.Context, network, addr string) (net.Conn, error)

	useCompletion atomic.Bool // the server wants max_completion_tokens
	noUsage       atomic.Bool // the server refuses stream_options

	counters
}

// New returns a client for the server of cfg. It opens no connection. The error says
// which field is wrong.
func New(cfg Config) (*Client, error) {
	if cfg.Clock == nil {
		return nil, errors.New("wire: the configuration has no clock")
	}
	if cfg.Model == "" {
		return nil, errors.New("wire: the configuration names no model")
	}
	if cfg.Endpoint == "" {
		cfg.Endpoint = EndpointChat
	}
	switch cfg.MaxTokensField {
	case MaxTokensAuto, MaxTokensOld, MaxTokensCompletion:
	default:
		return nil, errors.New("wire: the output limit's field must be max_tokens or max_completion_tokens")
	}
	c := &Client{cfg: cfg, wall: newWallClock(cfg.Clock), dialer: new(net.Dialer).DialContext}
	var err error
	if c.api, err = apiOf(cfg.Endpoint); err != nil {
		return nil, err
	}
	if c.url, err = c.api.address(cfg.BaseURL, cfg.Model, !cfg.NoStream); err != nil {
		return nil, err
	}
	if c.proxy, err = parseProxy(cfg.Proxy); err != nil {
		return nil, err
	}
	if c.transport, err = c.newTransport(); err != nil {
		return nil, err
	}
	if cfg.HTTP2 != 0 {
		if err := c.share(); err != nil {
			return nil, err
		}
	}
	c.header = c.baseHeader()
	if cfg.Engine != EngineNetHTTP {
		if c.loops, err = newLoopEngine(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// baseHeader returns the headers of every request.
func (c *Client) baseHeader() http.Header {
	h := http.Header{
		"Content-Type":    {"application/json"},
		"Accept":          {"text/event-stream, application/json"},
		"Accept-Encoding": {"identity"},
		"User-Agent":      {"inferencebench"},
	}
	if c.cfg.NoStream {
		h.Set("Accept", "application/json")
	}
	if c.cfg.Key != "" {
		h.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	if c.cfg.Endpoint == EndpointMessages {
		h.Set("Anthropic-Version", "2023-06-01")
		if c.cfg.Key != "" {
			h.Set("X-Api-Key", c.cfg.Key)
		}
	}
	for name, values := range c.cfg.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	if user := c.url.User; user != nil && h.Get("Authorization") == "" {
		password, _ := user.Password()
		r := http.Request{Header: h}
		r.SetBasicAuth(user.Username(), password)
	}
	c.url.User = nil
	return h
}

// URL returns the address that requests go to, without credentials.
func (c *Client) URL() string { return c.url.Redacted() }

// Proxy returns the proxy in use without its password, "" when there is none.
func (c *Client) Proxy() string {
	if c.proxy == nil {
		return ""
	}
	return c.proxy.Redacted()
}

// Close closes idle connections, and with EngineEventLoop ends the loops. No request may be
// in flight then, nor be made later.
func (c *Client) Close() {
	c.transport.CloseIdleConnections()
	for _, t := range c.shared {
		t.CloseIdleConnections()
	}
	if c.loops != nil {
		c.loops.close()
	}
}

// shape returns what is known of the server's body format now.
func (c *Client) shape() shape {
	s := shape{maxTokens: string(MaxTokensOld), usage: !c.cfg.NoUsage && !c.cfg.NoStream && !c.noUsage.Load()}
	if c.cfg.MaxTokensField == MaxTokensCompletion || c.useCompletion.Load() {
		s.maxTokens = string(MaxTokensCompletion)
	}
	return s
}

// adapt looks at the failure of a request that was rendered with s and reports whether
// the server has shown how it wants the body, so that sending again makes sense.
func (c *Client) adapt(f *archive.Failure, s shape, call *Call) (note archive.Annotation, again bool) {
	if f == nil || f.HTTPStatus.Or(0) != http.StatusBadRequest && f.HTTPStatus.Or(0) != http.StatusUnprocessableEntity {
		return note, false
	}
	words := strings.ToLower(f.Message)
	switch {
	case !c.api.openAI:
		return note, false
	case c.cfg.MaxTokensField == MaxTokensAuto && call.MaxTokens > 0 && s.maxTokens == string(MaxTokensOld) && strings.Contains(words, "max_completion_tokens"):
		c.useCompletion.Store(true)
		return archive.Annotation{Code: "max_completion_tokens", Message: "The server refused max_tokens: the request was sent again with max_completion_tokens."}, true
	case s.usage && strings.Contains(words, "stream_options"):
		c.noUsage.Store(true)
		return archive.Annotation{Code: "no_stream_options", Message: "The server refused stream_options: the request was sent again without asking for usage."}, true
	}
	return note, false
}
