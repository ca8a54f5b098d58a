package imports

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// guidellm reads benchmarks.json: one run for each benchmark, from the successful part of
// its metrics.
func guidellm(o object) ([]*Imported, error) {
	var benches []object
	if err := json.Unmarshal(o["benchmarks"], &benches); err != nil {
		return nil, fmt.Errorf("benchmarks is no list of objects: %w", err)
	}
	if len(benches) == 0 {
		return nil, fmt.Errorf("benchmarks is empty")
	}
	if len(benches) > maxRuns {
		return nil, fmt.Errorf("more than %d benchmarks", maxRuns)
	}
	var out []*Imported
	for _, b := range benches {
		out = append(out, guidellmOne(b))
	}
	return out, nil
}

func guidellmOne(b object) *Imported {
	im := &Imported{Format: "guidellm", Cannot: []archive.Annotation{
		noIntended, noTelemetry,
		{Code: "figures_only", Message: "The file is read for its figures: no interval and no other definition can be computed."},
		{Code: "guidellm_tpot", Message: "guidellm's TPOT divides the whole request by its tokens; its inter-token latency, each request's mean after the first token, is what is called time per output token here."},
		{Code: "guidellm_clock", Message: "guidellm stamps with the wall clock: a step of the clock during the run is in the latencies."},
	}}
	config := b.object("config")
	backend := config.object("backend")
	im.Manifest.Server = archive.Server{URL: backend.text("target"), Model: backend.text("model"), Engine: "unknown"}
	if start, ok := b.object("scheduler_state").number("start_time"); ok && start > 0 && start < 1e11 {
		im.Manifest.Epoch = time.UnixMilli(int64(start * 1000)).UTC()
	}
	m := b.object("metrics")
	totals := m.object("request_totals")
	ok, failed, open := totals.count("successful"), totals.count("errored"), totals.count("incomplete")
	f := &figures{n: ok}
	for _, x := range []struct {
		key, id string
		k       float64
	}{
		{"time_to_first_token_ms", "ttft", 1}, {"inter_token_latency_ms", "tpot", 1}, {"request_latency", "e2e", 1000},
		{"prompt_token_count", "prompt_length", 1}, {"output_token_count", "output_length", 1},
	} {
		d := m.object(x.key).object("successful")
		p := d.object("percentiles")
		for from, to := range map[string]string{"mean": "mean", "std_dev": "std", "min": "min", "median": "p50", "max": "max"} {
			v, has := d.number(from)
			f.stat("all", x.id, to, v*x.k, has)
		}
		for _, q := range []string{"p50", "p90", "p95", "p99"} {
			v, has := p.number(q)
			f.stat("all", x.id, q, v*x.k, has)
		}
	}
	for _, x := range []struct{ key, id string }{{"requests_per_second", "request_rate"}, {"output_tokens_per_second", "output_rate"}, {"tokens_per_second", "total_rate"}, {"request_concurrency", "effective_concurrency"}} {
		v, has := m.object(x.key).object("successful").number("mean")
		f.value(x.id, v, has)
	}
	if v, has := b.number("duration"); has {
		f.value("duration", v, true)
	}
	strategy := config.object("strategy")
	kind := strategy.text("type_", "type")
	asked, rate := strategy.opt("streams"), strategy.opt("rate")
	words := kind
	if v, has := asked.Get(); has {
		words = fmt.Sprintf("%s %.3g", kind, v)
	} else if v, has := rate.Get(); has {
		words = fmt.Sprintf("%s %.3g req/s", kind, v)
	}
	im.Analysis = f.analysis(ok, failed, asked, rate, words)
	im.Analysis.Counts.Cancelled = open
	im.Analysis.Counts.Planned += open
	return im
}
