package wire

import (
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// Call is one request to make, in words that fit every endpoint.
type Call struct {
	// ID is sent as the X-Request-Id header. An empty ID sends none.
	ID string
	// Messages are the conversation so far, the new user message last. An endpoint that
	// takes a plain prompt gets their contents joined by blank lines, unless Prompt is
	// set.
	Messages []tasks.Message
	// Prompt is the text for an endpoint that takes a plain prompt. A chat endpoint gets
	// it as one user message when there are no Messages.
	Prompt string
	// MaxTokens is the output limit; 0 sends none.
	MaxTokens int
	// Temperature is the sampling temperature; unknown sends none. A known 0 is sent.
	Temperature archive.Opt[float64]
	// IgnoreEOS sends ignore_eos. It is an engine's own field: strict servers refuse it,
	// so that it must be set only where the engine is known to take it or the user asked.
	IgnoreEOS bool
	// Stop are the stop sequences; empty sends none.
	Stop []string
	// Extra are further body fields, sent as they are. One that has the name of a field
	// that the client writes itself replaces it; a nil value removes it.
	Extra map[string]any
	// Header are further headers of this request alone, such as traceparent. They
	// replace headers of the same name from the configuration. May be nil.
	Header map[string]string
}
