package delta

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/inferencebench/inferencebench/archive"
)

// openAIUsage is a usage object, with the places where servers put the parts.
type openAIUsage struct {
	PromptTokens     num `json:"prompt_tokens"`
	CompletionTokens num `json:"completion_tokens"`
	ReasoningTokens  num `json:"reasoning_tokens"`        // SGLang
	CacheHit         num `json:"prompt_cache_hit_tokens"` // DeepSeek
	CachedTokens     num `json:"cached_tokens"`
	InputTokens      num `json:"input_tokens"`
	OutputTokens     num `json:"output_tokens"`
	CacheRead        num `json:"cache_read_input_tokens"`
	CacheCreation    num `json:"cache_creation_input_tokens"`

	PromptDetails     openAIDetails `json:"prompt_tokens_details"`
	CompletionDetails openAIDetails `json:"completion_tokens_details"`
	InputDetails      openAIDetails `json:"input_tokens_details"`
	OutputDetails     openAIDetails `json:"output_tokens_details"`
}

type openAIDetails struct {
	CachedTokens    num `json:"cached_tokens"`
	ReasoningTokens num `json:"reasoning_tokens"`
}

// num is a count of tokens; anything that cannot be one is unknown.
type num struct{ archive.Opt[int] }

// UnmarshalJSON takes a number that is whole and not negative. It never fails.
func (n *num) UnmarshalJSON(b []byte) error {
	if f, err := strconv.ParseFloat(string(b), 64); err == nil && f >= 0 && f < 1<<40 && f == math.Trunc(f) {
		n.Opt = archive.Some(int(f))
	}
	return nil
}

// count takes the first that is known.
func count(ns ...num) archive.Opt[int] {
	for _, n := range ns {
		if n.Known() {
			return n.Opt
		}
	}
	return archive.Opt[int]{}
}

// usage merges a usage object, if raw is one.
func (d *Delta) usage(raw json.RawMessage) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	var u openAIUsage
	if unmarshal(raw, &u) != nil {
		return
	}
	got := Usage{
		Prompt:     count(u.PromptTokens, u.InputTokens),
		Completion: count(u.CompletionTokens, u.OutputTokens),
		Reasoning:  count(u.CompletionDetails.ReasoningTokens, u.OutputDetails.ReasoningTokens, u.ReasoningTokens),
		Cached:     count(u.PromptDetails.CachedTokens, u.InputDetails.CachedTokens, u.CacheHit, u.CachedTokens, u.CacheRead),
	}
	d.merge(got)
}

func (d *Delta) merge(u Usage) {
	if u != (Usage{}) {
		d.HasUsage = true
		d.Usage.Merge(u)
	}
}

// timings takes llama.cpp's own counts, for its builds and endpoints that send no usage.
func (d *Delta) timings(raw json.RawMessage) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	var t struct {
		Cached    num `json:"cache_n"`
		Prompt    num `json:"prompt_n"`
		Predicted num `json:"predicted_n"`
	}
	if unmarshal(raw, &t) != nil {
		return
	}
	u := Usage{Completion: count(t.Predicted), Cached: count(t.Cached)}
	if n, ok := count(t.Prompt).Get(); ok {
		u.Prompt = archive.Some(n + u.Cached.Or(0))
	}
	d.merge(u)
}
