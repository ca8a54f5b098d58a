// Package langchain is model access through langchaingo: OpenAI-compatible servers,
// Anthropic, Google and Ollama behind the one interface of package llm.
//
// Google and Ollama are reached through their OpenAI-compatible endpoints, because the
// library's own adapters for them drop tools or pull in a whole cloud stack.
package langchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/inferencebench/inferencebench/agents/llm"
)

// Provider is who serves the model.
type Provider string

// The providers.
const (
	OpenAI    Provider = "openai" // any server that speaks its API
	Anthropic Provider = "anthropic"
	Google    Provider = "google"
	Ollama    Provider = "ollama"
)

// Config says which model to use.
type Config struct {
	Provider Provider
	Model    string
	// BaseURL of the API, such as http://host:8000/v1; empty is the provider's own.
	BaseURL string
	// Key is the secret; it goes into a header and nowhere else.
	Key string
	// Transport carries the requests, for cassettes; nil is the network.
	Transport http.RoundTripper
	// Timeout of one call; 0 is 60 s.
	Timeout time.Duration
	// Retries after an answer such as 429 or 503.
	Retries int
}

// Default base URLs of providers that are reached through the OpenAI API.
const (
	googleURL = "https://generativelanguage.googleapis.com/v1beta/openai"
	ollamaURL = "http://localhost:11434/v1"
)

// model is one model of one provider.
type model struct {
	name  string
	llm   llms.Model
	plain atomic.Bool // the server refused tools: ask in words
}

// New makes a model. It dials nothing.
func New(c Config) (llm.Model, error) {
	if c.Model == "" {
		return nil, errors.New("the agents' model has no name; set agents.model")
	}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = 60 * time.Second
	}
	client := &http.Client{Timeout: timeout, Transport: &llm.Transport{Next: c.Transport, Retries: c.Retries, Secrets: []string{c.Key}}}
	key := c.Key
	if key == "" {
		key = "none" // the library refuses an empty key, local servers do not ask for one
	}
	m := &model{name: string(c.Provider) + "/" + c.Model}
	var err error
	switch c.Provider {
	case Anthropic:
		opts := []anthropic.Option{anthropic.WithToken(key), anthropic.WithModel(c.Model), anthropic.WithHTTPClient(client)}
		if c.BaseURL != "" {
			opts = append(opts, anthropic.WithBaseURL(c.BaseURL))
		}
		m.llm, err = anthropic.New(opts...)
	case OpenAI, Google, Ollama, "":
		base := c.BaseURL
		if base == "" {
			base = map[Provider]string{Google: googleURL, Ollama: ollamaURL}[c.Provider]
		}
		opts := []openai.Option{openai.WithToken(key), openai.WithModel(c.Model), openai.WithHTTPClient(client)}
		if base != "" {
			opts = append(opts, openai.WithBaseURL(base))
		}
		m.llm, err = openai.New(opts...)
	default:
		return nil, fmt.Errorf("provider %q is not openai, anthropic, google or ollama", c.Provider)
	}
	if err != nil {
		return nil, fmt.Errorf("agents' model: %w", err)
	}
	return m, nil
}

// Name is provider/model.
func (m *model) Name() string { return m.name }

// Generate implements llm.Model. It forces a call of one tool whose parameters are the
// schema; where the server refuses tools it asks for the object in words, from then on.
func (m *model) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if !m.plain.Load() {
		resp, err := m.call(ctx, r, true)
		se, ok := llm.AsStatus(err)
		if !ok || se.Code != 400 && se.Code != 404 && se.Code != 422 && se.Code != 500 && se.Code != 501 {
			return resp, err
		}
		m.plain.Store(true)
	}
	return m.call(ctx, r, false)
}

func (m *model) call(ctx context.Context, r llm.Request, tools bool) (llm.Response, error) {
	opts := []llms.CallOption{llms.WithTemperature(r.Temperature), llms.WithMaxTokens(r.MaxTokens), openai.WithLegacyMaxTokensField()}
	user := r.User
	if tools {
		opts = append(opts,
			llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
				Name: r.Tool, Description: "Give your answer.", Parameters: r.Schema,
			}}}),
			llms.WithToolChoice(llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: r.Tool}}))
	} else {
		user += "\n\nAnswer with one JSON object that meets this schema, and nothing else:\n" + string(r.Schema)
	}
	ctx, caught := llm.Catch(ctx)
	resp, err := m.llm.GenerateContent(ctx, []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, r.System),
		llms.TextParts(llms.ChatMessageTypeHuman, user),
	}, opts...)
	if err != nil {
		return llm.Response{}, caught.Or(err)
	}
	if len(resp.Choices) == 0 {
		return llm.Response{}, errors.New("the model answered with no choice")
	}
	out := llm.Response{}
	for _, c := range resp.Choices { // a provider may give text and tool call as two choices
		out.In, out.Out = max(out.In, count(c, "PromptTokens", "InputTokens")), max(out.Out, count(c, "CompletionTokens", "OutputTokens"))
		for _, t := range c.ToolCalls {
			if out.Answer == nil && t.FunctionCall != nil && json.Valid([]byte(t.FunctionCall.Arguments)) {
				out.Answer, out.Text = json.RawMessage(t.FunctionCall.Arguments), t.FunctionCall.Arguments
			}
		}
		if out.Text == "" {
			out.Text = c.Content
		}
	}
	if out.Answer == nil {
		out.Answer, err = llm.FindJSON(out.Text)
	}
	return out, err
}

// count reads a token count, whose name differs by provider.
func count(c *llms.ContentChoice, names ...string) int {
	for _, n := range names {
		switch v := c.GenerationInfo[n].(type) {
		case int:
			return v
		case int64:
			return int(v)
		case float64:
			return int(v)
		}
	}
	return 0
}
