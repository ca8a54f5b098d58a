package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/inferencebench/inferencebench/loadgen/delta"
	"github.com/inferencebench/inferencebench/tasks"
)

// api is how one endpoint is spoken.
type api struct {
	path      string // below the root or the version; MODEL stands for the model's name
	wholePath string // for replies that are not streamed, where it differs
	versioned bool   // the path lies below a version segment
	dialect   delta.Dialect
	lines     bool // a stream is lines of JSON, not server-sent events
	endless   bool // a stream has no end of its own: the end of the body is its end
	openAI    bool // max_tokens and stream_options mean what they mean in chat completions
	fields    func(c *Client, call *Call, s shape) []field
}

func apiOf(e Endpoint) (*api, error) {
	switch e {
	case EndpointChat:
		return &api{path: "/chat/completions", versioned: true, openAI: true, fields: openAIFields}, nil
	case EndpointCompletions:
		return &api{path: "/completions", versioned: true, openAI: true, fields: openAIFields}, nil
	case EndpointResponses:
		return &api{path: "/responses", versioned: true, dialect: delta.Responses, fields: responsesFields}, nil
	case EndpointMessages:
		return &api{path: "/messages", versioned: true, dialect: delta.Messages, fields: messagesFields}, nil
	case EndpointOllama:
		return &api{path: "/api/chat", dialect: delta.Ollama, lines: true, fields: ollamaFields}, nil
	case EndpointTGI:
		return &api{path: "/generate_stream", wholePath: "/generate", dialect: delta.TGI, fields: tgiFields}, nil
	case EndpointTriton:
		return &api{path: "/v2/models/MODEL/generate_stream", wholePath: "/v2/models/MODEL/generate", dialect: delta.Triton, endless: true, fields: tritonFields}, nil
	}
	return nil, fmt.Errorf("endpoint %q is not known: want chat, completions, responses, messages, ollama, tgi or triton", e)
}

// sampling adds temperature and stop sequences under the given names.
func (call *Call) sampling(to []field, temperature, stop string) []field {
	if t, ok := call.Temperature.Get(); ok {
		to = append(to, field{temperature, t})
	}
	if len(call.Stop) > 0 {
		to = append(to, field{stop, call.Stop})
	}
	return to
}

func (call *Call) limit(to []field, name string) []field {
	if call.MaxTokens > 0 {
		to = append(to, field{name, call.MaxTokens})
	}
	return to
}

func openAIFields(c *Client, call *Call, s shape) []field {
	f := []field{{"model", c.cfg.Model}}
	if c.cfg.Endpoint == EndpointCompletions {
		f = append(f, field{"prompt", call.prompt()})
	} else {
		f = append(f, field{"messages", call.messages()})
	}
	f = append(f, field{"stream", !c.cfg.NoStream})
	if s.usage {
		f = append(f, field{"stream_options", json.RawMessage(`{"include_usage":true}`)})
	}
	f = call.sampling(call.limit(f, s.maxTokens), "temperature", "stop")
	if call.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
	return f
}

func responsesFields(c *Client, call *Call, _ shape) []field {
	f := []field{{"model", c.cfg.Model}, {"input", call.messages()}, {"stream", !c.cfg.NoStream}}
	f = call.sampling(call.limit(f, "max_output_tokens"), "temperature", "stop")
	if call.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
	return f
}

func messagesFields(c *Client, call *Call, _ shape) []field {
	system, rest := call.split()
	f := []field{{"model", c.cfg.Model}}
	if system != "" {
		f = append(f, field{"system", system})
	}
	f = append(f, field{"messages", rest}, field{"stream", !c.cfg.NoStream})
	return call.sampling(call.limit(f, "max_tokens"), "temperature", "stop_sequences")
}

func ollamaFields(c *Client, call *Call, _ shape) []field {
	options := map[string]any{}
	for _, o := range call.sampling(call.limit(nil, "num_predict"), "temperature", "stop") {
		options[o.name] = o.value
	}
	f := []field{{"model", c.cfg.Model}, {"messages", call.messages()}, {"stream", !c.cfg.NoStream}}
	if len(options) > 0 {
		f = append(f, field{"options", options})
	}
	return f
}

func tgiFields(_ *Client, call *Call, _ shape) []field {
	parameters := map[string]any{"details": true}
	for _, p := range call.sampling(call.limit(nil, "max_new_tokens"), "temperature", "stop") {
		parameters[p.name] = p.value
	}
	// This server refuses a temperature of 0 and is greedy when it is told not to sample.
	if t, ok := call.Temperature.Get(); ok && t == 0 {
		delete(parameters, "temperature")
		parameters["do_sample"] = false
	}
	return []field{{"inputs", call.prompt()}, {"parameters", parameters}}
}

func tritonFields(c *Client, call *Call, _ shape) []field {
	f := []field{{"text_input", call.prompt()}, {"stream", !c.cfg.NoStream}}
	return call.sampling(call.limit(f, "max_tokens"), "temperature", "stop_words")
}

// messages returns the conversation for a chat endpoint.
func (call *Call) messages() []tasks.Message {
	if len(call.Messages) == 0 {
		return []tasks.Message{{Role: "user", Content: call.Prompt}}
	}
	return call.Messages
}

// split returns the system messages as one text, and the others.
func (call *Call) split() (system string, rest []tasks.Message) {
	var parts []string
	for _, m := range call.messages() {
		if m.Role == "system" {
			parts = append(parts, m.Content)
		} else {
			rest = append(rest, m)
		}
	}
	return strings.Join(parts, "\n\n"), rest
}

// prompt returns the text for an endpoint without messages.
func (call *Call) prompt() string {
	if call.Prompt != "" || len(call.Messages) == 0 {
		return call.Prompt
	}
	parts := make([]string, len(call.Messages))
	for i, m := range call.Messages {
		parts[i] = m.Content
	}
	return strings.Join(parts, "\n\n")
}
