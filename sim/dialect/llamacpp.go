package dialect

import (
	"math"

	"github.com/inferencebench/inferencebench/sim"
)

// LlamaCPP writes the page of llama-server with --metrics: no labels, no histograms, no KV
// gauge, generated tokens counted when a request ends.
func LlamaCPP(engines []Source) []byte {
	var p page
	var l sim.Load
	var c sim.Counters
	for i := range engines {
		s := &engines[i].State
		l.Running += s.Load.Running
		l.Waiting += s.Load.Waiting
		c.PromptComputed += s.Counters.PromptComputed
		c.PromptCached += s.Counters.PromptCached
		c.Steps += s.Counters.Steps
		c.BatchSum += s.Counters.BatchSum
		c.MostTokens = max(c.MostTokens, s.Counters.MostTokens)
		c.OutputSize.Sum += s.Counters.OutputSize.Sum
		c.Prefill.Sum += s.Counters.Prefill.Sum
		c.Decode.Sum += s.Counters.Decode.Sum
	}
	one := func(name, kind, help string, v float64) {
		p.head("llamacpp:"+name, kind, help)
		p.value("llamacpp:"+name, "", v)
	}
	one("prompt_tokens_total", "counter", "Number of prompt tokens processed.", float64(c.PromptComputed))
	one("prompt_tokens_cached_total", "counter", "Number of prompt tokens taken from the cache.", float64(c.PromptCached))
	one("prompt_seconds_total", "counter", "Prompt process time", c.Prefill.Sum)
	one("tokens_predicted_total", "counter", "Number of generation tokens processed.", c.OutputSize.Sum)
	one("tokens_predicted_seconds_total", "counter", "Predict process time", c.Decode.Sum)
	one("n_decode_total", "counter", "Total number of llama_decode() calls", float64(c.Steps))
	one("n_tokens_max", "counter", "Largest observed n_tokens.", float64(c.MostTokens))
	one("n_busy_slots_per_decode", "gauge", "Average number of busy slots per llama_decode() call", float64(c.BatchSum)/math.Max(float64(c.Steps), 1))
	one("prompt_tokens_seconds", "gauge", "Average prompt throughput in tokens/s.", ratio(float64(c.PromptComputed), c.Prefill.Sum))
	one("predicted_tokens_seconds", "gauge", "Average generation throughput in tokens/s.", ratio(c.OutputSize.Sum, c.Decode.Sum))
	one("requests_processing", "gauge", "Number of requests processing.", float64(l.Running))
	one("requests_deferred", "gauge", "Number of requests deferred.", float64(l.Waiting))
	return p.b
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
