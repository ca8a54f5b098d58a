package sim

import (
	"encoding/json"
	"fmt"
)

// maxConfig bounds a model's config.json, in bytes; real ones have a few thousand.
const maxConfig = 1 << 20

// ReadModel reads the shape of a model from its config.json, as published with its
// weights. Fields of a nested text_config are used where the file describes a model of
// several modalities. The error says what is missing or cannot be.
func ReadModel(name string, config []byte) (Model, error) {
	if len(config) > maxConfig {
		return Model{}, fmt.Errorf("model %q: config.json has %d bytes; at most %d are read", name, len(config), maxConfig)
	}
	type fields struct {
		Layers       int      `json:"num_hidden_layers"`
		Hidden       int      `json:"hidden_size"`
		Heads        int      `json:"num_attention_heads"`
		KV           int      `json:"num_key_value_heads"`
		Head         int      `json:"head_dim"`
		FF           int      `json:"intermediate_size"`
		Vocab        int      `json:"vocab_size"`
		MaxLen       int      `json:"max_position_embeddings"`
		Tied         bool     `json:"tie_word_embeddings"`
		LocalExperts int      `json:"num_local_experts"`
		Experts      int      `json:"num_experts"`
		Routed       int      `json:"n_routed_experts"`
		TopK         int      `json:"num_experts_per_tok"`
		ExpertFF     int      `json:"moe_intermediate_size"`
		Shared       int      `json:"n_shared_experts"`
		SharedFF     int      `json:"shared_expert_intermediate_size"`
		Dense        int      `json:"first_k_dense_replace"`
		LoRA         int      `json:"kv_lora_rank"`
		Rope         int      `json:"qk_rope_head_dim"`
		NoPE         int      `json:"qk_nope_head_dim"`
		Window       *int     `json:"sliding_window"`
		UseWindow    *bool    `json:"use_sliding_window"`
		Pattern      int      `json:"sliding_window_pattern"`
		Kinds        []string `json:"layer_types"`
	}
	var c struct {
		fields
		Text *fields `json:"text_config"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return Model{}, fmt.Errorf("model %q: config.json: %w", name, err)
	}
	f := c.fields
	if f.Layers == 0 && c.Text != nil {
		f = *c.Text
	}
	const most = 1 << 20 // of any dimension: products stay far inside a float's whole numbers
	for _, n := range []int{f.Layers, f.Hidden, f.Heads, f.KV, f.Head, f.FF, f.Vocab, f.LocalExperts, f.Experts, f.Routed, f.TopK, f.ExpertFF, f.Shared, f.SharedFF, f.Dense, f.LoRA, f.Rope, f.NoPE, f.Pattern} {
		if n < 0 || n > most {
			return Model{}, fmt.Errorf("model %q: config.json: %d is no dimension of a model", name, n)
		}
	}
	m := Model{
		Name: name, Layers: f.Layers, Hidden: f.Hidden, Heads: f.Heads, KV: f.KV, Head: f.Head, FF: f.FF, Vocab: f.Vocab, MaxLen: min(f.MaxLen, 1<<30), Tied: f.Tied,
		Experts: max(f.LocalExperts, f.Experts, f.Routed), TopK: f.TopK, ExpertFF: f.ExpertFF, SharedFF: max(f.SharedFF, f.Shared*f.ExpertFF), Dense: min(f.Dense, f.Layers),
	}
	if m.KV == 0 {
		m.KV = m.Heads
	}
	if m.Head == 0 && m.Heads > 0 {
		m.Head = m.Hidden / m.Heads
	}
	if f.LoRA > 0 {
		m.Latent = f.LoRA + f.Rope
		if f.NoPE > 0 {
			m.Head = f.NoPE
		}
	}
	if m.Experts > 0 && m.ExpertFF == 0 { // Mixtral names the width of an expert like a dense one's
		m.ExpertFF, m.FF = m.FF, 0
	}
	if f.Window != nil && *f.Window > 0 && *f.Window < m.MaxLen && (f.UseWindow == nil || *f.UseWindow) {
		m.Window, m.Full = *f.Window, f.Pattern
		full := 0
		for _, k := range f.Kinds {
			if k == "full_attention" {
				full++
			}
		}
		switch {
		case full > 0 && full == len(f.Kinds):
			m.Window = 0
		case full > 0:
			m.Full = len(f.Kinds) / full
		}
	}
	return m, m.Validate()
}
