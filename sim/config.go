package sim

import (
	"errors"
	"fmt"
	"time"
)

// Toggle is a switch whose zero value leaves the choice to the engine.
type Toggle int8

// The positions of a Toggle.
const (
	Auto Toggle = iota
	On
	Off
)

// or resolves Auto to d.
func (t Toggle) or(d bool) bool {
	if t == Auto {
		return d
	}
	return t == On
}

// Config is one engine: device, model, and the scheduler's limits under the names of
// vLLM's flags. The zero value is Llama-3.1-8B in 16 bits on one H100 with the defaults
// that vLLM chooses there.
type Config struct {
	GPU   GPU   // zero: h100_sxm
	Model Model // zero: Llama-3.1-8B-Instruct

	TensorParallel int    // GPUs that share each layer; 0 means 1
	Quantization   string // weights: "" for 16 bits, "fp8", "int8", "int4" or "fp4"
	KVCacheDType   string // "" or "auto" for 16 bits, "fp8"

	MaxModelLen          int     // longest context, tokens; 0: the model's
	MaxNumSeqs           int     // running requests; 0: 1024 on devices of 70 GB and more but A100, else 256
	MaxNumBatchedTokens  int     // tokens a step; 0: 16384 from 160 GB, 8192 on Hopper, else 2048
	BlockSize            int     // tokens a KV block; 0: 16
	GPUMemoryUtilization float64 // share of device memory for weights and KV; 0: 0.92
	NumGPUBlocksOverride int     // forces the number of KV blocks; 0: computed from memory
	Watermark            float64 // share of KV blocks kept free at admission; negative: 0; 0: 0.01
	KVOffloadBytes       float64 // host memory for evicted KV blocks; 0: none

	EnablePrefixCaching  Toggle // Auto: on
	EnableChunkedPrefill Toggle // Auto: on
	AsyncScheduling      Toggle // Auto: off; the host terms below are what is left after overlap
	EnforceEager         bool   // no captured graphs: every step pays for launching its kernels
	LongPrefillThreshold int    // largest chunk of one prompt, tokens; 0: no limit
	PriorityScheduling   bool   // order waiting requests by priority, lower first, instead of arrival

	// PrefillFirst keeps prompts and decoding apart: a step is either, and waiting prompts go
	// first. It is how SGLang schedules by default; vLLM and TensorRT-LLM mix both in a step.
	PrefillFirst bool

	Speculative Speculative

	// PrefillLaunch is the host time a layer of a step with prompt tokens takes to launch. Such
	// steps are not replayed from captured graphs, so that the device waits for the host when
	// its own work is shorter. 0: 150 µs, compiled graphs by pieces, as in vLLM; an engine
	// that runs layer by layer in Python needs about 600 µs.
	PrefillLaunch time.Duration

	HostBase   time.Duration // host time a step; 0: 1.25 ms
	HostPerSeq time.Duration // host time a step and scheduled request; 0: 4 µs
	StepNoise  float64       // sigma of the lognormal factor on a step's time; 0: none
	PauseEvery float64       // mean steps between host pauses of 20-50 ms; 0: none

	// Conditions tells what disturbs the engine at an instant; nil means nothing does.
	Conditions func(at time.Duration) Conditions

	// Seed drives step noise, pauses and draft acceptance.
	Seed uint64
}

// Speculative is speculative decoding: a draft of Tokens tokens a step, each accepted with
// probability Acceptance as long as all before it were.
type Speculative struct {
	Tokens     int     // drafted tokens a step, k; 0: off
	Acceptance float64 // α
	// DraftShare is the draft model's weights as a share of the target's; 0 for n-gram
	// lookup, which costs no GPU time.
	DraftShare float64
}

// Conditions are outside disturbances in force at one instant. The zero value is none.
type Conditions struct {
	HostExtra time.Duration // added to every step on the host
	CommExtra time.Duration // added to every step on the GPU, spent in communication
	ClockLoss float64       // share of the SM clock that is missing, 0 to <1
	Thermal   bool          // the clock is lost to heat; otherwise to the power limit
	Slowdown  float64       // share of GPU throughput that another process takes, 0 to <1
	KVLost    float64       // share of the KV blocks that a leak holds, 0 to <1
}

// withDefaults fills the zero fields.
func (c Config) withDefaults() Config {
	if c.GPU.Name == "" {
		c.GPU, _ = LookupGPU("h100_sxm")
	}
	if c.Model.Name == "" && c.Model.Layers == 0 {
		c.Model, _ = LookupModel("llama-3.1-8b")
	}
	if c.TensorParallel == 0 {
		c.TensorParallel = 1
	}
	if c.MaxModelLen == 0 {
		c.MaxModelLen = c.Model.MaxLen
	}
	large := c.GPU.Memory >= 70*giga
	if c.MaxNumSeqs == 0 {
		c.MaxNumSeqs = 256
		if large && c.GPU.Link != "a100" {
			c.MaxNumSeqs = 1024
		}
	}
	if c.MaxNumBatchedTokens == 0 {
		switch {
		case c.GPU.Memory >= 160*giga:
			c.MaxNumBatchedTokens = 16384
		case large && c.GPU.Link != "a100":
			c.MaxNumBatchedTokens = 8192
		default:
			c.MaxNumBatchedTokens = 2048
		}
		if !c.EnableChunkedPrefill.or(true) {
			c.MaxNumBatchedTokens = max(c.MaxNumBatchedTokens, c.MaxModelLen)
		}
		c.MaxNumBatchedTokens = max(c.MaxNumBatchedTokens, c.MaxNumSeqs)
	}
	if c.BlockSize == 0 {
		c.BlockSize = 16
	}
	if c.GPUMemoryUtilization == 0 {
		c.GPUMemoryUtilization = 0.92
	}
	switch {
	case c.Watermark == 0:
		c.Watermark = 0.01
	case c.Watermark < 0:
		c.Watermark = 0
	}
	if c.HostBase == 0 {
		c.HostBase = 1250 * time.Microsecond
	}
	if c.HostPerSeq == 0 {
		c.HostPerSeq = 4 * time.Microsecond
	}
	if c.PrefillLaunch == 0 {
		c.PrefillLaunch = 150 * time.Microsecond
	}
	return c
}

// Resolved returns the configuration with every default filled in, as [New] would run it.
func (c Config) Resolved() Config { return c.withDefaults() }

// PrefixCaching reports whether prefixes are reused.
func (c Config) PrefixCaching() bool { return c.EnablePrefixCaching.or(true) }

// Validate reports every setting that the real engine would refuse, all at once, each
// with the flag's name and a way out. It looks at a configuration with its defaults
// filled in; memory is checked by [Config.Memory].
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := c.Model.Validate(); err != nil {
		errs = append(errs, err)
	}
	if c.TensorParallel < 1 || (c.Model.Heads > 0 && c.Model.Heads%c.TensorParallel != 0) {
		bad("--tensor-parallel-size %d: total number of attention heads (%d) must be divisible by it", c.TensorParallel, c.Model.Heads)
	}
	if _, err := weightBytes(c.Quantization); err != nil {
		errs = append(errs, err)
	} else if c.Quantization == "fp8" && c.GPU.FP8 == 0 {
		bad("--quantization fp8: %s has no 8-bit floating point units; use int8, int4 or none", c.GPU.Name)
	}
	switch c.KVCacheDType {
	case "", "auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2":
	default:
		bad("--kv-cache-dtype %q: use auto or fp8", c.KVCacheDType)
	}
	if c.MaxNumSeqs < 1 {
		bad("--max-num-seqs %d: must be at least 1", c.MaxNumSeqs)
	}
	if c.MaxNumBatchedTokens < c.MaxNumSeqs {
		bad("--max-num-batched-tokens %d: must be at least --max-num-seqs (%d)", c.MaxNumBatchedTokens, c.MaxNumSeqs)
	}
	if !c.EnableChunkedPrefill.or(true) && c.MaxNumBatchedTokens < c.MaxModelLen {
		bad("--max-num-batched-tokens %d: without chunked prefill it must be at least --max-model-len (%d)", c.MaxNumBatchedTokens, c.MaxModelLen)
	}
	if c.MaxModelLen < 1 || (c.Model.MaxLen > 0 && c.MaxModelLen > c.Model.MaxLen) {
		bad("--max-model-len %d: the model's config allows 1 to %d", c.MaxModelLen, c.Model.MaxLen)
	}
	switch c.BlockSize {
	case 1, 8, 16, 32, 64, 128, 256:
	default:
		bad("--block-size %d: use 8, 16, 32, 64, 128 or 256", c.BlockSize)
	}
	if c.GPUMemoryUtilization <= 0 || c.GPUMemoryUtilization > 1 {
		bad("--gpu-memory-utilization %g: must be above 0 and at most 1", c.GPUMemoryUtilization)
	}
	if c.NumGPUBlocksOverride < 0 {
		bad("--num-gpu-blocks-override %d: must not be negative", c.NumGPUBlocksOverride)
	}
	if c.Watermark >= 1 {
		bad("--watermark %g: must be below 1", c.Watermark)
	}
	if c.LongPrefillThreshold < 0 {
		bad("--long-prefill-token-threshold %d: must not be negative", c.LongPrefillThreshold)
	}
	if s := c.Speculative; s.Tokens < 0 || s.Tokens > 16 || s.Acceptance < 0 || s.Acceptance > 1 || s.DraftShare < 0 || s.DraftShare > 1 {
		bad("--speculative-config: 0 to 16 tokens, acceptance and draft share between 0 and 1")
	}
	if c.HostBase < 0 || c.PrefillLaunch < 0 || c.HostPerSeq < 0 || c.StepNoise < 0 || c.PauseEvery < 0 || c.KVOffloadBytes < 0 {
		bad("host times, step noise, pauses and offload size must not be negative")
	}
	return errors.Join(errs...)
}

// weightBytes is the stored bytes of one weight, scales included.
func weightBytes(quant string) (float64, error) {
	switch quant {
	case "", "none", "bf16", "fp16":
		return 2, nil
	case "fp8", "int8", "w8a8":
		return 1, nil
	case "int4", "w4a16", "awq", "gptq":
		return 0.55, nil
	case "fp4", "mxfp4", "nvfp4":
		return 0.53, nil
	}
	return 0, fmt.Errorf("--quantization %q: use fp8, int8, int4 or fp4", quant)
}

// kvElem is the bytes of one KV element.
func (c Config) kvElem() float64 {
	switch c.KVCacheDType {
	case "fp8", "fp8_e4m3", "fp8_e5m2":
		return 1
	}
	return 2
}
