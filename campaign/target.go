package campaign

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// TargetError says that the server under test cannot be used, before any load was sent.
type TargetError struct {
	// Kind is one of the Target constants.
	Kind string
	URL  string // credentials removed
	// Message says what happened; Hint what to do about it.
	Message, Hint string
	Err           error
}

// The kinds of TargetError.
const (
	TargetUnreachable = "unreachable" // no connection
	TargetTLS         = "tls"         // the certificate is not trusted
	TargetNotLLM      = "not_llm"     // something answers, but no inference server
	TargetAuth        = "auth"        // the key is missing or wrong
	TargetModel       = "model"       // no such model, or several and none chosen
	TargetRefused     = "refused"     // a test request failed for another reason
)

// Error has two lines: what happened, and the way out.
func (e *TargetError) Error() string {
	s := fmt.Sprintf("%s: %s", e.URL, e.Message)
	if e.Hint != "" {
		s += "\nTry: " + e.Hint
	}
	return s
}

// Unwrap returns the cause, or nil.
func (e *TargetError) Unwrap() error { return e.Err }

// Configuration reports whether the user's configuration is at fault (key, model,
// certificate) rather than the server or the path to it.
func (e *TargetError) Configuration() bool {
	return e.Kind == TargetAuth || e.Kind == TargetModel || e.Kind == TargetTLS
}

// headers resolves the configured headers; values of the form ${NAME} come from the
// environment.
func (t Target) headers(getenv func(string) string) (http.Header, error) {
	h := http.Header{}
	for name, value := range t.Headers {
		var missing string
		v := os.Expand(value, func(env string) string {
			s := getenv(env)
			if s == "" {
				missing = env
			}
			return s
		})
		if missing != "" {
			return nil, Problems{{Field: "target.headers." + name, Message: fmt.Sprintf("the environment variable %s is not set", missing)}}
		}
		if strings.ContainsAny(v, "\r\n") || strings.ContainsAny(name, " \t\r\n:") {
			return nil, Problems{{Field: "target.headers." + name, Message: "a header's name and value are one line each"}}
		}
		h.Set(name, v)
	}
	return h, nil
}

// proxy returns the proxy URL to use for the base URL, "" for none.
func (t Target) proxy(base string, getenv func(string) string) (string, error) {
	if t.Proxy == "env" {
		return wire.ProxyFor(base, getenv)
	}
	return t.Proxy, nil
}
