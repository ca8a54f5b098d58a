package delta

import "encoding/json"

// responsesEvent is an event of the responses API, or a whole response.
type responsesEvent struct {
	Type        string          `json:"type"`
	Delta       json.RawMessage `json:"delta"`
	OutputIndex int             `json:"output_index"`
	Item        responsesItem   `json:"item"`
	Response    json.RawMessage `json:"response"`
	Object      string          `json:"object"`
}

type responsesWhole struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Usage      json.RawMessage `json:"usage"`
	Output     []responsesItem `json:"output"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
}

func (c *Decoder) responses(event, data []byte, d *Delta) error {
	if err := isObject(data); err != nil {
		if string(data) == "[DONE]" {
			d.End = true
			return nil
		}
		return err
	}
	var e responsesEvent
	if err := unmarshal(data, &e); err != nil {
		return err
	}
	d.Choices = 1
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		c.put(d, text(e.Delta), "")
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.reasoning.delta":
		c.put(d, "", text(e.Delta))
	case "response.function_call_arguments.delta":
		d.tool(e.OutputIndex, "", text(e.Delta))
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			d.tool(e.OutputIndex, e.Item.Name, text(e.Item.Arguments))
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		d.End = true
		return c.responseEnd(e.Response, d)
	case "error":
		d.Err = eventError([]byte("error"), data)
	case "":
		if e.Object != "response" {
			d.Err = eventError(event, data)
			return nil
		}
		return c.responseWhole(data, d)
	}
	return nil
}

// responseEnd reads the last event: how it ended, and what was counted.
func (c *Decoder) responseEnd(raw json.RawMessage, d *Delta) error {
	var w responsesWhole
	if len(raw) == 0 {
		return nil
	}
	if err := unmarshal(raw, &w); err != nil {
		return err
	}
	d.responseStatus(&w)
	return nil
}

func (d *Delta) responseStatus(w *responsesWhole) {
	d.usage(w.Usage)
	d.Err = parseError(w.Error)
	switch w.Status {
	case "completed":
		d.Finish = "stop"
	case "incomplete":
		d.Finish = finishWord(w.Incomplete.Reason)
	case "failed", "cancelled":
		if d.Err == nil {
			d.Err = &Error{Type: w.Status, Message: "the response has the status " + w.Status}
		}
	}
}

// responseWhole reads a response that came at once.
func (c *Decoder) responseWhole(data []byte, d *Delta) error {
	var w responsesWhole
	if err := unmarshal(data, &w); err != nil {
		return err
	}
	answer, reasoning := "", ""
	for i, item := range w.Output {
		switch item.Type {
		case "message":
			answer += text(item.Content)
		case "reasoning":
			if s := text(item.Content); s != "" {
				reasoning += s
			} else {
				reasoning += text(item.Summary)
			}
		case "function_call":
			d.tool(i, item.Name, text(item.Arguments))
		}
	}
	c.put(d, answer, reasoning)
	d.responseStatus(&w)
	return nil
}

// put records the texts of the only choice.
func (c *Decoder) put(d *Delta, answer, reasoning string) {
	d.Choices = 1
	d.Answering = answer != ""
	d.Bearing = d.Bearing || answer != "" || reasoning != ""
	c.hold(d, answer, reasoning)
}

// tool records a part of a tool call of the only choice.
func (d *Delta) tool(index int, name, arguments string) {
	d.Choices = 1
	if name != "" || arguments != "" {
		d.Tools = append(d.Tools, Tool{Index: index, Name: name, Arguments: arguments})
		d.Bearing = true
	}
}

// finishWord gives another API's finish reason in the words of chat completions, where
// these have one for it.
func finishWord(s string) string {
	switch s {
	case "end_turn", "stop_sequence", "eos_token", "completed":
		return "stop"
	case "max_tokens", "max_output_tokens", "model_context_window_exceeded":
		return "length"
	case "tool_use":
		return "tool_calls"
	}
	return s
}
