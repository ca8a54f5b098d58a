package tasks

import (
	"slices"
	"strings"
)

// Preset is a pair of length distributions of real traffic: tables measured on a trace,
// or a closed form where only a summary was published.
type Preset struct {
	Name    string
	In, Out *Quantiles // nil where the preset is a closed form
	About   string     // one sentence
	Source  string     // where the numbers come from

	in, out Length // the closed form
}

// Input is the distribution of prompt lengths.
func (p *Preset) Input() Length {
	if p.In != nil {
		return Table(p.In)
	}
	return p.in
}

// Output is the distribution of answer lengths.
func (p *Preset) Output() Length {
	if p.Out != nil {
		return Table(p.Out)
	}
	return p.out
}

// LookupPreset finds a preset by name.
func LookupPreset(name string) (*Preset, bool) {
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return nil, false
	}
	return &presets[i], true
}

// Presets lists every preset in alphabetical order.
func Presets() []Preset { return slices.Clone(presets) }

// PresetNames lists their names in the same order.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	return names
}

var presetP = []float64{.01, .05, .10, .20, .30, .40, .50, .60, .70, .80, .90, .95, .99, .999}

func table(name, source string, x ...float64) *Quantiles {
	return &Quantiles{Name: name, P: presetP, X: x, Source: source}
}

func preset(name, about, source string, in, out []float64) Preset {
	return Preset{Name: name, About: about, Source: source, In: table("preset:"+name+".in", source, in...), Out: table("preset:"+name+".out", source, out...)}
}

var presets = func() []Preset {
	ps := []Preset{
		preset("chat", "Conversation service, history inside the prompt.", "Azure LLM inference trace 2023, conversation, 19,366 requests",
			[]float64{29, 181, 207, 387, 403, 703, 1020, 1071, 1130, 1315, 2734, 4083, 4142, 6179},
			[]float64{16, 41, 54, 77, 91, 103, 129, 177, 384, 400, 424, 451, 601, 954}),
		preset("code", "Code completion: long prompts, very short answers.", "Azure LLM inference trace 2023, code, 8,819 requests",
			[]float64{17, 75, 147, 385, 770, 1075, 1469, 1909, 2433, 3192, 5187, 7303, 7436, 7437},
			[]float64{6, 6, 7, 8, 9, 11, 13, 16, 20, 29, 55, 90, 251, 825}),
		preset("long-chat", "Chat with long documents and long histories.", "Mooncake conversation trace, 12,031 requests",
			[]float64{894, 901, 964, 1662, 3263, 4993, 6909, 9570, 13196, 17869, 27367, 39550, 85400, 121300},
			[]float64{3, 10, 24, 100, 213, 291, 350, 399, 447, 504, 597, 698, 1118, 2000}),
		preset("rag", "Long prompts that share documents, short answers.", "Mooncake synthetic trace, 3,993 requests",
			[]float64{16, 22, 30, 88, 912, 4364, 11587, 16290, 19408, 28425, 38611, 48904, 66456, 191373},
			[]float64{2, 2, 4, 8, 16, 32, 69, 126, 210, 288, 389, 519, 768, 813}),
		preset("sharegpt", "Public chat logs with their history, capped at 8,192 tokens.", "Etalon's processed ShareGPT lengths, 30,731 requests",
			[]float64{12, 29, 74, 382, 777, 1203, 1730, 2401, 3235, 4278, 5696, 6563, 7433, 7853},
			[]float64{6, 44, 84, 181, 271, 346, 415, 493, 581, 683, 834, 920, 998, 1021}),
		preset("reasoning", "Short questions, long answers with the reasoning counted.", "ServeGen deepseek-r1, request-weighted over 73 clients",
			[]float64{9, 13, 18, 29, 57, 113, 208, 266, 406, 748, 2092, 6714, 23423, 33783},
			[]float64{141, 225, 287, 387, 470, 582, 792, 1104, 1367, 1680, 3432, 5701, 12607, 20833}),
	}
	ps = append(ps,
		Preset{Name: "chat-mt", About: "User turns of multi-turn chat, without the history.", Source: "summaries of LMSYS-Chat-1M and WildChat", in: Lognormal(4.2, 1.1).Clip(4, 8192), out: Lognormal(5.4, 0.8).Clip(4, 4096)},
		Preset{Name: "tool-agent", About: "Tool-calling agents: mean 8,600 tokens in, 182 out.", Source: "Mooncake's paper, tool and agent trace", in: Lognormal(8.66, 0.9).Clip(256, 131072), out: Lognormal(4.88, 0.8).Clip(4, 4096)},
		Preset{Name: "coding-agent", About: "Calls of a coding agent: 22,000 tokens at the start, up to 200,000.", Source: "GitHub Copilot coding-agent traces of 2026, means", in: Lognormal(10.9, 0.65).Clip(22000, 200000), out: Lognormal(5.9, 0.85).Clip(8, 8192)},
		Preset{Name: "classify", About: "Short texts in, a label out.", Source: "ServeGen m-small, clients whose lengths are public", in: Lognormal(4.0, 1.1).Clip(20, 570), out: Lognormal(1.1, 1.0).Clip(1, 71)},
		Preset{Name: "rag-long", About: "Questions over long shared documents.", Source: "upper half of the Mooncake synthetic trace", in: Lognormal(9.75, 0.65).Clip(4000, 60000), out: Uniform(50, 400)},
		Preset{Name: "templated-api", About: "A template of 4,000 tokens that all share, and a few hundred of their own.", Source: "the business-to-business pattern of Alibaba's traffic study", in: Uniform(4050, 4400), out: Uniform(60, 200)},
	)
	slices.SortFunc(ps, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return ps
}()
