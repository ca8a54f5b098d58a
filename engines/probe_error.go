package engines

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// ProbeKind says why a server could not be used.
type ProbeKind string

// The kinds of probe failure.
const (
	Unreachable ProbeKind = "unreachable" // no connection
	Timeout     ProbeKind = "timeout"     // connected, but no answer in time
	TLS         ProbeKind = "tls"         // TLS on one side only, or a certificate that is not trusted
	Auth        ProbeKind = "auth"        // the key is missing or wrong
	NotReady    ProbeKind = "not_ready"   // the server says that it cannot serve yet
	NotLLM      ProbeKind = "not_llm"     // something answers, but it is no inference server
)

// ProbeError says why a server could not be used and what to do about it. It holds no key
// and no password.
type ProbeError struct {
	Kind ProbeKind
	URL  string // what was asked for, credentials removed
	// Status is the HTTP status; 0 when there was no response.
	Status int
	// Message is what was seen, in a clause; Hint is the way out, in a clause.
	Message string
	Hint    string
	Err     error // the cause; nil when a response was the cause
}

// Error is one line with the address, what was seen and the way out.
func (e *ProbeError) Error() string {
	return fmt.Sprintf("%s: %s; %s", e.URL, e.Message, e.Hint)
}

// Unwrap returns the cause.
func (e *ProbeError) Unwrap() error { return e.Err }

// transportError classifies a request that got no response.
func transportError(at string, err error) *ProbeError {
	e := &ProbeError{Kind: Unreachable, URL: Redact(at), Err: err}
	var ue *url.Error
	if errors.As(err, &ue) {
		e.Err = ue.Err // the outer text repeats the address
	}
	var (
		unknown  x509.UnknownAuthorityError
		host     x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    tls.AlertError
		dns      *net.DNSError
		timeout  net.Error
		tlsWords = e.Err.Error()
	)
	switch {
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verify):
		e.Kind = TLS
		e.Message = "the server's TLS certificate is not trusted: " + e.Err.Error()
		e.Hint = "name its authority with --ca-file, or skip the check with --insecure"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record), strings.Contains(tlsWords, "first record does not look like a TLS handshake"):
		e.Kind = TLS
		e.Message = "the server does not speak TLS on this port"
		e.Hint = "use http:// in the address"
	case errors.As(err, &alert), strings.Contains(tlsWords, "tls: "), strings.Contains(tlsWords, "x509: "):
		e.Kind = TLS
		e.Message = "the TLS handshake failed: " + e.Err.Error()
		e.Hint = "check the certificate and TLS versions of the server"
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Message = fmt.Sprintf("there is no host named %q", dns.Name)
		e.Hint = "check the address"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = "connection refused"
		e.Hint = "check that the server runs and that the port is right"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Kind = Timeout
		e.Message = "no answer in time"
		e.Hint = "check that the server has finished loading and that no firewall is in between"
	default:
		e.Message = e.Err.Error()
		e.Hint = "check the address and the network"
	}
	return e
}

// responseError classifies a response of the models route that ends the probe; nil when
// the response does not.
func responseError(at string, a *answer) *ProbeError {
	e := &ProbeError{URL: Redact(at), Status: a.status, Message: fmt.Sprintf("the answer is status %d", a.status)}
	switch {
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		e.Kind, e.Hint = Auth, "check the API key and the variable that it is taken from"
	case a.status == http.StatusProxyAuthRequired:
		e.Kind, e.Hint = Auth, "the proxy in between asks for credentials; go around it with --proxy none or give them"
	case a.status == http.StatusBadRequest && strings.Contains(string(a.head()), "HTTP request to an HTTPS server"):
		e.Kind, e.Message, e.Hint = TLS, "the server speaks TLS on this port", "use https:// in the address"
	case a.status == http.StatusServiceUnavailable, a.status == http.StatusBadGateway, a.status == http.StatusGatewayTimeout:
		e.Kind, e.Hint = NotReady, "wait until the server has loaded its model, or look at what stands in front of it"
	case a.status == http.StatusOK && a.html():
		e.Kind, e.Message, e.Hint = NotLLM, "the answer is a web page", "give the address of the API, not of a user interface"
	default:
		return nil
	}
	return e
}
