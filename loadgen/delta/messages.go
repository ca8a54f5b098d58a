package delta

import (
	"encoding/json"

	"github.com/inferencebench/inferencebench/archive"
)

// messagesEvent is an event of Anthropic's messages API, or a whole message.
type messagesEvent struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Delta        messagesDelta   `json:"delta"`
	ContentBlock messagesBlock   `json:"content_block"`
	Message      messagesMessage `json:"message"`
	messagesMessage
}

type messagesDelta struct {
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
}

type messagesMessage struct {
	Content    []messagesBlock `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

type messagesBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
}

func (c *Decoder) messages(event, data []byte, d *Delta) error {
	if err := isObject(data); err != nil {
		return err
	}
	var e messagesEvent
	if err := unmarshal(data, &e); err != nil {
		return err
	}
	d.Choices = 1
	switch e.Type {
	case "message_start":
		d.messagesUsage(e.Message.Usage)
	case "content_block_start":
		b := e.ContentBlock
		c.put(d, b.Text, b.Thinking)
		d.tool(e.Index, b.Name, "")
	case "content_block_delta":
		c.put(d, e.Delta.Text, e.Delta.Thinking)
		d.tool(e.Index, "", e.Delta.PartialJSON)
	case "message_delta":
		d.Finish = finishWord(e.Delta.StopReason)
		d.messagesUsage(e.Usage)
	case "message_stop":
		d.End = true
	case "message":
		answer, reasoning := "", ""
		for i, b := range e.Content {
			answer, reasoning = answer+b.Text, reasoning+b.Thinking
			d.tool(i, b.Name, string(b.Input))
		}
		c.put(d, answer, reasoning)
		d.Finish = finishWord(e.StopReason)
		d.messagesUsage(e.Usage)
	case "error", "":
		d.Err = eventError(event, data)
	}
	return nil
}

// messagesUsage merges a usage object of this API, whose prompt count leaves out what came
// from the cache or went into it.
func (d *Delta) messagesUsage(raw json.RawMessage) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	var u openAIUsage
	if unmarshal(raw, &u) != nil {
		return
	}
	got := Usage{Completion: count(u.OutputTokens), Cached: count(u.CacheRead)}
	if n, ok := count(u.InputTokens).Get(); ok {
		got.Prompt = archive.Some(n + got.Cached.Or(0) + count(u.CacheCreation).Or(0))
	}
	d.merge(got)
}
