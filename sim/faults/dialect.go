package faults

import (
	"fmt"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim/dialect"
)

// shown lists the canonical signals that an engine of that dialect exposes, without the
// suffixes of cumulative ones; nil means all. The lists follow what the dialects' pages
// hold.
func shown(name string) (map[string]bool, error) {
	d, err := dialect.Lookup(name)
	if err != nil {
		return nil, err
	}
	var list string
	switch d.Name {
	case "vllm":
		return nil, nil
	case "sglang":
		list = "requests_running requests_waiting kv_cache_usage kv_cache_usage_max kv_cache_tokens_capacity preemptions prompt_tokens_cached prompt_tokens " +
			"generation_tokens ttft e2e_latency queue_time requests_finished spec_acceptance_length"
	case "tgi":
		list = "requests_running requests_waiting kv_cache_usage kv_cache_tokens_capacity prompt_tokens generation_tokens request_tpot e2e_latency queue_time " +
			"inference_time request_prompt_tokens request_generation_tokens requests_finished"
	case "tensorrt_llm":
		list = "requests_running requests_waiting kv_cache_usage kv_cache_usage_max kv_cache_tokens_capacity prompt_tokens_cached prompt_tokens generation_tokens ttft " +
			"request_tpot e2e_latency queue_time inference_time prefill_time decode_time requests_finished spec_draft_tokens spec_accepted_tokens"
	case "llama_cpp":
		list = "requests_running requests_waiting prompt_tokens_cached prompt_tokens generation_tokens"
	default:
		return nil, fmt.Errorf("dialect %q has no list of signals", d.Name)
	}
	out := make(map[string]bool)
	for _, s := range strings.Fields(list) {
		out[s] = true
	}
	return out, nil
}

// base is a signal's name without the suffix of a cumulative one.
func base(name string) string {
	name, _, _ = strings.Cut(name, ":")
	for _, suffix := range []string{"_bucket", "_total", "_sum", "_count"} {
		if b, ok := strings.CutSuffix(name, suffix); ok {
			return b
		}
	}
	return name
}

// speak drops the engine signals that the dialect does not show.
func (r *Run) speak(name string) error {
	keep, err := shown(name)
	if err != nil || keep == nil {
		return err
	}
	for _, s := range r.Samples {
		if s.Source != archive.SourceEngine {
			continue
		}
		for k := range s.Values {
			if !keep[base(k)] {
				delete(s.Values, k)
			}
		}
	}
	d, err := dialect.Lookup(name)
	r.Manifest.Server.Engine = d.Name
	return err
}

// missing lists the condition's signals that no sample holds. Fields of request records,
// which have a dot in their name, are always there.
func (r *Run) missing(signals []string) (out []string) {
	seen := make(map[string]bool)
	for _, s := range r.Samples {
		for k := range s.Values {
			seen[k] = true
		}
	}
	for _, s := range signals {
		if !strings.Contains(s, ".") && !seen[s] {
			out = append(out, s)
		}
	}
	return out
}
