package delta

import (
	"encoding/json"

	"github.com/inferencebench/inferencebench/archive"
)

// ollamaEvent is a line of Ollama's chat or generate API.
type ollamaEvent struct {
	Message struct {
		Content   string       `json:"content"`
		Thinking  string       `json:"thinking"`
		ToolCalls []openAITool `json:"tool_calls"`
	} `json:"message"`
	Response        string `json:"response"`
	Thinking        string `json:"thinking"`
	Done            bool   `json:"done"`
	DoneReason      string `json:"done_reason"`
	PromptEvalCount num    `json:"prompt_eval_count"`
	EvalCount       num    `json:"eval_count"`
}

func (c *Decoder) ollama(data []byte, d *Delta) error {
	if err := isObject(data); err != nil {
		return err
	}
	var e ollamaEvent
	if err := unmarshal(data, &e); err != nil {
		return err
	}
	c.put(d, e.Message.Content+e.Response, e.Message.Thinking+e.Thinking)
	for i, call := range e.Message.ToolCalls {
		for _, t := range call.Function.append(nil, i) {
			d.tool(t.Index, t.Name, t.Arguments)
		}
	}
	if e.Done {
		d.End, d.Finish = true, e.DoneReason
		d.merge(Usage{Prompt: count(e.PromptEvalCount), Completion: count(e.EvalCount)})
	}
	d.Err = topError(data)
	return nil
}

// tgiEvent is an event of text-generation-inference, one token each, or a whole reply.
type tgiEvent struct {
	Token *struct {
		Text    string `json:"text"`
		Special bool   `json:"special"`
	} `json:"token"`
	GeneratedText *string     `json:"generated_text"`
	Details       *tgiDetails `json:"details"`
}

type tgiDetails struct {
	FinishReason    string            `json:"finish_reason"`
	GeneratedTokens num               `json:"generated_tokens"`
	InputLength     num               `json:"input_length"`
	Prefill         []json.RawMessage `json:"prefill"`
}

func (c *Decoder) tgi(event, data []byte, d *Delta) error {
	if err := isObject(data); err != nil {
		return err
	}
	var e tgiEvent
	if err := unmarshal(data, &e); err != nil {
		return err
	}
	switch {
	case e.Token != nil && !e.Token.Special:
		c.put(d, e.Token.Text, "")
		d.Tokens = 1
	case e.Token == nil && e.GeneratedText != nil:
		c.put(d, *e.GeneratedText, "")
	}
	d.End = e.GeneratedText != nil
	if e.Details != nil {
		d.End = true
		d.Finish = finishWord(e.Details.FinishReason)
		u := Usage{Completion: count(e.Details.GeneratedTokens), Prompt: count(e.Details.InputLength)}
		if n := len(e.Details.Prefill); n > 0 && !u.Prompt.Known() {
			u.Prompt = archive.Some(n)
		}
		d.merge(u)
	}
	if e.Token == nil && e.GeneratedText == nil {
		d.Err = eventError(event, data)
	}
	return nil
}

// tritonEvent is an event of Triton's generate extension. It has no end of its own: the
// end of the body is the end of the reply.
type tritonEvent struct {
	TextOutput json.RawMessage `json:"text_output"`
}

func (c *Decoder) triton(event, data []byte, d *Delta) error {
	if err := isObject(data); err != nil {
		return err
	}
	var e tritonEvent
	if err := unmarshal(data, &e); err != nil {
		return err
	}
	c.put(d, text(e.TextOutput), "")
	if len(e.TextOutput) == 0 {
		d.Err = eventError(event, data)
	}
	return nil
}
