package roofline

import (
	"encoding/json"
	"fmt"
)

// maxConfig bounds a config.json.
const maxConfig = 1 << 20

// ParseConfig reads a model shape from the bytes of a Hugging Face config.json. Nested
// text_config objects of multimodal models are followed. The error names what is missing.
func ParseConfig(b []byte) (Model, error) {
	if len(b) > maxConfig {
		return Model{}, fmt.Errorf("config.json: %d bytes is more than %d", len(b), maxConfig)
	}
	var c hfConfig
	if err := json.Unmarshal(b, &c); err != nil {
		return Model{}, fmt.Errorf("config.json: %w", err)
	}
	if c.Text != nil && c.Layers == 0 {
		quant := c.Quant
		c = *c.Text
		if c.Quant == nil {
			c.Quant = quant
		}
	}
	m := Model{
		Name: c.Type, Layers: c.Layers, Hidden: c.Hidden, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim,
		FF: c.FF, Vocab: c.Vocab, Tied: c.Tied, MaxPositions: c.MaxPositions,
		Experts: first(c.LocalExperts, c.NumExperts, c.RoutedExperts), TopK: first(c.PerTok, c.TopK), ExpertFF: c.MoEFF, DenseLayers: c.FirstDense,
	}
	if m.KVHeads == 0 {
		m.KVHeads = m.Heads
	}
	if m.HeadDim == 0 && m.Heads > 0 {
		m.HeadDim = m.Hidden / m.Heads
	}
	if m.Experts > 0 && m.ExpertFF == 0 {
		m.ExpertFF = m.FF
	}
	m.SharedFF = c.SharedFF
	if m.SharedFF == 0 {
		m.SharedFF = c.SharedExperts * m.ExpertFF
	}
	if c.KVRank > 0 {
		m.Latent = c.KVRank + c.RopeDim
	}
	if c.Window != nil && *c.Window > 0 && (c.UseWindow == nil || *c.UseWindow) {
		m.Window = *c.Window
		for _, kind := range c.LayerTypes {
			if kind == "full_attention" {
				m.FullEvery++
			}
		}
		if m.FullEvery > 0 {
			m.FullEvery = max(1, m.Layers/m.FullEvery)
		}
		if c.Pattern > 0 {
			m.FullEvery = c.Pattern
		}
	}
	m.WeightBytes, _ = DTypeBytes(c.DType)
	if c.Quant != nil {
		switch {
		case c.Quant.Bits == 4:
			m.WeightBytes = 0.56
		case c.Quant.Bits == 8:
			m.WeightBytes = 1
		default:
			if w, ok := DTypeBytes(c.Quant.Method); ok {
				m.WeightBytes = w
			}
		}
	}
	if err := m.Validate(); err != nil {
		return Model{}, fmt.Errorf("config.json: %w", err)
	}
	return m, nil
}

func first(vs ...int) int {
	for _, v := range vs {
		if v > 0 {
			return v
		}
	}
	return 0
}

// hfConfig is the part of a config.json that tells the shape.
type hfConfig struct {
	Type         string    `json:"model_type"`
	Layers       int       `json:"num_hidden_layers"`
	Hidden       int       `json:"hidden_size"`
	Heads        int       `json:"num_attention_heads"`
	KVHeads      int       `json:"num_key_value_heads"`
	HeadDim      int       `json:"head_dim"`
	FF           int       `json:"intermediate_size"`
	Vocab        int       `json:"vocab_size"`
	Tied         bool      `json:"tie_word_embeddings"`
	MaxPositions int       `json:"max_position_embeddings"`
	DType        string    `json:"torch_dtype"`
	Window       *int      `json:"sliding_window"`
	UseWindow    *bool     `json:"use_sliding_window"`
	Pattern      int       `json:"sliding_window_pattern"`
	LayerTypes   []string  `json:"layer_types"`
	KVRank       int       `json:"kv_lora_rank"`
	RopeDim      int       `json:"qk_rope_head_dim"`
	LocalExperts int       `json:"num_local_experts"`
	NumExperts   int       `json:"num_experts"`
	Text         *hfConfig `json:"text_config"`

	RoutedExperts int `json:"n_routed_experts"`
	PerTok        int `json:"num_experts_per_tok"`
	TopK          int `json:"experts_per_token"`
	MoEFF         int `json:"moe_intermediate_size"`
	SharedExperts int `json:"n_shared_experts"`
	SharedFF      int `json:"shared_expert_intermediate_size"`
	FirstDense    int `json:"first_k_dense_replace"`
	Quant         *struct {
		Method string `json:"quant_method"`
		Bits   int    `json:"bits"`
	} `json:"quantization_config"`
}
