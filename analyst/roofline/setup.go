package roofline

import (
	"math"
	"strings"
)

// Setup is a model on a group of devices.
type Setup struct {
	Device Device
	Model  Model
	TP     int     // devices that share each layer; 0 means 1
	KVElem float64 // bytes of a KV element; 0 means 2
}

func (s Setup) tp() float64 { return math.Max(1, float64(s.TP)) }

func (s Setup) elem() float64 {
	if s.KVElem > 0 {
		return s.KVElem
	}
	return 2
}

// Peak returns F of the group for the model's weights, in FLOP/s: the 8-bit peak for
// 8-bit weights where the device has one.
func (s Setup) Peak() float64 {
	if s.Model.weight() == 1 {
		if s.Device.FP8 > 0 {
			return s.Device.FP8 * s.tp()
		}
		if s.Device.Int8 > 0 {
			return s.Device.Int8 * s.tp()
		}
	}
	return s.Device.BF16 * s.tp()
}

// Bandwidth returns BW of the group in bytes/s.
func (s Setup) Bandwidth() float64 { return s.Device.BW * s.tp() }

// The costs of a step besides its bytes and operations, typical of current kernels.
const (
	kvShare     = 0.88  // share of peak bandwidth that reading KV reaches
	attnShare   = 0.55  // share of peak arithmetic that prefill attention reaches
	layerLaunch = 11e-6 // seconds a layer of decode attention beside its reads
	// elementwise is the bytes a token moves in a layer outside products, in units of the
	// hidden size: norms, rotations, activations and residuals read and written.
	elementwise = 72.0
	blendPower  = 2.0 // how sharply the memory and arithmetic limits of a product meet
	// products are a layer's matrix products, and productLaunch what each costs beside its bytes,
	// in seconds, however small the share of a device is (microsoft/vidur, operator timings of
	// an H100 at TP 1 and 8).
	products      = 4
	productLaunch = 4e-6
	// streamedLayer is the bytes of the layers that Device.Stream was measured on, launches
	// included: those of an 8B model in 16 bits.
	streamedLayer = 436e6
)

// Step returns the modelled time of one step in seconds on an undisturbed device, host
// work and communication left out: decodes sequences generate one token each at a mean
// context, and prefill prompt tokens are computed at a mean position.
func (s Setup) Step(decodes, context, prefill, position float64) float64 {
	return s.step(decodes, context, prefill, position, decodes+prefill)
}

// Inflation returns by how much a batch makes a decode step longer than a single sequence
// would, with the weights that the batch touches read in both: a mixture reads more
// experts for more sequences, which is not a sign of a batch that is too large.
func (s Setup) Inflation(decodes, context float64) float64 {
	return s.step(decodes, context, 0, 0, decodes) / s.step(1, context, 0, 0, decodes)
}

func (s Setup) step(decodes, context, prefill, position, touching float64) float64 {
	m := s.Model
	tokens := decodes + prefill
	if tokens <= 0 {
		return 0
	}
	peak16 := s.Device.BF16 * s.tp()
	mem := float64(m.Layers)*products*productLaunch + s.stream(m.layerParams(m.Touched(touching))*m.weight())
	cmp := 2 * m.ActiveParams() * tokens / (s.Device.Matmul * s.Peak())
	t := math.Pow(math.Pow(mem, blendPower)+math.Pow(cmp, blendPower), 1/blendPower)
	t += m.HeadParams() * 2 / (0.85 * s.Bandwidth())
	t += float64(m.Layers) * elementwise * float64(m.Hidden) * tokens / s.Device.BW
	if decodes > 0 {
		t += float64(m.Layers)*layerLaunch + decodes*m.KVRead(context, s.elem())/(kvShare*s.Bandwidth())
	}
	if prefill > 0 {
		t += float64(m.Layers)*12e-6 + 4*m.fullLayers()*float64(m.Heads*m.HeadDim)*prefill*position/(attnShare*peak16)
	}
	return t
}

// stream returns the time in seconds in which the group reads so many bytes of weights in
// products, their launches left out.
func (s Setup) stream(bytes float64) float64 {
	d := s.Device
	return bytes / s.tp() * (1/(d.Stream*d.BW) - products*productLaunch/streamedLayer)
}

// PrefillToken returns the modelled time that one more prompt token costs in seconds, in
// a step that is large enough for arithmetic to be its limit.
func (s Setup) PrefillToken(position float64) float64 {
	m := s.Model
	return 2*m.ActiveParams()/(s.Device.Matmul*s.Peak()) +
		float64(m.Layers)*elementwise*float64(m.Hidden)/s.Device.BW +
		4*m.fullLayers()*float64(m.Heads*m.HeadDim)*position/(attnShare*s.Device.BF16*s.tp())
}

// Ridge returns m*, the tokens of a step above which arithmetic limits its products:
// F_eff·w/(2·BW_eff).
func (s Setup) Ridge() float64 {
	return s.Device.Matmul * s.Peak() * s.Model.weight() / (2 * s.Device.Stream * s.Bandwidth())
}

// Rates are observed work per second.
type Rates struct {
	Steps   float64 // steps/s
	Decode  float64 // generated tokens/s
	Prefill float64 // computed prompt tokens/s, cached ones left out
	Context float64 // mean context of a decoding sequence, tokens
	Prompt  float64 // mean prompt length, tokens
}

// MFU returns the share of the arithmetic peak that the work is.
func (s Setup) MFU(r Rates) float64 {
	perPrompt := 0.0
	if r.Prompt > 0 {
		perPrompt = s.Model.PrefillFLOPs(r.Prompt, 0) / r.Prompt
	}
	return (r.Decode*s.Model.DecodeFLOPs(r.Context) + r.Prefill*perPrompt) / s.Peak()
}

// MBU returns the share of the memory bandwidth that the work is: each step reads its
// weights once, each generated token its context.
func (s Setup) MBU(r Rates) float64 {
	if r.Steps <= 0 {
		return 0
	}
	// Prompt tokens come in few steps, so the experts that a typical step touches are those
	// of its decoding sequences.
	return (r.Steps*s.Model.StepBytes(r.Decode/r.Steps) + r.Decode*s.Model.KVRead(r.Context, s.elem())) / s.Bandwidth()
}

// KVBudget returns how many tokens of KV cache fit beside the weights: (util·memory −
// weights − other)/KV bytes, with other for activations, graphs and the runtime.
func (s Setup) KVBudget(util, other float64) float64 {
	free := util*s.Device.Memory*s.tp() - s.Model.TotalBytes() - other*s.tp()
	return math.Max(0, free/s.Model.KVBytes(s.elem()))
}

// DTypeBytes returns the bytes of an element of a named type, such as "fp8", "bfloat16",
// "q4_k_m" or "awq". ok is false for an unknown name.
func DTypeBytes(name string) (float64, bool) {
	n := strings.ToLower(strings.TrimSpace(name))
	switch {
	case n == "" || n == "auto" || n == "none" || n == "null":
		return 0, false
	case strings.Contains(n, "fp8"), strings.Contains(n, "int8"), strings.HasPrefix(n, "q8"), n == "w8a8", strings.Contains(n, "e4m3"), strings.Contains(n, "e5m2"):
		return 1, true
	case strings.Contains(n, "int4"), strings.Contains(n, "awq"), strings.Contains(n, "gptq"), n == "w4a16", strings.HasPrefix(n, "q4"):
		return 0.56, true
	case strings.Contains(n, "fp4"):
		return 0.53, true
	case strings.Contains(n, "bf16"), strings.Contains(n, "fp16"), strings.Contains(n, "float16"), n == "f16", n == "half":
		return 2, true
	case strings.Contains(n, "32"):
		return 4, true
	}
	return 0, false
}
