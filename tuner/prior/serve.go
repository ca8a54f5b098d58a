package prior

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/tuner/play"
)

// ErrNotPlayed is in the chain of the error where the simulator cannot tell what a launch would
// do: it knows nothing of the engine, the model or the device.
var ErrNotPlayed = errors.New("not played")

// NotPlayed reports whether an error says that there is no telling, rather than that the real
// engine would refuse.
func NotPlayed(err error) bool { return errors.Is(err, ErrNotPlayed) }

// Engines lists the adapters whose settings the simulator plays.
func Engines() []string { return []string{"vllm", "sglang", "inferencebench_sim"} }

// alias is a setting under vLLM's name, as the simulator reads it.
type alias struct{ name, as string }

// played are the settings that change what the simulator does, in the order in which they
// are read. Settings of tensor parallelism and of the context are the model's business, and are
// read apart.
func played(engine string) []alias {
	if engine == "sglang" {
		return []alias{
			{"--max-running-requests", "--max-num-seqs"}, {"--chunked-prefill-size", "--max-num-batched-tokens"}, {"--mem-fraction-static", "--gpu-memory-utilization"},
			{"--page-size", "--block-size"}, {"--kv-cache-dtype", "--kv-cache-dtype"}, {"--quantization", "--quantization"},
			{"--dp-size", "--data-parallel-size"}, {"--tokenizer-worker-num", "--api-server-count"},
		}
	}
	var out []alias
	for _, name := range []string{
		"--max-num-seqs", "--max-num-batched-tokens", "--gpu-memory-utilization", "--block-size", "--kv-cache-dtype", "--quantization",
		"--enable-prefix-caching", "--enable-chunked-prefill", "--async-scheduling", "--enforce-eager", "--long-prefill-token-threshold", "--scheduling-policy",
		"--num-gpu-blocks-override", "--watermark", "--kv-offloading-size", "--speculative-config", "--api-server-count", "--data-parallel-size",
	} {
		out = append(out, alias{name, name})
	}
	return out
}

// formats maps number formats of weights to the one whose size and arithmetic they have.
var formats = map[string]string{
	"awq": "int4", "awq_marlin": "int4", "gptq": "int4", "gptq_marlin": "int4", "fp8": "fp8", "w8a8_fp8": "fp8", "w8a8_int8": "int8", "int8": "int8", "int4": "int4", "mxfp4": "fp4", "nvfp4": "fp4", "modelopt_fp4": "fp4",
}

// Serve is what a launch of an engine with these settings, name to value as typed, runs as
// in the simulator: settings that it does not know change nothing. The error says what the
// real engine would refuse, or wraps [ErrNotPlayed].
func Serve(engine string, settings map[string]string, m sim.Model, g sim.GPU) (play.Server, error) {
	if !slices.Contains(Engines(), engine) {
		return play.Server{}, fmt.Errorf("%w: the simulator does not play %s", ErrNotPlayed, engine)
	}
	args := []string{"--sim-gpu=" + g.Name}
	for _, s := range played(engine) {
		v, ok := settings[s.name]
		switch {
		case !ok:
			continue
		case s.as == "--quantization":
			if v = formats[v]; v == "" {
				continue // as the weights are
			}
		case s.as == "--kv-cache-dtype" && v == "fp8_inc", s.as == "--kv-cache-dtype" && v == "bf16":
			v = map[string]string{"fp8_inc": "fp8", "bf16": "bfloat16"}[v]
		case s.as == "--enforce-eager" && v == "false", s.as == "--block-size" && v == "1" && engine == "sglang":
			continue
		case s.as == "--enforce-eager":
			args = append(args, s.as)
			continue
		case s.as == "--max-num-batched-tokens" && v == "-1":
			continue
		}
		args = append(args, s.as+"="+v)
	}
	l, err := sim.ParseFlags(args)
	if err != nil {
		return play.Server{}, err
	}
	e := l.Config
	e.Model, e.GPU = m, g
	for _, n := range []struct {
		names []string
		at    *int
	}{
		{[]string{"--tensor-parallel-size", "--tp-size"}, &e.TensorParallel}, {[]string{"--max-model-len", "--context-length"}, &e.MaxModelLen},
	} {
		for _, name := range n.names {
			v, ok := settings[name]
			if !ok {
				continue
			}
			if *n.at, err = strconv.Atoi(v); err != nil || *n.at < 1 {
				return play.Server{}, fmt.Errorf("%w: %s %q is no number", ErrNotPlayed, name, v)
			}
		}
	}
	if engine == "sglang" {
		e.PrefillFirst = settings["--enable-mixed-chunk"] != "true"
		if settings["--disable-radix-cache"] == "true" {
			e.EnablePrefixCaching = sim.Off
		}
		if settings["--disable-cuda-graph"] == "true" {
			e.EnforceEager = true
		}
	}
	if err := e.Validate(); err != nil {
		return play.Server{}, err
	}
	return play.Server{Engine: e, Replicas: l.Replicas, Frontend: l.Frontend()}, nil
}
