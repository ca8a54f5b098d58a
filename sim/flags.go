package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Launch is a launch command of vLLM's, understood.
type Launch struct {
	Config     Config
	ModelName  string // as served
	Host       string
	Port       int
	Key        string // bearer key, "" for none
	APIServers int    // processes that share the frontend's work
	Replicas   int    // data-parallel engines
	// Ignored lists flags that are accepted and change nothing here.
	Ignored []string
}

// Frontend is the cost of the API server as the launch has it: --api-server-count processes
// share the work of the default one evenly.
func (l Launch) Frontend() FrontendCost {
	return DefaultFrontend.Times(1 / float64(max(1, l.APIServers)))
}

// ParseFlags reads launch arguments under vLLM's names, such as
//
//	serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 64 --no-enable-prefix-caching
//
// The words "vllm" and "serve" may lead. Every error is reported, joined: an unknown flag,
// a value of the wrong kind, a setting that the engine would refuse. Two flags are ours:
// --sim-gpu NAME and --sim-acceptance A, the acceptance of drafted tokens.
func ParseFlags(args []string) (Launch, error) {
	p := flagParser{out: Launch{Host: "127.0.0.1", Port: 8000, APIServers: 1, Replicas: 1}, gpu: "h100_sxm", model: "meta-llama/Llama-3.1-8B-Instruct"}
	for len(args) > 0 && (args[0] == "vllm" || args[0] == "serve") {
		args = args[1:]
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		p.model, args = args[0], args[1:]
	}
	for len(args) > 0 {
		args = p.one(args)
	}
	p.finish()
	return p.out, errors.Join(p.errs...)
}

type flagParser struct {
	out        Launch
	gpu, model string
	errs       []error
}

func (p *flagParser) bad(format string, a ...any) {
	p.errs = append(p.errs, fmt.Errorf(format, a...))
}

// one reads the flag at the head of args and returns the rest.
func (p *flagParser) one(args []string) []string {
	name, value, given := strings.Cut(args[0], "=")
	rest := args[1:]
	if !strings.HasPrefix(name, "-") {
		p.bad("unrecognized argument %.60q: flags start with --", args[0])
		return rest
	}
	name = strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
	if on, ok := p.toggle(name); ok {
		if given {
			switch strings.ToLower(value) {
			case "true", "1":
			case "false", "0":
				*on.at = on.not()
				return rest
			default:
				p.bad("--%s: %.60q is neither true nor false", name, value)
				return rest
			}
		}
		*on.at = on.to
		return rest
	}
	if name == "enforce-eager" || name == "no-enforce-eager" {
		p.out.Config.EnforceEager = name == "enforce-eager"
		return rest
	}
	if bare[name] {
		p.out.Ignored = append(p.out.Ignored, name)
		return rest
	}
	if !given {
		if len(rest) == 0 {
			p.bad("argument --%s: expected one argument", name)
			return nil
		}
		value, rest = rest[0], rest[1:]
	}
	p.set(name, value)
	return rest
}

// switchTo is a toggle and the position that its flag puts it in.
type switchTo struct {
	at *Toggle
	to Toggle
}

func (s switchTo) not() Toggle {
	if s.to == On {
		return Off
	}
	return On
}

func (p *flagParser) toggle(name string) (switchTo, bool) {
	to := On
	if n, ok := strings.CutPrefix(name, "no-"); ok {
		name, to = n, Off
	}
	c := &p.out.Config
	switch name {
	case "enable-prefix-caching":
		return switchTo{&c.EnablePrefixCaching, to}, true
	case "enable-chunked-prefill":
		return switchTo{&c.EnableChunkedPrefill, to}, true
	case "async-scheduling":
		return switchTo{&c.AsyncScheduling, to}, true
	}
	return switchTo{}, false
}

// bare are flags without a value that change nothing here.
var bare = map[string]bool{
	"trust-remote-code": true, "no-enable-log-requests": true, "enable-log-requests": true, "disable-log-requests": true, "disable-log-stats": true,
	"enable-prompt-tokens-details": true, "enable-mfu-metrics": true, "kv-cache-metrics": true, "enable-request-id-headers": true,
	"enable-force-include-usage": true, "enable-expert-parallel": true, "enable-server-load-tracking": true, "enable-sleep-mode": true,
}

func (p *flagParser) set(name, value string) {
	c := &p.out.Config
	whole := func(at *int) {
		n, err := strconv.Atoi(value)
		if err != nil {
			p.bad("argument --%s: invalid int value: %.60q", name, value)
			return
		}
		*at = n
	}
	real := func(at *float64) {
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || f != f {
			p.bad("argument --%s: invalid float value: %.60q", name, value)
			return
		}
		*at = f
	}
	switch name {
	case "model":
		p.model = value
	case "served-model-name":
		p.out.ModelName = value
	case "host":
		p.out.Host = value
	case "port":
		whole(&p.out.Port)
	case "api-key":
		p.out.Key = value
	case "api-server-count":
		whole(&p.out.APIServers)
	case "data-parallel-size":
		whole(&p.out.Replicas)
	case "seed":
		var n int
		whole(&n)
		c.Seed = uint64(n)
	case "max-num-seqs":
		p.positive(name, &c.MaxNumSeqs, whole)
	case "max-num-batched-tokens":
		p.positive(name, &c.MaxNumBatchedTokens, whole)
	case "max-model-len":
		p.positive(name, &c.MaxModelLen, whole)
	case "block-size":
		p.positive(name, &c.BlockSize, whole)
	case "tensor-parallel-size":
		p.positive(name, &c.TensorParallel, whole)
	case "num-gpu-blocks-override":
		p.positive(name, &c.NumGPUBlocksOverride, whole)
	case "long-prefill-token-threshold":
		whole(&c.LongPrefillThreshold)
	case "gpu-memory-utilization":
		real(&c.GPUMemoryUtilization)
		if c.GPUMemoryUtilization == 0 {
			p.bad("--gpu-memory-utilization 0: must be above 0 and at most 1")
		}
	case "watermark":
		real(&c.Watermark)
		if c.Watermark == 0 {
			c.Watermark = -1 // asked for none, which is not the zero value's default
		}
	case "kv-offloading-size":
		var g float64
		real(&g)
		c.KVOffloadBytes = g * gib
	case "quantization":
		if value != "None" && value != "none" {
			c.Quantization = value
		}
	case "kv-cache-dtype":
		c.KVCacheDType = value
	case "scheduling-policy":
		switch value {
		case "fcfs":
			c.PriorityScheduling = false
		case "priority":
			c.PriorityScheduling = true
		default:
			p.bad("argument --scheduling-policy: invalid choice: %.60q (choose from fcfs, priority)", value)
		}
	case "speculative-config":
		p.speculative(value)
	case "sim-gpu":
		p.gpu = value
	case "sim-acceptance":
		real(&c.Speculative.Acceptance)
	case "dtype", "load-format", "attention-backend", "swap-space", "tokenizer", "kv-offloading-backend", "compilation-config", "stream-interval",
		"pipeline-parallel-size", "uvicorn-log-level", "otlp-traces-endpoint", "chat-template", "generation-config", "max-log-len":
		p.out.Ignored = append(p.out.Ignored, name)
	default:
		p.bad("unrecognized arguments: --%.60s", name)
	}
}

// positive reads a whole number that must be above zero; a zero would silently become the
// default.
func (p *flagParser) positive(name string, at *int, whole func(*int)) {
	n := 1
	whole(&n)
	if n < 1 {
		p.bad("--%s %d: must be at least 1", name, n)
		return
	}
	*at = n
}

func (p *flagParser) speculative(value string) {
	var s struct {
		Method string  `json:"method"`
		Tokens *int    `json:"num_speculative_tokens"`
		Model  string  `json:"model"`
		Share  float64 `json:"sim_draft_share"`
	}
	if err := json.Unmarshal([]byte(value), &s); err != nil {
		p.bad("argument --speculative-config: invalid JSON: %v", err)
		return
	}
	if s.Tokens == nil || *s.Tokens < 1 {
		p.bad("--speculative-config: num_speculative_tokens must be greater than zero")
		return
	}
	c := &p.out.Config
	c.Speculative.Tokens = *s.Tokens
	switch {
	case s.Share > 0:
		c.Speculative.DraftShare = s.Share
	case s.Method == "ngram" || s.Method == "suffix" || s.Method == "ngram_gpu":
	case s.Method == "eagle" || s.Method == "eagle3" || s.Method == "mtp" || s.Method == "medusa":
		c.Speculative.DraftShare = 0.04
	default:
		c.Speculative.DraftShare = 0.12
	}
	if c.Speculative.Acceptance == 0 {
		c.Speculative.Acceptance = 0.7
	}
}

// finish looks up device and model and checks the whole.
func (p *flagParser) finish() {
	c := &p.out.Config
	var err error
	if c.GPU, err = LookupGPU(p.gpu); err != nil {
		p.errs = append(p.errs, err)
	}
	if c.Model, err = LookupModel(p.model); err != nil {
		p.errs = append(p.errs, err)
	}
	if p.out.Port < 0 || p.out.Port > 65535 {
		p.bad("--port %d: must be between 0 and 65535", p.out.Port)
	}
	if p.out.APIServers < 1 || p.out.Replicas < 1 || p.out.Replicas > 64 {
		p.bad("--api-server-count and --data-parallel-size must be at least 1 and at most 64")
	}
	if p.out.ModelName == "" {
		p.out.ModelName = p.model
	}
	if len(p.errs) == 0 {
		if err := c.Validate(); err != nil {
			p.errs = append(p.errs, err)
		}
	}
}
