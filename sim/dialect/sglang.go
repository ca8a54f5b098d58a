package dialect

import (
	"math"
	"strconv"

	"github.com/inferencebench/inferencebench/sim"
)

// SGLang writes the page of SGLang with --enable-metrics. Every tensor-parallel rank shows
// the scheduler's gauges, as there; token counters and latencies have no rank.
func SGLang(engines []Source) []byte {
	var p page
	ranks := func(s *Source, rank int) string {
		return label("dp_rank", strconv.Itoa(s.Index)) + "," + label("engine_type", "unified") + "," + label("model_name", s.Model) + "," +
			label("pp_rank", "0") + "," + label("tp_rank", strconv.Itoa(rank))
	}
	plain := func(s *Source) string { return label("engine_type", "unified") + "," + label("model_name", s.Model) }
	gauge := func(name, help string, v func(s *sim.Snapshot) float64) {
		p.head(name, "gauge", help)
		for i := range engines {
			for rank := range engines[i].State.Config.TensorParallel {
				p.value(name, ranks(&engines[i], rank), v(&engines[i].State))
			}
		}
	}
	gauge("sglang:num_running_reqs", "The number of running requests.", func(s *sim.Snapshot) float64 { return float64(s.Load.Running) })
	gauge("sglang:num_queue_reqs", "The number of requests in the waiting queue.", func(s *sim.Snapshot) float64 { return float64(s.Load.Waiting) })
	gauge("sglang:token_usage", "The token usage.", func(s *sim.Snapshot) float64 { return math.Round(100*s.Load.KVUsage) / 100 })
	gauge("sglang:num_used_tokens", "The number of used tokens.", func(s *sim.Snapshot) float64 { return math.Round(s.Load.KVUsage * float64(s.Load.KVTokens)) })
	gauge("sglang:max_total_num_tokens", "Maximum total number of tokens in the KV cache pool.", func(s *sim.Snapshot) float64 { return float64(s.Load.KVTokens) })
	gauge("sglang:gen_throughput", "The generation throughput (token/s).", func(s *sim.Snapshot) float64 {
		return float64(s.Counters.Generated) / math.Max(s.At.Seconds(), 1)
	})
	if len(engines) > 0 && engines[0].State.Config.Speculative.Tokens > 0 {
		gauge("sglang:spec_accept_length", "The average acceptance length of speculative decoding.", func(s *sim.Snapshot) float64 {
			return 1 + float64(s.Counters.DraftAccepted)/math.Max(float64(s.Counters.Drafts), 1)
		})
	}
	p.head("sglang:num_retracted_requests_total", "counter", "The number of retracted requests.")
	for i := range engines {
		for rank := range engines[i].State.Config.TensorParallel {
			p.value("sglang:num_retracted_requests_total", ranks(&engines[i], rank), float64(engines[i].State.Counters.Preemptions))
		}
	}
	sum := func(name, help string, v func(c *sim.Counters) float64) {
		p.head(name, "counter", help)
		if len(engines) == 0 {
			return
		}
		total := 0.0
		for i := range engines {
			total += v(&engines[i].State.Counters)
		}
		p.value(name, plain(&engines[0]), total)
	}
	sum("sglang:prompt_tokens_total", "Number of prefill tokens processed.", func(c *sim.Counters) float64 { return c.PromptSize.Sum })
	sum("sglang:generation_tokens_total", "Number of generation tokens processed.", func(c *sim.Counters) float64 { return c.OutputSize.Sum })
	sum("sglang:num_requests_total", "Number of requests processed.", func(c *sim.Counters) float64 {
		return float64(c.Finished[sim.FinishStop] + c.Finished[sim.FinishLength])
	})
	sum("sglang:num_aborted_requests_total", "Number of requests aborted.", func(c *sim.Counters) float64 { return float64(c.Finished[sim.FinishAbort]) })
	if len(engines) > 0 {
		cached, computed, decoded := 0.0, 0.0, 0.0
		for i := range engines {
			c := &engines[i].State.Counters
			cached, computed, decoded = cached+float64(c.PromptCached), computed+float64(c.PromptComputed), decoded+float64(c.Generated)
		}
		lab := plain(&engines[0])
		p.head("sglang:cached_tokens_total", "counter", "Number of cached prompt tokens.")
		p.value("sglang:cached_tokens_total", label("cache_source", "device")+","+lab, cached)
		p.head("sglang:realtime_tokens_total", "counter", "Number of tokens processed, as they are.")
		p.value("sglang:realtime_tokens_total", lab+","+label("mode", "prefill_compute"), computed)
		p.value("sglang:realtime_tokens_total", lab+","+label("mode", "prefill_cache"), cached)
		p.value("sglang:realtime_tokens_total", lab+","+label("mode", "decode"), decoded)
	}
	hist := func(name, help string, h func(c *sim.Counters) sim.Histogram) {
		p.head(name, "histogram", help)
		if len(engines) > 0 {
			p.histogram(name, plain(&engines[0]), merged(engines, h))
		}
	}
	hist("sglang:time_to_first_token_seconds", "Histogram of time to first token in seconds.", func(c *sim.Counters) sim.Histogram { return c.TTFT })
	hist("sglang:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", func(c *sim.Counters) sim.Histogram { return c.ITL })
	hist("sglang:e2e_request_latency_seconds", "Histogram of end-to-end request latency in seconds.", func(c *sim.Counters) sim.Histogram { return c.E2E })
	hist("sglang:queue_time_seconds", "Histogram of queueing time in seconds.", func(c *sim.Counters) sim.Histogram { return c.Queue })
	return p.b
}

// merged adds up one histogram over the engines, which share its bounds.
func merged(engines []Source, h func(c *sim.Counters) sim.Histogram) sim.Histogram {
	first := h(&engines[0].State.Counters)
	out := sim.Histogram{Bounds: first.Bounds, Counts: make([]int64, len(first.Counts))}
	for i := range engines {
		x := h(&engines[i].State.Counters)
		for j, n := range x.Counts {
			out.Counts[j] += n
		}
		out.Sum += x.Sum
		out.N += x.N
	}
	return out
}
