package sim

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// Model is the shape of a decoder-only language model: what the arithmetic of a step needs,
// and nothing about its weights' values.
type Model struct {
	Name   string // as served, such as "meta-llama/Llama-3.1-8B-Instruct"
	Layers int    // L
	Hidden int    // d
	Heads  int    // H, query heads
	KV     int    // G, key-value heads
	Head   int    // h, width of one head
	FF     int    // d_ff of a dense layer
	Vocab  int    // V
	MaxLen int    // longest context, tokens
	Tied   bool   // the output head shares the embedding's weights

	Experts  int // experts per mixture layer; 0 for a dense model
	TopK     int // experts that a token uses
	ExpertFF int // d_ff of one expert
	SharedFF int // d_ff of the experts that every token uses
	Dense    int // leading layers that are dense in a mixture model

	Latent int // width of the compressed KV of multi-head latent attention, rope part included; 0 for none
	Window int // sliding window of the layers that have one, tokens; 0 for none
	Full   int // with a window: one layer in Full reads the whole context; 0 means none does
}

var modelTable = []Model{
	{Name: "meta-llama/Llama-3.2-1B-Instruct", Layers: 16, Hidden: 2048, Heads: 32, KV: 8, Head: 64, FF: 8192, Vocab: 128256, MaxLen: 131072, Tied: true},
	{Name: "meta-llama/Llama-3.2-3B-Instruct", Layers: 28, Hidden: 3072, Heads: 24, KV: 8, Head: 128, FF: 8192, Vocab: 128256, MaxLen: 131072, Tied: true},
	{Name: "meta-llama/Llama-3.1-8B-Instruct", Layers: 32, Hidden: 4096, Heads: 32, KV: 8, Head: 128, FF: 14336, Vocab: 128256, MaxLen: 131072},
	{Name: "meta-llama/Llama-3.1-70B-Instruct", Layers: 80, Hidden: 8192, Heads: 64, KV: 8, Head: 128, FF: 28672, Vocab: 128256, MaxLen: 131072},
	{Name: "mistralai/Mistral-7B-Instruct-v0.3", Layers: 32, Hidden: 4096, Heads: 32, KV: 8, Head: 128, FF: 14336, Vocab: 32768, MaxLen: 32768},
	{Name: "mistralai/Mixtral-8x7B-Instruct-v0.1", Layers: 32, Hidden: 4096, Heads: 32, KV: 8, Head: 128, Vocab: 32000, MaxLen: 32768, Experts: 8, TopK: 2, ExpertFF: 14336},
	{Name: "Qwen/Qwen2.5-7B-Instruct", Layers: 28, Hidden: 3584, Heads: 28, KV: 4, Head: 128, FF: 18944, Vocab: 152064, MaxLen: 32768},
	{Name: "Qwen/Qwen3-8B", Layers: 36, Hidden: 4096, Heads: 32, KV: 8, Head: 128, FF: 12288, Vocab: 151936, MaxLen: 40960},
	{Name: "Qwen/Qwen3-32B", Layers: 64, Hidden: 5120, Heads: 64, KV: 8, Head: 128, FF: 25600, Vocab: 151936, MaxLen: 40960},
	{Name: "Qwen/Qwen3-30B-A3B", Layers: 48, Hidden: 2048, Heads: 32, KV: 4, Head: 128, Vocab: 151936, MaxLen: 40960, Experts: 128, TopK: 8, ExpertFF: 768},
	{Name: "Qwen/Qwen3-235B-A22B", Layers: 94, Hidden: 4096, Heads: 64, KV: 4, Head: 128, Vocab: 151936, MaxLen: 40960, Experts: 128, TopK: 8, ExpertFF: 1536},
	{Name: "openai/gpt-oss-20b", Layers: 24, Hidden: 2880, Heads: 64, KV: 8, Head: 64, Vocab: 201088, MaxLen: 131072, Experts: 32, TopK: 4, ExpertFF: 2880, Window: 128, Full: 2},
	{Name: "openai/gpt-oss-120b", Layers: 36, Hidden: 2880, Heads: 64, KV: 8, Head: 64, Vocab: 201088, MaxLen: 131072, Experts: 128, TopK: 4, ExpertFF: 2880, Window: 128, Full: 2},
	{Name: "MiniMaxAI/MiniMax-M2.5", Layers: 62, Hidden: 3072, Heads: 48, KV: 8, Head: 128, Vocab: 200064, MaxLen: 196608, Experts: 256, TopK: 8, ExpertFF: 1536},
	{Name: "deepseek-ai/DeepSeek-V3", Layers: 61, Hidden: 7168, Heads: 128, KV: 128, Head: 128, FF: 18432, Vocab: 129280, MaxLen: 163840, Experts: 256, TopK: 8, ExpertFF: 2048, SharedFF: 2048, Dense: 3, Latent: 576},
}

// LookupModel returns the model of that name. The owner before the slash, a trailing
// "-Instruct" and an "-FP8" suffix may be left out or added; case does not matter.
func LookupModel(name string) (Model, error) {
	want := modelKey(name)
	for _, m := range modelTable {
		if modelKey(m.Name) == want {
			return m, nil
		}
	}
	return Model{}, fmt.Errorf("unknown model %q: known are %s", name, strings.Join(ModelNames(), ", "))
}

func modelKey(name string) string {
	name = strings.ToLower(name)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	name = strings.TrimSuffix(name, "-fp8")
	name = strings.ReplaceAll(name, "-instruct", "")
	return strings.ReplaceAll(name, "deepseek-r1", "deepseek-v3")
}

// ModelNames lists the models with a built-in shape, sorted.
func ModelNames() []string {
	names := make([]string, len(modelTable))
	for i, m := range modelTable {
		names[i] = m.Name
	}
	sort.Strings(names)
	return names
}

// Validate reports a shape that no model can have.
func (m Model) Validate() error {
	switch {
	case m.Layers <= 0 || m.Hidden <= 0 || m.Heads <= 0 || m.KV <= 0 || m.Head <= 0 || m.Vocab <= 0:
		return fmt.Errorf("model %q: layers, hidden size, heads, kv heads, head width and vocabulary must be positive", m.Name)
	case m.Heads%m.KV != 0:
		return fmt.Errorf("model %q: %d query heads are not a multiple of %d kv heads", m.Name, m.Heads, m.KV)
	case m.Experts == 0 && m.FF <= 0:
		return fmt.Errorf("model %q: a dense model needs a feed-forward width", m.Name)
	case m.Experts > 0 && (m.TopK <= 0 || m.TopK > m.Experts || m.ExpertFF <= 0):
		return fmt.Errorf("model %q: a mixture needs 1 to %d experts a token and an expert width", m.Name, m.Experts)
	case m.MaxLen <= 0:
		return fmt.Errorf("model %q: the context length must be positive", m.Name)
	}
	return nil
}

// attnParams is the projection weights of one layer: d·h·(H+2G) + H·h·d, or the factored
// form of latent attention (query rank 1536, rope width 64).
func (m Model) attnParams() float64 {
	d, h, H, G := float64(m.Hidden), float64(m.Head), float64(m.Heads), float64(m.KV)
	if m.Latent > 0 {
		const qRank, rope = 1536, 64
		lat := float64(m.Latent)
		return d*qRank + qRank*H*(h+rope) + d*lat + (lat-rope)*H*2*h + H*h*d
	}
	return d*h*(H+2*G) + H*h*d
}

// layerParams returns the weights of a layer that every token uses and of one expert.
// The first is averaged over dense and mixture layers.
func (m Model) layerParams() (always, expert float64) {
	d := float64(m.Hidden)
	always = m.attnParams()
	if m.Experts == 0 {
		return always + 3*d*float64(m.FF), 0
	}
	dense := float64(m.Dense) / float64(m.Layers)
	always += dense*3*d*float64(m.FF) + (1-dense)*(3*d*float64(m.SharedFF)+d*float64(m.Experts))
	return always, 3 * d * float64(m.ExpertFF)
}

func (m Model) mixtureLayers() float64 {
	if m.Experts == 0 {
		return 0
	}
	return float64(m.Layers - m.Dense)
}

// Params is the number of weights in the layers, P, without embedding and output head.
func (m Model) Params() float64 {
	always, expert := m.layerParams()
	return always*float64(m.Layers) + expert*m.mixtureLayers()*float64(m.Experts)
}

// ActiveParams is the number of layer weights that one token uses.
func (m Model) ActiveParams() float64 {
	always, expert := m.layerParams()
	return always*float64(m.Layers) + expert*m.mixtureLayers()*float64(m.TopK)
}

// TouchedParams is the number of layer weights that a step over tokens tokens reads, with
// experts chosen uniformly: E·(1 − (1 − k/E)^tokens) of them a layer.
func (m Model) TouchedParams(tokens float64) float64 {
	always, expert := m.layerParams()
	p := always * float64(m.Layers)
	if m.Experts > 0 {
		e, k := float64(m.Experts), float64(m.TopK)
		p += expert * m.mixtureLayers() * e * (1 - math.Pow(1-k/e, math.Max(tokens, 1)))
	}
	return p
}

// HeadParams is the number of weights of the output head, d·V.
func (m Model) HeadParams() float64 { return float64(m.Hidden) * float64(m.Vocab) }

// KVBytesLayer is the bytes that one token's keys and values take in one layer, with
// elements of elem bytes.
func (m Model) KVBytesLayer(elem float64) float64 {
	if m.Latent > 0 {
		return float64(m.Latent) * elem
	}
	return 2 * float64(m.KV) * float64(m.Head) * elem
}

// KVBytes is the bytes that one token's keys and values take in all layers.
func (m Model) KVBytes(elem float64) float64 { return float64(m.Layers) * m.KVBytesLayer(elem) }
