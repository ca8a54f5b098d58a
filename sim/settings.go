package sim

import "strconv"

// Settings returns the effective settings as a server would expose them, under vLLM's
// names.
func (c Config) Settings(mem Memory) map[string]string {
	c = c.withDefaults()
	word := func(s, zero string) string {
		if s == "" {
			return zero
		}
		return s
	}
	out := map[string]string{
		"max_num_seqs":           strconv.Itoa(c.MaxNumSeqs),
		"max_num_batched_tokens": strconv.Itoa(c.MaxNumBatchedTokens),
		"max_model_len":          strconv.Itoa(c.MaxModelLen),
		"block_size":             strconv.Itoa(c.BlockSize),
		"num_gpu_blocks":         strconv.Itoa(mem.Blocks),
		"kv_cache_size_tokens":   strconv.Itoa(mem.Tokens),
		"gpu_memory_utilization": strconv.FormatFloat(c.GPUMemoryUtilization, 'g', -1, 64),
		"tensor_parallel_size":   strconv.Itoa(c.TensorParallel),
		"enable_prefix_caching":  strconv.FormatBool(c.PrefixCaching()),
		"enable_chunked_prefill": strconv.FormatBool(c.EnableChunkedPrefill.or(true)),
		"quantization":           word(c.Quantization, "none"),
		"kv_cache_dtype":         word(c.KVCacheDType, "auto"),
		"cache_dtype":            word(c.KVCacheDType, "auto"),
		"async_scheduling":       strconv.FormatBool(c.AsyncScheduling == On),
		"num_speculative_tokens": strconv.Itoa(c.Speculative.Tokens),
		"enforce_eager":          strconv.FormatBool(c.EnforceEager),
	}
	return out
}
