package roofline

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Model is the shape of a decoder-only language model.
type Model struct {
	Name    string
	Layers  int // L
	Hidden  int // d
	Heads   int // H
	KVHeads int // G
	HeadDim int // h
	FF      int // d_ff of a dense layer
	Vocab   int // V
	Tied    bool

	Experts      int     // experts of a mixture layer; 0 for a dense model
	TopK         int     // experts that a token uses
	ExpertFF     int     // d_ff of one expert
	SharedFF     int     // d_ff of experts that every token uses
	DenseLayers  int     // leading dense layers of a mixture model
	Latent       int     // r_kv + r_rope of multi-head latent attention; 0 for none
	Window       int     // sliding window in tokens; 0 for none
	FullEvery    int     // with a window: one layer in FullEvery is full; 0 means none is
	WeightBytes  float64 // bytes a weight as stored; 0 means 2
	FileBytes    float64 // bytes of all weights where a file says so; 0 otherwise
	MaxPositions int     // longest context; 0 where unknown
}

// Validate reports a shape that cannot be.
func (m Model) Validate() error {
	var errs []error
	for _, f := range []struct {
		name string
		v    int
	}{{"layers", m.Layers}, {"hidden size", m.Hidden}, {"attention heads", m.Heads}, {"vocabulary", m.Vocab}} {
		if f.v < 1 || f.v > 1<<24 {
			errs = append(errs, fmt.Errorf("model shape: %s is %d", f.name, f.v))
		}
	}
	if m.KVHeads < 1 || m.KVHeads > m.Heads {
		errs = append(errs, fmt.Errorf("model shape: %d KV heads for %d heads", m.KVHeads, m.Heads))
	}
	if m.Experts > 0 && (m.TopK < 1 || m.TopK > m.Experts) {
		errs = append(errs, fmt.Errorf("model shape: a token uses %d of %d experts", m.TopK, m.Experts))
	}
	if m.FF < 1 && m.ExpertFF < 1 {
		errs = append(errs, errors.New("model shape: no feed-forward size"))
	}
	return errors.Join(errs...)
}

func (m Model) weight() float64 {
	if m.WeightBytes > 0 {
		return m.WeightBytes
	}
	return 2
}

func (m Model) attentionParams() float64 {
	d, hd := float64(m.Hidden), float64(m.HeadDim)
	return d*hd*float64(m.Heads+2*m.KVHeads) + float64(m.Heads)*hd*d
}

func (m Model) mixtureLayers() float64 {
	if m.Experts == 0 {
		return 0
	}
	return float64(m.Layers - m.DenseLayers)
}

// layerParams returns the linear parameters of all layers when experts of each mixture
// layer are counted.
func (m Model) layerParams(experts float64) float64 {
	d := float64(m.Hidden)
	moe := m.mixtureLayers()
	dense := float64(m.Layers) - moe
	p := float64(m.Layers) * m.attentionParams()
	p += dense * 3 * d * float64(m.FF)
	p += moe * (3*d*float64(m.ExpertFF)*experts + 3*d*float64(m.SharedFF) + d*float64(m.Experts))
	return p
}

// Params returns P, the linear parameters of all layers.
func (m Model) Params() float64 { return m.layerParams(float64(m.Experts)) }

// ActiveParams returns the linear parameters that one token uses.
func (m Model) ActiveParams() float64 { return m.layerParams(float64(m.TopK)) }

// HeadParams returns d·V, the output head.
func (m Model) HeadParams() float64 { return float64(m.Hidden) * float64(m.Vocab) }

// Touched returns the experts of a layer that tokens tokens touch under uniform routing:
// E(1 − (1 − k/E)^tokens).
func (m Model) Touched(tokens float64) float64 {
	if m.Experts == 0 {
		return 0
	}
	e := float64(m.Experts)
	return e * (1 - math.Pow(1-float64(m.TopK)/e, math.Max(tokens, 0)))
}

// StepBytes returns B_w, the bytes of weights that a step of that many tokens reads, the
// output head included.
func (m Model) StepBytes(tokens float64) float64 {
	return m.layerParams(m.Touched(tokens))*m.weight() + m.HeadParams()*math.Max(m.weight(), 2)
}

// TotalBytes returns the bytes of all weights: the file's where known.
func (m Model) TotalBytes() float64 {
	if m.FileBytes > 0 {
		return m.FileBytes
	}
	heads := 2.0
	if m.Tied {
		heads = 1
	}
	return m.Params()*m.weight() + heads*m.HeadParams()*2
}

// fullLayers returns how many layers read the whole context.
func (m Model) fullLayers() float64 {
	if m.Window == 0 {
		return float64(m.Layers)
	}
	if m.FullEvery == 0 {
		return 0
	}
	return math.Ceil(float64(m.Layers) / float64(m.FullEvery))
}

// KVBytes returns the bytes of KV cache that one token takes: 2·L·G·h·k, or L·(r_kv +
// r_rope)·k with latent attention.
func (m Model) KVBytes(elem float64) float64 {
	if m.Latent > 0 {
		return float64(m.Layers) * float64(m.Latent) * elem
	}
	return 2 * float64(m.Layers) * float64(m.KVHeads) * float64(m.HeadDim) * elem
}

// KVRead returns the bytes of KV cache that one decoding sequence reads at a context.
func (m Model) KVRead(context, elem float64) float64 {
	per := m.KVBytes(elem) / float64(m.Layers)
	full := m.fullLayers()
	return per * (full*context + (float64(m.Layers)-full)*math.Min(context, float64(max(m.Window, 1))))
}

// DecodeFLOPs returns the operations of one generated token at a context: 2(P + dV) +
// 4·L·H·h·c.
func (m Model) DecodeFLOPs(context float64) float64 {
	return 2*(m.ActiveParams()+m.HeadParams()) + 4*m.fullLayers()*float64(m.Heads*m.HeadDim)*context
}

// PrefillFLOPs returns the operations of n new prompt tokens on a context c: 2·P·n +
// 4·L·H·h·n·(c + n/2) + 2·d·V.
func (m Model) PrefillFLOPs(n, c float64) float64 {
	return 2*m.ActiveParams()*n + 4*m.fullLayers()*float64(m.Heads*m.HeadDim)*n*(c+n/2) + 2*m.HeadParams()
}

// known are shapes of widely served models, from their published config.json.
func known() []Model {
	return []Model{
		{Name: "llama-3.2-1b", Layers: 16, Hidden: 2048, Heads: 32, KVHeads: 8, HeadDim: 64, FF: 8192, Vocab: 128256, Tied: true, MaxPositions: 131072},
		{Name: "llama-3.2-3b", Layers: 28, Hidden: 3072, Heads: 24, KVHeads: 8, HeadDim: 128, FF: 8192, Vocab: 128256, Tied: true, MaxPositions: 131072},
		{Name: "llama-3.1-8b", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FF: 14336, Vocab: 128256, MaxPositions: 131072},
		{Name: "llama-3-8b", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FF: 14336, Vocab: 128256, MaxPositions: 8192},
		{Name: "llama-3.1-70b", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FF: 28672, Vocab: 128256, MaxPositions: 131072},
		{Name: "llama-3.3-70b", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FF: 28672, Vocab: 128256, MaxPositions: 131072},
		{Name: "mistral-7b", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FF: 14336, Vocab: 32768, MaxPositions: 32768},
		{Name: "mixtral-8x7b", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 32000, Experts: 8, TopK: 2, ExpertFF: 14336, MaxPositions: 32768},
		{Name: "qwen2.5-7b", Layers: 28, Hidden: 3584, Heads: 28, KVHeads: 4, HeadDim: 128, FF: 18944, Vocab: 152064, MaxPositions: 32768},
		{Name: "qwen3-8b", Layers: 36, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FF: 12288, Vocab: 151936, MaxPositions: 40960},
		{Name: "qwen3-32b", Layers: 64, Hidden: 5120, Heads: 64, KVHeads: 8, HeadDim: 128, FF: 25600, Vocab: 151936, MaxPositions: 40960},
		{Name: "qwen3-30b-a3b", Layers: 48, Hidden: 2048, Heads: 32, KVHeads: 4, HeadDim: 128, Vocab: 151936, Experts: 128, TopK: 8, ExpertFF: 768, MaxPositions: 40960},
		{Name: "qwen3-235b-a22b", Layers: 94, Hidden: 4096, Heads: 64, KVHeads: 4, HeadDim: 128, Vocab: 151936, Experts: 128, TopK: 8, ExpertFF: 1536, MaxPositions: 40960},
		{Name: "gpt-oss-20b", Layers: 24, Hidden: 2880, Heads: 64, KVHeads: 8, HeadDim: 64, Vocab: 201088, Experts: 32, TopK: 4, ExpertFF: 2880, Window: 128, FullEvery: 2, MaxPositions: 131072},
		{Name: "gpt-oss-120b", Layers: 36, Hidden: 2880, Heads: 64, KVHeads: 8, HeadDim: 64, Vocab: 201088, Experts: 128, TopK: 4, ExpertFF: 2880, Window: 128, FullEvery: 2, MaxPositions: 131072},
		{Name: "minimax-m2.5", Layers: 62, Hidden: 3072, Heads: 48, KVHeads: 8, HeadDim: 128, Vocab: 200064, Experts: 256, TopK: 8, ExpertFF: 1536, MaxPositions: 196608},
		{Name: "deepseek-v3", Layers: 61, Hidden: 7168, Heads: 128, KVHeads: 128, HeadDim: 128, FF: 18432, Vocab: 129280, Experts: 256, TopK: 8, ExpertFF: 2048, SharedFF: 2048, DenseLayers: 3, Latent: 576, MaxPositions: 163840, WeightBytes: 1},
	}
}

// FindModel returns the shape of a served name such as
// "meta-llama/Llama-3.1-8B-Instruct". ok is false when none matches.
func FindModel(name string) (Model, bool) {
	n := strings.ToLower(name)
	if i := strings.LastIndexByte(n, '/'); i >= 0 {
		n = n[i+1:]
	}
	n = strings.ReplaceAll(strings.TrimPrefix(n, "meta-"), "_", "-")
	best, ok := Model{}, false
	for _, m := range known() {
		if n == m.Name || strings.HasPrefix(n, m.Name+"-") {
			if len(m.Name) > len(best.Name) {
				best, ok = m, true
			}
		}
	}
	return best, ok
}
