package dialect

import (
	"math"

	"github.com/inferencebench/inferencebench/sim"
)

// TensorRTLLM writes the Prometheus page of trtllm-serve with return_perf_metrics and
// enable_iter_perf_stats.
func TensorRTLLM(engines []Source) []byte {
	var p page
	if len(engines) == 0 {
		return nil
	}
	lab := label("engine_type", "undefined") + "," + label("model_name", engines[0].Model)
	one := func(name, kind string, v func(s *sim.Snapshot) float64) {
		total := 0.0
		for i := range engines {
			total += v(&engines[i].State)
		}
		p.head(name, kind, "TensorRT-LLM")
		p.value(name, lab, total)
	}
	n := float64(len(engines))
	one("trtllm_num_requests_running", "gauge", func(s *sim.Snapshot) float64 { return float64(s.Load.Running) })
	one("trtllm_num_requests_waiting", "gauge", func(s *sim.Snapshot) float64 { return float64(s.Load.Waiting) })
	one("trtllm_kv_cache_utilization", "gauge", func(s *sim.Snapshot) float64 { return s.Load.KVUsage / n })
	one("trtllm_kv_cache_max_blocks", "gauge", func(s *sim.Snapshot) float64 { return float64(s.Load.Blocks) })
	one("trtllm_kv_cache_tokens_per_block", "gauge", func(s *sim.Snapshot) float64 { return float64(s.Config.BlockSize) / n })
	reused := func(s *sim.Snapshot) float64 { return float64(s.Counters.PrefixHits) / float64(s.Config.BlockSize) }
	missed := func(s *sim.Snapshot) float64 {
		return math.Floor(float64(s.Counters.PrefixQueries-s.Counters.PrefixHits) / float64(s.Config.BlockSize))
	}
	one("trtllm_kv_cache_reused_blocks_total", "counter", reused)
	one("trtllm_kv_cache_missed_blocks_total", "counter", missed)
	one("trtllm_kv_cache_hit_rate", "gauge", func(s *sim.Snapshot) float64 {
		return reused(s) / math.Max(reused(s)+missed(s), 1) / n
	})
	one("trtllm_prompt_tokens_total", "counter", func(s *sim.Snapshot) float64 { return float64(s.Counters.PromptTokens) })
	one("trtllm_prompt_cached_tokens_total", "counter", func(s *sim.Snapshot) float64 { return float64(s.Counters.PromptCached) })
	one("trtllm_generation_tokens_total", "counter", func(s *sim.Snapshot) float64 { return float64(s.Counters.Generated) })
	one("trtllm_num_scheduled_requests", "gauge", func(s *sim.Snapshot) float64 { return float64(s.Load.Running) })
	p.head("trtllm_request_success_total", "counter", "TensorRT-LLM")
	for _, f := range []sim.Finish{sim.FinishStop, sim.FinishLength} {
		total := int64(0)
		for i := range engines {
			total += engines[i].State.Counters.Finished[f]
		}
		p.value("trtllm_request_success_total", lab+","+label("finished_reason", f.String()), float64(total))
	}
	if engines[0].State.Config.Speculative.Tokens > 0 {
		one("trtllm_spec_decode_num_draft_tokens_total", "counter", func(s *sim.Snapshot) float64 { return float64(s.Counters.DraftTokens) })
		one("trtllm_spec_decode_num_accepted_tokens_total", "counter", func(s *sim.Snapshot) float64 { return float64(s.Counters.DraftAccepted) })
	}
	for _, h := range []struct {
		name string
		of   func(c *sim.Counters) sim.Histogram
	}{
		{"trtllm_time_to_first_token_seconds", func(c *sim.Counters) sim.Histogram { return c.TTFT }},
		{"trtllm_time_per_output_token_seconds", func(c *sim.Counters) sim.Histogram { return c.TPOT }},
		{"trtllm_e2e_request_latency_seconds", func(c *sim.Counters) sim.Histogram { return c.E2E }},
		{"trtllm_request_queue_time_seconds", func(c *sim.Counters) sim.Histogram { return c.Queue }},
		{"trtllm_request_inference_time_seconds", func(c *sim.Counters) sim.Histogram { return c.Inference }},
		{"trtllm_request_prefill_time_seconds", func(c *sim.Counters) sim.Histogram { return c.Prefill }},
		{"trtllm_request_decode_time_seconds", func(c *sim.Counters) sim.Histogram { return c.Decode }},
	} {
		p.head(h.name, "histogram", "TensorRT-LLM")
		p.histogram(h.name, lab, merged(engines, h.of))
	}
	return p.b
}
