package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/delta"
)

// maxMessage bounds the words of a failure, in bytes.
const maxMessage = 600

// say makes words fit for a record: bounded, printable, without the key.
func (c *Client) say(msg string) string {
	if len(msg) > 8*maxMessage {
		msg = msg[:8*maxMessage]
	}
	if c.cfg.Key != "" {
		msg = strings.ReplaceAll(msg, c.cfg.Key, "[redacted]")
	}
	msg = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, msg)
	msg = strings.Join(strings.Fields(msg), " ")
	if len(msg) > maxMessage {
		cut := maxMessage
		for !utf8.RuneStart(msg[cut]) {
			cut--
		}
		msg = msg[:cut] + "…"
	}
	return msg
}

func (c *Client) fail(kind, format string, args ...any) *archive.Failure {
	return &archive.Failure{Kind: kind, Message: c.say(fmt.Sprintf(format, args...))}
}

// dialError is a connection that could not be made.
type dialError struct {
	kind string // a Fail constant
	err  error
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// dialKind says what kind of failure err is, met while connecting (or, when handshake,
// in the TLS handshake).
func dialKind(err error, handshake bool) string {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return archive.FailClientPorts
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return archive.FailClientFiles
	case errors.As(err, &timeout) && timeout.Timeout():
		return archive.FailTimeoutConnect
	case handshake:
		return archive.FailTLS
	}
	return archive.FailConnect
}

// brokenKind says what kind of failure err is, met while a request was on its way or its
// reply was being read.
func brokenKind(err error) string {
	var dial *dialError
	if errors.As(err, &dial) {
		return dial.kind
	}
	if isTLS(err) {
		return archive.FailTLS
	}
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return dialKind(err, false)
	}
	return archive.FailCut
}

func isTLS(err error) bool {
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	return errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &record)
}

// statusFailure reads the failure that a status code outside 2xx stands for.
func (c *Client) statusFailure(status int, h http.Header, body []byte) *archive.Failure {
	f := &archive.Failure{Kind: "http_" + strconv.Itoa(status), HTTPStatus: archive.Some(status), RetryAfter: retryAfter(h, time.Now)}
	e := delta.ParseError(body)
	switch {
	case e != nil:
		f.Message = c.say(e.Message)
		if kind := refusalKind(status, e); kind != "" {
			f.Kind = kind
		}
		if f.Kind == archive.FailContextOverflow {
			f.Message = c.say(e.Message + " " + string(body))
		}
	case len(body) > 0:
		f.Message = c.say(string(body))
	default:
		f.Message = http.StatusText(status)
	}
	if loc := h.Get("Location"); loc != "" && status >= 300 && status < 400 {
		f.Message = c.say("redirected to " + loc + ", which is not followed: give that address as the server's URL")
	}
	return f
}

// refusalKind names the refusals that are about the request, not about the server.
func refusalKind(status int, e *delta.Error) string {
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge && status != http.StatusUnprocessableEntity && status != http.StatusInternalServerError {
		return ""
	}
	words := strings.ToLower(e.Type + " " + e.Message)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if !strings.Contains(words, p) {
				return false
			}
		}
		return true
	}
	switch {
	case has("exceed_context_size"), has("context_length_exceeded"), has("maximum context length"), has("exceeds the available context"),
		has("longer than the model's context"), has("longer than the maximum model length"), has("max_model_len"), has("inputs tokens + max_new_tokens", "must be"),
		has("context window", "exceed"), has("exceeds", "max_seq_len"), has("prompt is too long"):
		return archive.FailContextOverflow
	case has("roles must alternate"), has("chat template"), has("jinja"), has("templateerror"), has("conversation roles"), has("system role not supported"):
		return archive.FailTemplate
	}
	return ""
}

// retryAfter reads the header as seconds: a number, or a date ahead of now.
func retryAfter(h http.Header, now func() time.Time) archive.Opt[float64] {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e9 {
		return archive.Some(s)
	}
	if t, err := http.ParseTime(v); err == nil {
		return archive.Some(max(0, t.Sub(now()).Seconds()))
	}
	return archive.Opt[float64]{}
}
