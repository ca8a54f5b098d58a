package token

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

// ErrNoTokenize is in the chain of the error for a server that has no tokenizer to ask.
var ErrNoTokenize = errors.New("the server has no /tokenize")

// Remote asks a server for counts, by the /tokenize of vLLM, SGLang or llama.cpp. It is for
// calibration and for reports: a call takes a round trip. It is safe for concurrent use.
type Remote struct {
	// Base is the server's base URL without /v1; Model is sent along.
	Base, Model string
	Client      *http.Client // nil is http.DefaultClient
	Header      http.Header  // added to every request
}

// maxReply bounds a reply of /tokenize, which may list every token.
const maxReply = 256 << 20

// Count asks for the number of tokens of a text on its own.
func (r *Remote) Count(ctx context.Context, text string) (int, error) {
	// One body that all of the servers take: each reads the key that it knows.
	body, err := json.Marshal(map[string]any{"model": r.Model, "prompt": text, "content": text, "add_special_tokens": false, "add_special": false})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(r.Base, "/")+"/tokenize", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for k, v := range r.Header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	client := r.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("tokenize: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%w: status %d", ErrNoTokenize, resp.StatusCode)
	}
	var o struct {
		Count  *int              `json:"count"`
		Tokens []json.RawMessage `json:"tokens"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxReply)).Decode(&o); err != nil {
		return 0, fmt.Errorf("%w: its reply is not JSON", ErrNoTokenize)
	}
	switch {
	case o.Count != nil && *o.Count >= 0:
		return *o.Count, nil
	case o.Tokens != nil:
		return len(o.Tokens), nil
	}
	return 0, fmt.Errorf("%w: its reply has neither count nor tokens", ErrNoTokenize)
}
