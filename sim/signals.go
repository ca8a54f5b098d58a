package sim

import "strconv"

// Signals returns the state of the engines behind one server as canonical signals: gauges
// and counters summed, KV usage as mean and maximum, histograms as sum, count and
// cumulative buckets. Cumulative names end in _total, _sum, _count or _bucket:<bound>.
func Signals(engines []Snapshot) map[string]float64 {
	v := make(map[string]float64, 320)
	if len(engines) == 0 {
		return v
	}
	for i := range engines {
		e := &engines[i]
		c := &e.Counters
		v["requests_running"] += float64(e.Load.Running)
		v["requests_waiting"] += float64(e.Load.Waiting)
		v["kv_cache_usage"] += e.Load.KVUsage / float64(len(engines))
		v["kv_cache_usage_max"] = max(v["kv_cache_usage_max"], e.Load.KVUsage)
		v["kv_cache_tokens_capacity"] += float64(e.Load.KVTokens)
		v["preemptions_total"] += float64(c.Preemptions)
		v["prefix_cache_queries_total"] += float64(c.PrefixQueries)
		v["prefix_cache_hits_total"] += float64(c.PrefixHits)
		v["prompt_tokens_cached_total"] += float64(c.PromptCached)
		v["prompt_tokens_total"] += float64(c.PromptTokens)
		v["generation_tokens_total"] += float64(c.Generated)
		v["requests_finished_total"] += float64(c.Finished[FinishStop] + c.Finished[FinishLength] + c.Finished[FinishAbort])
		if e.Config.Speculative.Tokens > 0 {
			v["spec_drafts_total"] += float64(c.Drafts)
			v["spec_draft_tokens_total"] += float64(c.DraftTokens)
			v["spec_accepted_tokens_total"] += float64(c.DraftAccepted)
		}
		for _, h := range []struct {
			name string
			h    *Histogram
		}{
			{"ttft", &c.TTFT}, {"itl", &c.ITL}, {"request_tpot", &c.TPOT}, {"e2e_latency", &c.E2E}, {"queue_time", &c.Queue},
			{"prefill_time", &c.Prefill}, {"decode_time", &c.Decode}, {"inference_time", &c.Inference},
			{"request_prompt_tokens", &c.PromptSize}, {"request_generation_tokens", &c.OutputSize}, {"iteration_tokens", &c.Iteration},
		} {
			v[h.name+"_sum"] += h.h.Sum
			v[h.name+"_count"] += float64(h.h.N)
			cum := int64(0)
			for i, n := range h.h.Counts {
				cum += n
				le := "+Inf"
				if i < len(h.h.Bounds) {
					le = strconv.FormatFloat(h.h.Bounds[i], 'g', -1, 64)
				}
				v[h.name+"_bucket:"+le] += float64(cum)
			}
		}
	}
	if d := v["spec_drafts_total"]; d > 0 {
		v["spec_acceptance_length"] = 1 + v["spec_accepted_tokens_total"]/d
	}
	return v
}
