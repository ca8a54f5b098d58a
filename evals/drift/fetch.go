package drift

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Source asks a server for log-probabilities over the OpenAI chat API. It is safe for
// concurrent use.
type Source struct {
	Client *http.Client
	// Base is the server's address without /v1; Header holds its key, where it needs one.
	Base   string
	Header http.Header
	Model  string
	// Top is how many alternatives are asked for at each position; 20 is what most servers
	// allow.
	Top int
}

// ErrNoLogprobs means that the server answered without log-probabilities: there is
// nothing to compare, and no drift can be claimed or denied.
var ErrNoLogprobs = errors.New("the server gives no log-probabilities")

// maxLogprobs bounds the size of one answer.
const maxLogprobs = 32 << 20

// Fetch asks one prompt at temperature 0 and returns the reply with its positions.
func (s *Source) Fetch(ctx context.Context, prompt string, maxTokens int) (Reply, []Position, error) {
	body, err := json.Marshal(map[string]any{
		"model": s.Model, "messages": []map[string]string{{"role": "user", "content": prompt}},
		"max_tokens": maxTokens, "temperature": 0, "logprobs": true, "top_logprobs": s.Top, "stream": false,
	})
	if err != nil {
		return Reply{}, nil, fmt.Errorf("log-probabilities: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.Base, "/")+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return Reply{}, nil, fmt.Errorf("log-probabilities: %w", err)
	}
	for k, v := range s.Header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.Client.Do(req)
	if err != nil {
		return Reply{}, nil, fmt.Errorf("log-probabilities: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxLogprobs))
	if err != nil {
		return Reply{}, nil, fmt.Errorf("log-probabilities: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return Reply{}, nil, fmt.Errorf("%w: it answers %s", ErrNoLogprobs, resp.Status)
	}
	return parse(raw)
}

// parse reads a chat completion with log-probabilities.
func parse(raw []byte) (Reply, []Position, error) {
	var v struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
			Logprobs *struct {
				Content []struct {
					Token   string   `json:"token"`
					LogProb *float64 `json:"logprob"`
					Top     []struct {
						Token   string  `json:"token"`
						LogProb float64 `json:"logprob"`
					} `json:"top_logprobs"`
				} `json:"content"`
			} `json:"logprobs"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return Reply{}, nil, fmt.Errorf("log-probabilities: not a chat completion: %w", err)
	}
	if len(v.Choices) == 0 || v.Choices[0].Logprobs == nil || len(v.Choices[0].Logprobs.Content) == 0 {
		return Reply{}, nil, ErrNoLogprobs
	}
	r := Reply{Text: v.Choices[0].Message.Content}
	var out []Position
	for _, c := range v.Choices[0].Logprobs.Content {
		if c.LogProb == nil {
			return Reply{}, nil, ErrNoLogprobs
		}
		p := Position{Token: c.Token, LogProb: *c.LogProb, Top: map[string]float64{c.Token: *c.LogProb}}
		for _, t := range c.Top {
			p.Top[t.Token] = t.LogProb
		}
		r.Tokens = append(r.Tokens, c.Token)
		out = append(out, p)
	}
	return r, out, nil
}
