package delta

import "bytes"

// The fields that hold text, by channel.
var (
	answerKeys    = [][]byte{[]byte(`"content"`), []byte(`"text"`), []byte(`"delta"`), []byte(`"text_output"`)}
	reasoningKeys = [][]byte{[]byte(`"reasoning_content"`), []byte(`"reasoning"`), []byte(`"thinking"`), []byte(`"delta"`)}
)

// probe stands in the place of an event's text while a template is tried.
const probe = "\x7fa text that no server sends\x7f"

const (
	maxStrikes = 4  // templates learned in vain before learning is rationed
	ration     = 64 // learnable events let pass between two attempts then
	maxTries   = 4  // places tried in one event
)

// learn makes a template of an event that the full path has read as d, if the event
// carries one text and nothing else.
func (c *Decoder) learn(event, data []byte, d *Delta) {
	if (len(d.Answer) > 0) == (len(d.Reasoning) > 0) || !onlyText(d) {
		return
	}
	if c.skip > 0 {
		c.skip--
		return
	}
	reasoning := len(d.Reasoning) > 0
	keys := answerKeys
	if reasoning {
		keys = reasoningKeys
	}
	if bytes.Contains(data, []byte(probe)) {
		return
	}
	tries := 0
	for _, key := range keys {
		for at := 0; ; {
			i := bytes.Index(data[at:], key)
			if i < 0 || tries == maxTries {
				break
			}
			at += i + len(key)
			from, to, ok := stringAfterColon(data, at)
			if !ok {
				continue
			}
			tries++
			if c.proves(event, data, from, to, d) {
				c.keep(event, data[:from], data[to:], d)
				return
			}
		}
	}
	c.strike()
}

func onlyText(d *Delta) bool {
	return d.Finish == "" && !d.End && !d.HasUsage && d.Err == nil && len(d.Tools) == 0 && d.Choices == 1
}

// stringAfterColon returns the inside of the string that is the value of a key which ends
// at.
func stringAfterColon(data []byte, at int) (from, to int, ok bool) {
	for seen := false; at < len(data); at++ {
		switch b := data[at]; {
		case b == ' ' || b == '\t':
		case b == ':' && !seen:
			seen = true
		case b == '"' && seen:
			for to = at + 1; to < len(data); to++ {
				switch data[to] {
				case '\\':
					to++
				case '"':
					return at + 1, to, true
				}
			}
			return 0, 0, false
		default:
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// proves reports whether the string inside data[from:to] is what the event's text comes
// from: with another text there the full path reads that text and nothing else, and with
// none it reads nothing.
func (c *Decoder) proves(event, data []byte, from, to int, as *Delta) bool {
	reasoning := len(as.Reasoning) > 0
	var trial Decoder
	trial.Dialect = c.Dialect
	for _, text := range []string{probe, ""} {
		b := make([]byte, 0, len(data)+len(probe))
		b = append(append(append(b, data[:from]...), text...), data[to:]...)
		var d Delta
		if trial.full(event, b, &d) != nil || !onlyText(&d) || d.Tokens != as.Tokens {
			return false
		}
		got, other := d.Answer, d.Reasoning
		if reasoning {
			got, other = other, got
		}
		if string(got) != text || len(other) > 0 || d.Bearing != (text != "") || d.Answering != (text != "" && !reasoning) {
			return false
		}
	}
	return true
}

// keep stores a template in place of the one that its channel had, or else in the free or
// older slot.
func (c *Decoder) keep(event, prefix, suffix []byte, as *Delta) {
	reasoning := len(as.Reasoning) > 0
	t := &c.slots[c.next]
	for i := range c.slots {
		if s := &c.slots[i]; s.suffix != nil && s.reasoning == reasoning {
			t = s
			break
		}
	}
	if t == &c.slots[c.next] {
		c.next = 1 - c.next
	}
	if t.suffix != nil && !t.used {
		c.strike()
	}
	t.prefix = append(t.prefix[:0], prefix...)
	t.suffix = append(t.suffix[:0], suffix...)
	t.event = append(t.event[:0], event...)
	t.tokens, t.reasoning, t.used = as.Tokens, reasoning, false
}

// strike counts an attempt that brought nothing.
func (c *Decoder) strike() {
	if c.strikes++; c.strikes >= maxStrikes {
		c.skip = ration
	}
}
