package engines

// Signal is one canonical signal.
type Signal struct {
	Name string // without the suffix that a reading adds
	Kind string // "gauge", "counter" or "histogram"
	Unit string
	// Means is what it measures, in a few words.
	Means string
}

// Canonical lists the canonical signals, in the order in which they are looked for.
func Canonical() []Signal {
	return []Signal{
		{"requests_running", "gauge", "requests", "requests being worked on"},
		{"requests_waiting", "gauge", "requests", "requests in the server's queue"},
		{"requests_paused", "gauge", "requests", "requests set aside for want of cache"},
		{"requests_waiting_by_reason", "gauge", "requests", "the queue by what it waits for"},
		{"kv_cache_usage", "gauge", "ratio", "used share of the KV cache, 0 to 1"},
		{"kv_cache_tokens_used", "gauge", "tokens", "tokens held in the KV cache"},
		{"kv_cache_tokens_capacity", "gauge", "tokens", "tokens that the KV cache can hold"},
		{"preemptions", "counter", "events", "running requests sent back to the queue for want of cache"},
		{"prefix_cache_queries", "counter", "tokens", "tokens looked up in the prefix cache"},
		{"prefix_cache_hits", "counter", "tokens", "tokens found in the prefix cache"},
		{"prefix_cache_hit_rate", "gauge", "ratio", "prefix cache hit rate as the server computes it"},
		{"prompt_tokens_cached", "counter", "tokens", "prompt tokens not computed because they were cached"},
		{"prompt_tokens", "counter", "tokens", "prompt tokens processed"},
		{"generation_tokens", "counter", "tokens", "tokens generated"},
		{"ttft", "histogram", "seconds", "time to first token as the server sees it"},
		{"itl", "histogram", "seconds", "time between tokens as the server sees it"},
		{"request_tpot", "histogram", "seconds", "mean time per output token of a request"},
		{"e2e_latency", "histogram", "seconds", "time from arrival to the last token"},
		{"queue_time", "histogram", "seconds", "time waited before being scheduled"},
		{"inference_time", "histogram", "seconds", "time from first scheduling to the last token"},
		{"prefill_time", "histogram", "seconds", "time of prompt processing"},
		{"decode_time", "histogram", "seconds", "time of token generation"},
		{"request_prompt_tokens", "histogram", "tokens", "prompt length"},
		{"request_generation_tokens", "histogram", "tokens", "answer length"},
		{"iteration_tokens", "histogram", "tokens", "tokens of one engine step"},
		{"batch_size", "gauge", "requests", "requests of one engine step"},
		{"spec_drafts", "counter", "drafts", "speculative drafts"},
		{"spec_draft_tokens", "counter", "tokens", "tokens drafted"},
		{"spec_accepted_tokens", "counter", "tokens", "drafted tokens accepted"},
		{"spec_accepted_per_position", "counter", "tokens", "accepted tokens by position in the draft"},
		{"spec_acceptance_length", "gauge", "tokens", "mean tokens of a speculative step"},
		{"requests_finished", "counter", "requests", "requests finished, by reason where told"},
		{"requests_failed", "counter", "requests", "requests that failed"},
		{"requests_rejected", "counter", "requests", "requests refused at the door"},
		{"generation_throughput", "gauge", "tokens_per_second", "generation rate as the server computes it"},
		{"cuda_graph_passes", "counter", "passes", "forward passes by graph mode"},
		{"engine_steps", "counter", "steps", "engine steps"},
		{"engine_busy_time", "counter", "seconds", "time the engine spent in steps"},
		{"estimated_flops", "counter", "flop", "floating-point operations a GPU, estimated by the server"},
		{"estimated_read_bytes", "counter", "bytes", "bytes read from memory a GPU, estimated by the server"},
	}
}

func canonicalByName() map[string]Signal {
	m := make(map[string]Signal)
	for _, s := range Canonical() {
		m[s.Name] = s
	}
	return m
}
