package delta

import "github.com/inferencebench/inferencebench/archive"

// Delta is what one event of a reply means.
type Delta struct {
	// Answer and Reasoning are the text of the first choice on either channel. They are
	// valid until the next Decode.
	Answer, Reasoning []byte
	// Tools are the parts of tool calls of the first choice.
	Tools []Tool
	// Bearing is set when any choice carries tokens: non-empty answer or reasoning text,
	// or a tool call with a name or arguments.
	Bearing bool
	// Answering is set when any choice carries answer text.
	Answering bool
	// Tokens is how many tokens the event carries for the first choice, where it lists
	// them (log probabilities or token ids); 0 when it does not.
	Tokens int32
	// Choices is one more than the largest choice index seen in the event.
	Choices int

	// Finish is the finish reason of the first choice, "" when there is none.
	Finish string
	// End is set by the event that ends the stream, such as [DONE].
	End bool

	// Usage is the server's token counts; valid when HasUsage.
	Usage    Usage
	HasUsage bool
	// Err is set when the event reports a failure.
	Err *Error
}

// Tool is a part of one tool call.
type Tool struct {
	Index           int
	Name, Arguments string
}

// Usage is token counts as the server gave them.
type Usage struct {
	Prompt, Completion, Reasoning, Cached archive.Opt[int]
}

// Merge replaces what is known in v.
func (u *Usage) Merge(v Usage) {
	for _, f := range []struct{ to, from *archive.Opt[int] }{
		{&u.Prompt, &v.Prompt}, {&u.Completion, &v.Completion}, {&u.Reasoning, &v.Reasoning}, {&u.Cached, &v.Cached},
	} {
		if f.from.Known() {
			*f.to = *f.from
		}
	}
}

// Error is a failure that the server reports in a body.
type Error struct {
	Code    archive.Opt[int] // an HTTP status code, where the server gives one
	Type    string           // the server's word for the kind, such as "InternalServerError"
	Message string
	// Param is the request field that the server blames, "" when it blames none.
	Param string
}

// Paths counts events by the path that read them.
type Paths struct {
	Learned int64 // byte comparison with a learned template
	Decoded int64 // full JSON
}
