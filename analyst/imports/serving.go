package imports

import (
	"fmt"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// noIntended qualifies every latency of these clients.
var noIntended = archive.Annotation{Code: "no_intended_times", Message: "The tool records when requests were sent, not when they were due: waits inside its client are not in the latencies."}

// noTelemetry qualifies every attribution.
var noTelemetry = archive.Annotation{Code: "no_telemetry", Message: "The file holds no engine, GPU, host or client series, so what limited the server cannot be attributed."}

// serving reads a result of vLLM's serving benchmark or of SGLang's, its descendant.
func serving(format string, o object) ([]*Imported, error) {
	im := &Imported{Format: format, Cannot: []archive.Annotation{noIntended, noTelemetry}}
	im.Manifest.Server = archive.Server{Engine: engineOf(o, format), Model: o.text("model_id", "model_name", "model", "tokenizer_id")}
	if t, err := time.Parse("20060102-150405", o.text("date")); err == nil {
		im.Manifest.Epoch = t
	}
	if rs := detailed(o); rs != nil {
		im.Requests = rs
		im.Manifest.Ended = ended(rs)
		im.Cannot = append(im.Cannot, archive.Annotation{Code: "chunks_not_tokens", Message: "The gaps in the file are between chunks of the stream, whatever number of tokens they carry."})
		return []*Imported{im}, nil
	}
	ok, failed := o.count("completed"), o.count("failed")
	if n := o.count("num_prompts"); failed == 0 && n > ok {
		failed = n - ok
	}
	f := &figures{n: ok}
	for _, m := range []struct{ key, id string }{{"ttft", "ttft"}, {"tpot", "tpot"}, {"itl", "icl"}, {"e2el", "e2e"}, {"e2e_latency", "e2e"}} {
		for _, s := range []struct{ prefix, stat string }{{"mean", "mean"}, {"std", "std"}, {"median", "p50"}, {"p50", "p50"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}} {
			v, has := o.number(s.prefix + "_" + m.key + "_ms")
			f.stat("all", m.id, s.stat, v, has)
		}
	}
	for _, m := range []struct{ key, id string }{
		{"duration", "duration"}, {"total_input_tokens", "input_tokens"}, {"total_output_tokens", "output_tokens"},
		{"request_throughput", "request_rate"}, {"output_throughput", "output_rate"}, {"total_token_throughput", "total_rate"}, {"total_throughput", "total_rate"}, {"request_goodput", "goodput"}, {"concurrency", "effective_concurrency"},
	} {
		v, has := o.number(m.key)
		f.value(m.id, v, has)
	}
	rate := o.opt("request_rate") // "inf" is no number: as fast as the concurrency allows
	asked := o.opt("max_concurrency")
	load := "as fast as the client could"
	if v, has := rate.Get(); has {
		load = fmt.Sprintf("%.3g req/s", v)
		if _, capped := asked.Get(); capped {
			// The cap is a limit, not a target, when requests arrive by a rate.
			asked = archive.Opt[float64]{}
		}
	} else if v, has := asked.Get(); has {
		load = fmt.Sprintf("concurrency %.3g", v)
	}
	im.Cannot = append(im.Cannot, archive.Annotation{Code: "figures_only", Message: "The file holds figures, not requests: no interval, no other percentile and no other definition can be computed. Write it with the per-request details to get them."})
	im.Analysis = f.analysis(ok, failed, asked, rate, load)
	return []*Imported{im}, nil
}

func engineOf(o object, format string) string {
	switch b := o.text("backend"); b {
	case "vllm", "vllm-chat", "sglang", "sglang-oai", "sglang-oai-chat", "trt", "tensorrt-llm", "tgi", "lmdeploy", "lmdeploy-chat":
		return b
	case "":
		if format == "sglang" {
			return "sglang"
		}
	}
	return "unknown"
}

// detailed makes records of the per-request lists, nil when they are not complete: the
// times of sending are needed to place requests on one clock.
func detailed(o object) []archive.Request {
	starts, ttfts := list[float64](o, "start_times"), list[float64](o, "ttfts")
	n := len(starts)
	if n == 0 || len(ttfts) != n {
		return nil
	}
	itls, in, out := list[[]float64](o, "itls"), list[int](o, "input_lens"), list[int](o, "output_lens")
	texts, errs := list[string](o, "generated_texts"), list[string](o, "errors")
	first := math.Inf(1)
	for _, s := range starts {
		if bad(s) {
			return nil
		}
		first = math.Min(first, s)
	}
	rs := make([]archive.Request, 0, n)
	for i := range n {
		at := instant(1 + starts[i] - first)
		r := record(i)
		r.T.Intended, r.T.Send = at, at
		if i < len(in) {
			r.Usage.Prompt = archive.Some(in[i])
		}
		if i < len(out) {
			r.Usage.Completion, r.Usage.Source = archive.Some(out[i]), archive.UsageServer
		}
		if i < len(texts) {
			r.Text = texts[i]
		}
		switch {
		case i < len(errs) && errs[i] != "":
			fail(&r, errs[i])
		case bad(ttfts[i]) || ttfts[i] <= 0:
			fail(&r, "no first token was recorded")
		default:
			stream(&r, ttfts[i], at2(itls, i))
		}
		rs = append(rs, r)
	}
	return rs
}

func at2(v [][]float64, i int) []float64 {
	if i < len(v) {
		return v[i]
	}
	return nil
}

// bad reports whether a time in seconds cannot be one.
func bad(s float64) bool { return math.IsNaN(s) || math.Abs(s) > 1e9 }

// instant converts seconds after the epoch.
func instant(s float64) archive.Instant { return archive.Instant(math.Max(1, s*1e9)) }

func record(i int) archive.Request {
	id := fmt.Sprintf("imported-%06d", i)
	return archive.Request{ID: id, Session: id, Phase: "imported", Task: "imported", Kind: archive.KindLoad, Status: archive.StatusOK, Usage: archive.Usage{Source: archive.UsageNone}}
}

func fail(r *archive.Request, message string) {
	r.Status = archive.StatusFailed
	r.Error = &archive.Failure{Kind: "imported", Message: message[:min(len(message), 500)]}
	r.Usage.Completion = archive.Opt[int]{}
	r.T.Done = max(r.T.Done, r.T.Send)
}

// stream places the first token and the gaps after it.
func stream(r *archive.Request, ttft float64, gaps []float64) {
	t := r.T.Send.Add(time.Duration(ttft * 1e9))
	r.T.First, r.T.Answer = t, t
	r.Chunks.T = append(r.Chunks.T, t)
	for _, g := range gaps {
		if bad(g) || g < 0 {
			continue
		}
		t = t.Add(time.Duration(g * 1e9))
		r.Chunks.T = append(r.Chunks.T, t)
	}
	r.T.Last, r.T.Done = t, t
}

func ended(rs []archive.Request) archive.Instant {
	var last archive.Instant
	for i := range rs {
		last = max(last, rs[i].T.Done)
	}
	return last
}
