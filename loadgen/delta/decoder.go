package delta

import (
	"bytes"
	"errors"
	"fmt"
)

// Dialect is the shape of a server's events.
type Dialect uint8

// The dialects.
const (
	OpenAI    Dialect = iota // chat completions and completions, streamed or whole
	Responses                // OpenAI responses
	Messages                 // Anthropic messages
	Ollama                   // Ollama's own lines of JSON
	TGI                      // text-generation-inference's generate
	Triton                   // Triton's generate extension
)

// Decoder reads the events of one reply. The zero Decoder reads OpenAI events. It is not
// safe for concurrent use.
type Decoder struct {
	Dialect Dialect
	// NoLearning sends every event down the full path.
	NoLearning bool

	slots   [2]template
	next    int // slot that the next template goes to
	strikes int // templates in a row that were learned and never matched
	skip    int // learnable events to let pass before learning again
	scratch []byte
	paths   Paths
}

// template is the bytes around the one text of an event.
type template struct {
	event          []byte // the event's type
	prefix, suffix []byte
	tokens         int32
	reasoning      bool
	used           bool
}

// ErrNotJSON is what Decode's errors wrap when the data is no valid JSON object.
var ErrNotJSON = errors.New("not a JSON object")

// Decode reads the data of one event, and its type where it has one, into d, which it
// overwrites. The error is set when the data cannot be read; it wraps ErrNotJSON.
func (c *Decoder) Decode(event, data []byte, d *Delta) error {
	for i := range c.slots {
		if t := &c.slots[i]; t.suffix != nil && string(event) == string(t.event) && c.match(t, data, d) {
			t.used = true
			c.strikes = 0
			c.paths.Learned++
			return nil
		}
	}
	*d = Delta{Tools: d.Tools[:0]}
	c.paths.Decoded++
	if err := c.full(event, data, d); err != nil {
		return err
	}
	if !c.NoLearning {
		c.learn(event, data, d)
	}
	return nil
}

// Paths returns how many events each path has read.
func (c *Decoder) Paths() Paths { return c.paths }

// full reads an event with encoding/json.
func (c *Decoder) full(event, data []byte, d *Delta) error {
	var err error
	switch c.Dialect {
	case Responses:
		err = c.responses(event, data, d)
	case Messages:
		err = c.messages(event, data, d)
	case Ollama:
		err = c.ollama(data, d)
	case TGI:
		err = c.tgi(event, data, d)
	case Triton:
		err = c.triton(event, data, d)
	default:
		if string(bytes.TrimSpace(data)) == "[DONE]" {
			d.End = true
			return nil
		}
		err = c.openAI(event, data, d)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	return nil
}

// match reads data by template t, and reports whether it fits.
func (c *Decoder) match(t *template, data []byte, d *Delta) bool {
	n, m := len(t.prefix), len(t.suffix)
	if len(data) < n+m || !bytes.Equal(data[:n], t.prefix) || !bytes.Equal(data[len(data)-m:], t.suffix) {
		return false
	}
	text, ok := c.unquote(data[n : len(data)-m])
	if !ok {
		return false
	}
	*d = Delta{Tools: d.Tools[:0], Choices: 1, Bearing: len(text) > 0, Tokens: t.tokens}
	if t.reasoning {
		d.Reasoning = text
	} else {
		d.Answer, d.Answering = text, len(text) > 0
	}
	return true
}
