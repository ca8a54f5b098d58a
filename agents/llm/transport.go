package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Transport turns HTTP errors of a provider into *StatusError, and tries again where that
// may help: up to Retries times, waiting as long as Retry-After says but never more than
// MaxWait. It holds the whole body in memory.
type Transport struct {
	Next    http.RoundTripper // nil is http.DefaultTransport
	Retries int
	MaxWait time.Duration // 0 is 10 s
	// Secrets are removed from the provider's words before they reach an error.
	Secrets []string
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	next := t.Next
	if next == nil {
		next = http.DefaultTransport
	}
	var body []byte
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close() // it was read to its end
		if err != nil {
			return nil, err
		}
		body = b
	}
	for try := 0; ; try++ {
		out := r.Clone(r.Context())
		if r.Body != nil {
			out.Body = io.NopCloser(bytes.NewReader(body))
		}
		resp, err := next.RoundTrip(out)
		if err != nil {
			return nil, keep(r.Context(), err)
		}
		if resp.StatusCode/100 == 2 {
			return resp, nil
		}
		se := t.status(resp)
		if !se.Retryable() || try >= t.Retries || !t.wait(r, se.RetryAfter, try) {
			return nil, keep(r.Context(), se)
		}
	}
}

// status reads an error response and closes it.
func (t *Transport) status(resp *http.Response) *StatusError {
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what could be read is enough for a message
	var o struct {
		Error json.RawMessage `json:"error"`
	}
	msg := strings.TrimSpace(string(text))
	if json.Unmarshal(text, &o) == nil && len(o.Error) > 0 {
		var inner struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(o.Error, &inner) == nil && inner.Message != "" {
			msg = inner.Message
		}
	}
	for _, s := range t.Secrets {
		if s != "" {
			msg = strings.ReplaceAll(msg, s, "[redacted]")
		}
	}
	se := &StatusError{Code: resp.StatusCode, Message: shorten(strings.ToValidUTF8(msg, "�"), 300)}
	if s, err := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64); err == nil && s > 0 && s < 86400 {
		se.RetryAfter = time.Duration(s * float64(time.Second))
	}
	return se
}

// wait waits before the next try; false means that it is not worth it.
func (t *Transport) wait(r *http.Request, d time.Duration, try int) bool {
	limit := t.MaxWait
	if limit == 0 {
		limit = 10 * time.Second
	}
	if d == 0 {
		d = 500 * time.Millisecond << try
	}
	if d > limit {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// AsStatus finds a *StatusError in an error's chain.
func AsStatus(err error) (*StatusError, bool) {
	var se *StatusError
	ok := errors.As(err, &se)
	return se, ok
}

type caughtKey struct{}

// Caught holds the error that a request of one call ended with. Client libraries replace
// the errors of their transport by words of their own; this keeps the original.
type Caught struct {
	mu  sync.Mutex
	err error
}

// Catch returns a context whose requests through a [Transport] leave their error in the
// Caught.
func Catch(ctx context.Context) (context.Context, *Caught) {
	c := &Caught{}
	return context.WithValue(ctx, caughtKey{}, c), c
}

// Or returns the error that was caught, or err when none was.
func (c *Caught) Or(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.err != nil {
		return c.err
	}
	return err
}

func keep(ctx context.Context, err error) error {
	if c, ok := ctx.Value(caughtKey{}).(*Caught); ok {
		c.mu.Lock()
		c.err = err
		c.mu.Unlock()
	}
	return err
}
