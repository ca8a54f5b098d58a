package dialect

import (
	"strconv"

	"github.com/inferencebench/inferencebench/sim"
)

// VLLM writes the page of vLLM's V1 engine.
func VLLM(engines []Source) []byte {
	var p page
	lab := make([]string, len(engines))
	for i, e := range engines {
		lab[i] = label("engine", strconv.Itoa(e.Index)) + "," + label("model_name", e.Model)
	}
	each := func(name, kind, help string, v func(s *sim.Snapshot) float64) {
		p.head(name, kind, help)
		for i := range engines {
			p.value(name, lab[i], v(&engines[i].State))
		}
	}
	hist := func(name, help string, h func(c *sim.Counters) sim.Histogram) {
		p.head(name, "histogram", help)
		for i := range engines {
			p.histogram(name, lab[i], h(&engines[i].State.Counters))
		}
	}
	each("vllm:num_requests_running", "gauge", "Number of requests in model execution batches.", func(s *sim.Snapshot) float64 { return float64(s.Load.Running) })
	each("vllm:num_requests_waiting", "gauge", "Number of requests waiting to be processed.", func(s *sim.Snapshot) float64 { return float64(s.Load.Waiting) })
	each("vllm:kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.", func(s *sim.Snapshot) float64 { return s.Load.KVUsage })
	each("vllm:num_preemptions_total", "counter", "Cumulative number of preemptions from the engine.", func(s *sim.Snapshot) float64 { return float64(s.Counters.Preemptions) })
	each("vllm:prefix_cache_queries_total", "counter", "Prefix cache queries, in tokens.", func(s *sim.Snapshot) float64 { return float64(s.Counters.PrefixQueries) })
	each("vllm:prefix_cache_hits_total", "counter", "Prefix cache hits, in tokens.", func(s *sim.Snapshot) float64 { return float64(s.Counters.PrefixHits) })
	each("vllm:prompt_tokens_total", "counter", "Number of prefill tokens processed.", func(s *sim.Snapshot) float64 { return float64(s.Counters.PromptTokens) })
	each("vllm:prompt_tokens_cached_total", "counter", "Number of prompt tokens served from the prefix cache.", func(s *sim.Snapshot) float64 { return float64(s.Counters.PromptCached) })
	each("vllm:prompt_tokens_recomputed_total", "counter", "Number of tokens computed again after preemption.", func(s *sim.Snapshot) float64 { return float64(s.Counters.Recomputed) })
	each("vllm:generation_tokens_total", "counter", "Number of generation tokens processed.", func(s *sim.Snapshot) float64 { return float64(s.Counters.Generated) })
	each("vllm:estimated_flops_per_gpu_total", "counter", "Estimated floating point operations of one GPU.", func(s *sim.Snapshot) float64 { return s.Counters.Flops / float64(s.Config.TensorParallel) })
	each("vllm:estimated_read_bytes_per_gpu_total", "counter", "Estimated bytes read from memory by one GPU.", func(s *sim.Snapshot) float64 { return s.Counters.ReadBytes / float64(s.Config.TensorParallel) })
	p.head("vllm:request_success_total", "counter", "Count of successfully processed requests.")
	for i := range engines {
		for _, f := range []sim.Finish{sim.FinishStop, sim.FinishLength, sim.FinishAbort} {
			p.value("vllm:request_success_total", lab[i]+","+label("finished_reason", f.String()), float64(engines[i].State.Counters.Finished[f]))
		}
		p.value("vllm:request_success_total", lab[i]+","+label("finished_reason", "error"), 0)
	}
	hist("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.", func(c *sim.Counters) sim.Histogram { return c.TTFT })
	hist("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", func(c *sim.Counters) sim.Histogram { return c.ITL })
	hist("vllm:request_time_per_output_token_seconds", "Histogram of time per output token of a request in seconds.", func(c *sim.Counters) sim.Histogram { return c.TPOT })
	hist("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", func(c *sim.Counters) sim.Histogram { return c.E2E })
	hist("vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", func(c *sim.Counters) sim.Histogram { return c.Queue })
	hist("vllm:request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", func(c *sim.Counters) sim.Histogram { return c.Prefill })
	hist("vllm:request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", func(c *sim.Counters) sim.Histogram { return c.Decode })
	hist("vllm:request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", func(c *sim.Counters) sim.Histogram { return c.Inference })
	hist("vllm:request_prompt_tokens", "Number of prefill tokens processed.", func(c *sim.Counters) sim.Histogram { return c.PromptSize })
	hist("vllm:request_generation_tokens", "Number of generation tokens processed.", func(c *sim.Counters) sim.Histogram { return c.OutputSize })
	hist("vllm:iteration_tokens_total", "Histogram of number of tokens per engine step.", func(c *sim.Counters) sim.Histogram { return c.Iteration })
	vllmSpeculative(&p, engines, lab)
	p.head("vllm:cache_config_info", "gauge", "Information of the LLMEngine CacheConfig")
	for _, e := range engines {
		c := e.State.Config
		dtype := c.KVCacheDType
		if dtype == "" {
			dtype = "auto"
		}
		p.value("vllm:cache_config_info", label("block_size", strconv.Itoa(c.BlockSize))+","+label("cache_dtype", dtype)+","+
			label("enable_prefix_caching", pyBool(c.PrefixCaching()))+","+label("engine", strconv.Itoa(e.Index))+","+
			label("gpu_memory_utilization", strconv.FormatFloat(c.GPUMemoryUtilization, 'g', -1, 64))+","+
			label("kv_cache_size_tokens", strconv.Itoa(e.State.Memory.Tokens))+","+label("num_gpu_blocks", strconv.Itoa(e.State.Memory.Blocks)), 1)
	}
	return p.b
}

func vllmSpeculative(p *page, engines []Source, lab []string) {
	if len(engines) == 0 || engines[0].State.Config.Speculative.Tokens == 0 {
		return
	}
	for _, m := range []struct {
		name string
		v    func(c *sim.Counters) int64
	}{
		{"vllm:spec_decode_num_drafts_total", func(c *sim.Counters) int64 { return c.Drafts }},
		{"vllm:spec_decode_num_draft_tokens_total", func(c *sim.Counters) int64 { return c.DraftTokens }},
		{"vllm:spec_decode_num_accepted_tokens_total", func(c *sim.Counters) int64 { return c.DraftAccepted }},
	} {
		p.head(m.name, "counter", "Speculative decoding.")
		for i := range engines {
			p.value(m.name, lab[i], float64(m.v(&engines[i].State.Counters)))
		}
	}
	const perPos = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
	p.head(perPos, "counter", "Accepted tokens per draft position.")
	for i := range engines {
		for pos, n := range engines[i].State.Counters.DraftByPosition {
			p.value(perPos, lab[i]+","+label("position", strconv.Itoa(pos)), float64(n))
		}
	}
}

func pyBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
