package tasks

import (
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Message is one entry of a conversation, with the names of the OpenAI chat API.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// Turn is one user turn of a session: what to send, and what to ask of the server. It
// holds only what is new; the driver keeps the conversation's history and puts the
// server's own replies into it.
type Turn struct {
	// Kind says what the request is for; the empty Kind is load.
	Kind archive.Kind
	// Task names the task kind, such as "chat" or "code".
	Task string
	// Item is the checkpoint item's id; empty for anything but a checkpoint.
	Item string
	// System is the system message. It belongs to the first turn of a session; a later
	// turn leaves it empty to keep the one there is.
	System string
	// User is the user message. It is never empty.
	User string
	// Messages, when not nil, is the whole prompt to send: it takes the place of the
	// conversation so far, of System and of User, which is then its last message. A
	// replay sets it, so that what is sent does not depend on the server's replies.
	Messages []Message
	// MaxTokens is the output limit to ask for, in tokens; 0 asks for none.
	MaxTokens int
	// IgnoreEOS asks the server to generate all of MaxTokens, where it can.
	IgnoreEOS bool
	// Temperature is the sampling temperature; unknown leaves it to the server.
	Temperature archive.Opt[float64]
	// PromptTokens is how long the whole prompt was aimed to be, in tokens, history
	// included; unknown when nothing was aimed at.
	PromptTokens archive.Opt[int]
	// SharedPrefix is how many leading tokens of the prompt earlier requests of the plan
	// hold too, by construction: a shared system prompt, or this session's own history.
	// Unknown when the source cannot tell.
	SharedPrefix archive.Opt[int]
	// Think is the pause between the end of the previous reply and this turn's send.
	// It is zero for a first turn.
	Think time.Duration
	// Stop are stop sequences to send.
	Stop []string
	// Notes go into the annotations of the request's record, such as who wrote the turn.
	Notes []archive.Annotation
}

// Session is one conversation. It is used by one goroutine.
type Session interface {
	// Next returns the next turn, given the text of the server's answer to the previous
	// one: the empty string before the first turn, and also when that turn failed or was
	// answered with nothing. False ends the conversation. The reply is untrusted data: it
	// may change the text of the next turn, and nothing else.
	Next(reply string) (Turn, bool)
}

// Source gives the sessions of a plan. Session(i) is a function of the source's seed
// and i alone, so a plan can be replayed and split over machines. It is safe for
// concurrent use.
type Source interface {
	Session(i uint64) Session
}

// SourceFunc makes a function a Source.
type SourceFunc func(i uint64) Session

// Session calls f.
func (f SourceFunc) Session(i uint64) Session { return f(i) }
