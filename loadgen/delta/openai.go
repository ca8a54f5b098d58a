package delta

import (
	"encoding/json"
	"errors"
	"strings"
)

// openAIEvent is a chunk of a chat completion or completion, or a whole one.
type openAIEvent struct {
	Choices []openAIChoice  `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Timings json.RawMessage `json:"timings"` // llama.cpp
	XGroq   struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
}

type openAIChoice struct {
	Index        int             `json:"index"`
	Delta        openAIText      `json:"delta"`
	Message      openAIText      `json:"message"`
	Text         string          `json:"text"`
	FinishReason string          `json:"finish_reason"`
	Logprobs     openAILogprobs  `json:"logprobs"`
	TokenIDs     []int           `json:"token_ids"`
	Usage        json.RawMessage `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

type openAILogprobs struct {
	Content []struct{} `json:"content"`
	Tokens  []string   `json:"tokens"`
}

type openAIText struct {
	Content          json.RawMessage `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ToolCalls        []openAITool    `json:"tool_calls"`
	FunctionCall     openAIFunction  `json:"function_call"`
}

type openAITool struct {
	Index    *int           `json:"index"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// unmarshal reads valid JSON as far as its values have the expected types: a field of
// another type is left out, as if it were absent.
func unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		return nil
	}
	return err
}

func (c *Decoder) openAI(event, data []byte, d *Delta) error {
	if err := isObject(data); err != nil {
		return err
	}
	var e openAIEvent
	if err := unmarshal(data, &e); err != nil {
		return err
	}
	answer, reasoning := "", ""
	for i := range e.Choices {
		ch := &e.Choices[i]
		if ch.Index < 0 || ch.Index > 1<<16 {
			ch.Index = 0
		}
		d.Choices = max(d.Choices, ch.Index+1)
		a := text(ch.Delta.Content) + ch.Delta.Refusal + text(ch.Message.Content) + ch.Message.Refusal + ch.Text
		r := ch.Delta.reasoning() + ch.Message.reasoning()
		tools := append(ch.Delta.tools(), ch.Message.tools()...)
		if a != "" || r != "" || len(tools) > 0 {
			d.Bearing = true
		}
		if a != "" {
			d.Answering = true
		}
		d.usage(ch.Usage)
		if d.Err == nil {
			d.Err = parseError(ch.Error)
		}
		if ch.Index != 0 {
			continue
		}
		answer, reasoning = answer+a, reasoning+r
		d.Tools = append(d.Tools, tools...)
		d.Tokens += int32(max(len(ch.TokenIDs), len(ch.Logprobs.Content), len(ch.Logprobs.Tokens)))
		if ch.FinishReason != "" {
			d.Finish = ch.FinishReason
		}
	}
	c.hold(d, answer, reasoning)
	d.usage(e.XGroq.Usage)
	d.usage(e.Usage)
	if !d.HasUsage {
		d.timings(e.Timings)
	}
	if d.Err == nil && len(e.Choices) == 0 {
		d.Err = eventError(event, data)
	} else if d.Err == nil {
		d.Err = topError(data)
	}
	return nil
}

// hold puts the texts into the decoder's own memory.
func (c *Decoder) hold(d *Delta, answer, reasoning string) {
	c.scratch = append(append(c.scratch[:0], answer...), reasoning...)
	d.Answer, d.Reasoning = c.scratch[:len(answer):len(answer)], c.scratch[len(answer):]
}

func (t *openAIText) reasoning() string {
	for _, raw := range []json.RawMessage{t.ReasoningContent, t.Reasoning, t.ReasoningDetails} {
		if s := text(raw); s != "" {
			return s
		}
	}
	return ""
}

func (t *openAIText) tools() []Tool {
	var out []Tool
	for i, call := range t.ToolCalls {
		index := i
		if call.Index != nil {
			index = *call.Index
		}
		out = call.Function.append(out, index)
	}
	return t.FunctionCall.append(out, 0)
}

func (f *openAIFunction) append(to []Tool, index int) []Tool {
	args := text(f.Arguments)
	if args == "" && len(f.Arguments) > 0 && f.Arguments[0] == '{' {
		args = string(f.Arguments)
	}
	if f.Name == "" && args == "" {
		return to
	}
	return append(to, Tool{Index: index, Name: f.Name, Arguments: args})
}

// text returns the text of a field that is a string, or a list of strings and of objects
// whose text is in one of the usual places; "" for anything else.
func text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	case '[':
		var parts []json.RawMessage
		if json.Unmarshal(raw, &parts) != nil {
			return ""
		}
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(text(p))
		}
		return b.String()
	case '{':
		var o struct {
			Text    json.RawMessage `json:"text"`
			Summary json.RawMessage `json:"summary"`
			Content json.RawMessage `json:"content"`
		}
		if unmarshal(raw, &o) != nil {
			return ""
		}
		for _, r := range []json.RawMessage{o.Text, o.Summary, o.Content} {
			if s := text(r); s != "" {
				return s
			}
		}
	}
	return ""
}
