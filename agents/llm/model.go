package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Model makes one call to a language model. It is safe for concurrent use.
type Model interface {
	// Generate returns the answer to one request, or an error; a *StatusError when the
	// provider answered with an HTTP error.
	Generate(ctx context.Context, r Request) (Response, error)
	// Name identifies the model in transcripts.
	Name() string
}

// Request is one call.
type Request struct {
	System, User string
	// Tool names what the answer is for, and Schema is the JSON Schema that it must meet.
	Tool   string
	Schema json.RawMessage
	// MaxTokens bounds the answer; Temperature is sent as it is.
	MaxTokens   int
	Temperature float64
}

// Response is one answer.
type Response struct {
	Answer json.RawMessage // the JSON object; not yet validated
	Text   string          // the answer as the model gave it
	In     int             // prompt tokens by the provider's count; 0 when it gave none
	Out    int             // generated tokens likewise
}

// ErrNoJSON is in the chain of the error for an answer without a JSON object in it.
var ErrNoJSON = errors.New("the model's answer holds no JSON object")

// StatusError is an HTTP error of the provider.
type StatusError struct {
	Code       int
	Message    string        // the provider's words, cut to a bounded length, without secrets
	RetryAfter time.Duration // 0 when it said nothing
}

// Error names the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the model's server answered with status %d: %s", e.Code, e.Message)
}

// Retryable reports whether the same request may succeed later.
func (e *StatusError) Retryable() bool {
	return e.Code == 408 || e.Code == 429 || e.Code >= 500 && e.Code != 501
}

// FindJSON returns the first complete JSON object in a text, for models that answer in
// prose around it or in a fenced block.
func FindJSON(text string) (json.RawMessage, error) {
	const starts = 32 // openings tried, so that hostile text costs little
	tried := 0
	for i := 0; i < len(text) && tried < starts; i++ {
		if text[i] != '{' {
			continue
		}
		tried++
		if end := matching(text[i:]); end > 0 && json.Valid([]byte(text[i:i+end])) {
			return json.RawMessage(text[i : i+end]), nil
		}
	}
	return nil, ErrNoJSON
}

// matching is the length of the bracketed text that s starts with, or 0.
func matching(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
