package dialect

import (
	"math"

	"github.com/inferencebench/inferencebench/sim"
)

// TGI writes the page of Hugging Face's text-generation-inference: no model label, no time
// to first token, counters that move when a request ends.
func TGI(engines []Source) []byte {
	var p page
	if len(engines) == 0 {
		return nil
	}
	one := func(name, kind string, v func(s *sim.Snapshot) float64) {
		total := 0.0
		for i := range engines {
			total += v(&engines[i].State)
		}
		p.head(name, kind, "text-generation-inference")
		p.value(name, "", total)
	}
	one("tgi_batch_current_size", "gauge", func(s *sim.Snapshot) float64 { return float64(s.Load.Running) })
	one("tgi_queue_size", "gauge", func(s *sim.Snapshot) float64 { return float64(s.Load.Waiting) })
	one("tgi_batch_current_max_tokens", "gauge", func(s *sim.Snapshot) float64 { return math.Round(s.Load.KVUsage * float64(s.Load.KVTokens)) })
	one("tgi_batch_max_total_tokens", "gauge", func(s *sim.Snapshot) float64 { return float64(s.Load.KVTokens) })
	done := func(s *sim.Snapshot) float64 {
		return float64(s.Counters.Finished[sim.FinishStop] + s.Counters.Finished[sim.FinishLength])
	}
	one("tgi_request_count", "counter", func(s *sim.Snapshot) float64 {
		return done(s) + float64(s.Counters.Finished[sim.FinishAbort]) + float64(s.Load.Running+s.Load.Waiting)
	})
	one("tgi_request_success", "counter", done)
	p.head("tgi_request_failure", "counter", "text-generation-inference")
	for _, e := range []string{"overloaded", "validation", "generation", "incomplete"} {
		p.value("tgi_request_failure", label("err", e), 0)
	}
	for _, h := range []struct {
		name, labels string
		of           func(c *sim.Counters) sim.Histogram
	}{
		{"tgi_request_input_length", "", func(c *sim.Counters) sim.Histogram { return c.PromptSize }},
		{"tgi_request_generated_tokens", "", func(c *sim.Counters) sim.Histogram { return c.OutputSize }},
		{"tgi_request_mean_time_per_token_duration", "", func(c *sim.Counters) sim.Histogram { return c.TPOT }},
		{"tgi_request_duration", "", func(c *sim.Counters) sim.Histogram { return c.E2E }},
		{"tgi_request_queue_duration", "", func(c *sim.Counters) sim.Histogram { return c.Queue }},
		{"tgi_request_inference_duration", "", func(c *sim.Counters) sim.Histogram { return c.Inference }},
	} {
		p.head(h.name, "histogram", "text-generation-inference")
		p.histogram(h.name, h.labels, merged(engines, h.of))
	}
	p.head("tgi_batch_inference_duration", "histogram", "text-generation-inference")
	p.histogram("tgi_batch_inference_duration", label("method", "prefill"), merged(engines, func(c *sim.Counters) sim.Histogram { return c.PrefillStep }))
	p.histogram("tgi_batch_inference_duration", label("method", "decode"), merged(engines, func(c *sim.Counters) sim.Histogram { return c.DecodeStep }))
	return p.b
}
