package accuracy

import (
	"context"
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// Point is a row with what the simulator says about it.
type Point struct {
	Row
	Dense   bool
	Refused string // why the row cannot be right or cannot be simulated; "" when it is compared
	// Plateau is set when half or twice as many GPUs served the same load within ten per cent
	// as fast, by the measurements alone: something in front of the engine limits such rows.
	Plateau  bool
	SimTTFT  float64 // ms
	SimTPOT  float64 // ms
	MFU, MBU float64 // of the measured point, by model arithmetic
}

// Error is the relative error of the simulated time a token.
func (p Point) Error() float64 { return p.SimTPOT/p.TPOT - 1 }

// TTFTError is the relative error of the simulated time to first token.
func (p Point) TTFTError() float64 { return p.SimTTFT/p.TTFT - 1 }

// Compare simulates every row. A row that fails the plausibility gate is kept with its
// reason and not simulated.
func Compare(ctx context.Context, rows []Row) ([]Point, error) {
	out := make([]Point, 0, len(rows))
	for _, r := range rows {
		p, err := compare(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		out = append(out, p)
	}
	plateaus(out)
	return out, nil
}

// plateaus marks the points whose measured time a request hardly changed with the number of
// GPUs.
func plateaus(points []Point) {
	type load struct {
		backend, model, precision      string
		tp, input, output, concurrency int
	}
	at := func(p Point, tp int) load {
		return load{p.Backend, p.Model, p.Precision, tp, p.Input, p.Output, p.Concurrency}
	}
	took := make(map[load]float64, len(points))
	for _, p := range points {
		took[at(p, p.TP)] = p.TTFT + p.TPOT*float64(p.Output-1)
	}
	const gain = 1.1
	for i, p := range points {
		own := took[at(p, p.TP)]
		if half, ok := took[at(p, p.TP/2)]; ok && half < gain*own {
			points[i].Plateau = true
		}
		if twice, ok := took[at(p, 2*p.TP)]; ok && own < gain*twice {
			points[i].Plateau = true
		}
	}
}

func compare(ctx context.Context, r Row) (Point, error) {
	p := Point{Row: r}
	cfg, err := Engine(r)
	if err != nil {
		p.Refused = err.Error()
		return p, nil
	}
	p.Dense = cfg.Model.Experts == 0
	p.gate(cfg)
	if p.Refused != "" {
		return p, nil
	}
	n := r.Concurrency * rounds(r)
	shape := offline.Shape{Input: offline.Between(r.Input, r.Input), Output: offline.Between(r.Output, r.Output), Seed: 1}
	res, err := offline.Run(ctx, offline.Config{
		Engine: cfg, Frontend: frontend, Source: shape.Source(), Concurrency: r.Concurrency, MaxRequests: n, Records: true, Seed: 1,
	})
	if err != nil {
		return p, err // the configuration was checked: only the context ends a run
	}
	for _, q := range res.Requests {
		p.SimTTFT += q.T.First.Sub(q.T.Intended).Seconds() * 1e3 / float64(len(res.Requests))
		p.SimTPOT += q.T.Last.Sub(q.T.First).Seconds() * 1e3 / float64(r.Output-1) / float64(len(res.Requests))
	}
	return p, nil
}

// rounds is how many requests each user makes. The table does not say; benchmark scripts
// commonly send ten times the concurrency, fewer where answers are long.
func rounds(r Row) int {
	if r.Output >= 4096 {
		return 3
	}
	return 10
}

// frontend is a Python API server together with the Python client of these measurements:
// requests reach the engine one after another, not as one batch.
var frontend = sim.FrontendCost{PerRequest: time.Millisecond, PerPromptToken: time.Microsecond, PerToken: 5 * time.Microsecond}

// Engine returns the configuration that a row describes.
func Engine(r Row) (sim.Config, error) {
	gpu, err := sim.LookupGPU(r.GPU)
	if err != nil {
		return sim.Config{}, err
	}
	model, err := sim.LookupModel(r.Model)
	if err != nil {
		return sim.Config{}, err
	}
	if r.DP > 1 {
		return sim.Config{}, fmt.Errorf("attention data parallelism %d is not modelled", r.DP)
	}
	cfg := sim.Config{
		GPU: gpu, Model: model, TensorParallel: r.TP, EnablePrefixCaching: sim.Off,
		MaxNumSeqs: 1024, MaxNumBatchedTokens: budget(r), GPUMemoryUtilization: 0.9,
	}
	if r.Precision != "bf16" {
		cfg.Quantization = r.Precision
	}
	if need := r.Input + r.Output; need < model.MaxLen {
		cfg.MaxModelLen = need + 16
	}
	// Host time a step, and a step and request: C++ executors show 0.5 to 2 ms in all at
	// common batches, compiled Python 1 to 1.5 ms.
	cfg.HostBase = map[string]time.Duration{
		"trtllm": 600 * time.Microsecond,
		"sglang": 1250 * time.Microsecond,
		"vllm":   1250 * time.Microsecond,
	}[r.Backend]
	if r.Backend == "trtllm" { // its Python flow makes a response object a request and step
		cfg.HostPerSeq = 16 * time.Microsecond
	}
	// One constant an engine, from the range of its kind: how it launches steps that are not
	// captured, and whether it mixes prompts and decoding.
	cfg.PrefillLaunch = map[string]time.Duration{
		"trtllm": 600 * time.Microsecond, // PyTorch flow, layer by layer
		"sglang": 250 * time.Microsecond,
		"vllm":   150 * time.Microsecond, // compiled, captured by pieces
	}[r.Backend]
	cfg.PrefillFirst = r.Backend == "sglang"
	if err := cfg.Validate(); err != nil {
		return cfg, err
	}
	if _, err := cfg.Memory(); err != nil {
		return cfg, err
	}
	return cfg, nil
}

// budget is the token budget of an iteration, which the table does not state. The rules by
// which the project that published it writes configurations of TensorRT-LLM to be measured
// set max_num_tokens to the batch size, the prompt and 1,500 more, in whole blocks of 32
// (ai-dynamo/aiconfigurator, generator/rule_plugin/trtllm.rule). The other engines keep a
// budget common among them.
func budget(r Row) int {
	if r.Backend != "trtllm" {
		return 8192
	}
	const spare, block = 1500, 32
	return (r.Concurrency + r.Input + spare + block - 1) / block * block
}

// gate refuses what no device can do: more than 0.9 of the peak arithmetic or 1.05 of the
// peak bandwidth, computed from the measured times and the stated concurrency.
func (p *Point) gate(cfg sim.Config) {
	m := cfg.Model
	tp := float64(cfg.TensorParallel)
	e2e := (p.TTFT + p.TPOT*float64(p.Output-1)) / 1e3
	rate := float64(p.Concurrency) / e2e // requests a second, by Little's law
	decoding := rate * p.TPOT * float64(p.Output-1) / 1e3
	weight, peak := 2.0, cfg.GPU.BF16
	switch p.Precision {
	case "fp8":
		weight, peak = 1, cfg.GPU.FP8
	case "fp4":
		weight = 0.53
	}
	in, out := float64(p.Input), float64(p.Output)
	attn := 4 * float64(m.Layers*m.Heads*m.Head)
	flops := rate * (2*m.ActiveParams()*(in+out) + 2*m.HeadParams()*out + attn*(in*in/2+out*(in+out/2)))
	if m.Window > 0 {
		flops = rate * (2*m.ActiveParams()*(in+out) + 2*m.HeadParams()*out)
	}
	p.MFU = flops / (peak * tp)
	bytes := m.TouchedParams(decoding)*weight + m.HeadParams()*2 + decoding*(in+out/2)*m.KVBytes(2)
	if m.Window > 0 {
		bytes = m.TouchedParams(decoding)*weight + m.HeadParams()*2
	}
	p.MBU = bytes / (p.TPOT / 1e3) / (cfg.GPU.BW * tp)
	switch {
	case p.MFU > 0.9:
		p.Refused = fmt.Sprintf("implies %.0f %% of peak arithmetic", 100*p.MFU)
	case p.MBU > 1.05:
		p.Refused = fmt.Sprintf("implies %.0f %% of peak bandwidth", 100*p.MBU)
	}
}
