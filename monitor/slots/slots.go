// Package slots reads the route /slots of llama.cpp's server: what each of its slots does.
// Newer builds tell their cache use nowhere else.
//
// Values: slots_busy, slots_total, kv_cache_tokens_used and kv_cache_tokens_capacity (of the
// slots that work), kv_cache_usage, kv_cache_usage_max (the fullest slot), and
// generation_tokens_in_flight (tokens generated so far by requests that are not over).
package slots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
)

const maxBody = 8 << 20 // older builds put each slot's prompt into the answer

// Source reads the route. It is used by one goroutine at a time.
type Source struct {
	client *http.Client
	url    string
	header http.Header
}

// New reads the route of the server at base.
func New(client *http.Client, base string, header http.Header) *Source {
	return &Source{client: client, url: base + "/slots", header: header}
}

// Kind is archive.SourceEngine.
func (s *Source) Kind() string { return archive.SourceEngine }

// Target is the route's address without credentials.
func (s *Source) Target() string { return engines.Redact(s.url) }

// Read takes one reading. Nothing of a slot's prompt or answer is kept.
func (s *Source) Read(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, errors.New("the slots address is not a URL")
	}
	if s.header != nil {
		req.Header = s.header.Clone()
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, fmt.Errorf("read slots: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("read slots: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read slots: status %d", resp.StatusCode)
	}
	return Parse(b)
}

type slot struct {
	NCtx         float64  `json:"n_ctx"`
	IsProcessing *bool    `json:"is_processing"`
	State        *int     `json:"state"` // older builds: 1 is busy
	Prompt       *float64 `json:"n_prompt_tokens"`
	Past         *float64 `json:"n_past"`
	Next         next     `json:"next_token"`
}

type next struct{ decoded float64 }

// UnmarshalJSON takes the object of older builds and the list of newer ones.
func (n *next) UnmarshalJSON(b []byte) error {
	one := struct {
		Decoded float64 `json:"n_decoded"`
	}{}
	if len(b) > 0 && b[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		if len(list) == 0 {
			return nil
		}
		b = list[0]
	}
	err := json.Unmarshal(b, &one)
	n.decoded = one.Decoded
	return err
}

// Parse reads the route's answer.
func Parse(b []byte) (map[string]float64, error) {
	var all []slot
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("slots: not the list that llama.cpp sends: %w", err)
	}
	if len(all) == 0 {
		return nil, errors.New("slots: the list is empty")
	}
	v := map[string]float64{"slots_total": float64(len(all))}
	busy, used, capacity, flight, fullest, told := 0.0, 0.0, 0.0, 0.0, 0.0, true
	for _, s := range all {
		capacity += s.NCtx
		if working := s.IsProcessing != nil && *s.IsProcessing || s.State != nil && *s.State == 1; !working {
			continue
		}
		busy++
		flight += s.Next.decoded
		held := s.Prompt
		if held == nil {
			held = s.Past
		}
		if held == nil {
			told = false
			continue
		}
		used += *held
		if s.NCtx > 0 {
			fullest = max(fullest, *held/s.NCtx)
		}
	}
	v["slots_busy"], v["generation_tokens_in_flight"] = busy, flight
	if capacity > 0 {
		v["kv_cache_tokens_capacity"] = capacity
		if told {
			v["kv_cache_tokens_used"], v["kv_cache_usage"], v["kv_cache_usage_max"] = used, used/capacity, fullest
		}
	}
	return v, nil
}
