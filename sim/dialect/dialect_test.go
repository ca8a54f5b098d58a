package dialect

import (
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// sources is an engine that has worked: two requests done, one running, one waiting.
func sources(t *testing.T, cfg sim.Config) []Source {
	t.Helper()
	cfg.MaxNumSeqs = 1
	e, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Duration(0)
	for range 2 {
		e.Submit(now, &sim.Request{Prompt: 400, Output: 20, Keys: sim.Keys(16, sim.Span{ID: 1, Tokens: 420})})
	}
	for !e.Idle() {
		s, _ := e.Begin(now)
		e.Commit()
		now = s.End
	}
	e.Submit(now, &sim.Request{Prompt: 400, Output: 50})
	e.Submit(now, &sim.Request{Prompt: 400, Output: 50})
	for range 3 {
		s, _ := e.Begin(now)
		e.Commit()
		now = s.End
	}
	return []Source{{Model: `a "quoted" model`, State: e.Snapshot(now)}}
}

func TestPages(t *testing.T) {
	for _, row := range []struct {
		dialect string
		want    []string
	}{
		{"vllm", []string{`vllm:num_requests_running{engine="0",model_name="a \"quoted\" model"} 1`, "vllm:num_requests_waiting", `vllm:request_success_total{engine="0",model_name="a \"quoted\" model",finished_reason="stop"} 2`,
			"vllm:spec_decode_num_draft_tokens_total", "vllm:iteration_tokens_total_count"}},
		{"sglang", []string{"sglang:num_running_reqs{", `tp_rank="1"} 1`, "sglang:token_usage", "sglang:generation_tokens_total", `mode="decode"} 4`, "sglang:time_to_first_token_seconds_count", "sglang:spec_accept_length"}},
		{"tgi", []string{"tgi_batch_current_size 1", "tgi_queue_size 1", "tgi_request_generated_tokens_sum 40", `tgi_batch_inference_duration_count{method="decode"}`}},
		{"tensorrt_llm", []string{"trtllm_num_requests_running{", "trtllm_kv_cache_reused_blocks_total", "trtllm_time_to_first_token_seconds_bucket", `finished_reason="stop"} 2`}},
		{"llama_cpp", []string{"llamacpp:requests_processing 1", "llamacpp:requests_deferred 1", "llamacpp:tokens_predicted_total 40", "llamacpp:n_decode_total"}},
	} {
		d, err := Lookup(row.dialect)
		if err != nil {
			t.Fatal(err)
		}
		text := string(d.Page(sources(t, sim.Config{TensorParallel: 2, Speculative: sim.Speculative{Tokens: 2, Acceptance: 0.5}})))
		for _, w := range row.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: the page has no %q:\n%.3000s", row.dialect, w, text)
			}
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(text))
		if err != nil || len(families) < 10 {
			t.Errorf("%s: %d families, error %v; want a valid page", row.dialect, len(families), err)
		}
		if len(d.Page(nil)) > 20000 {
			t.Errorf("%s: a page without engines is not small", row.dialect)
		}
	}
	for short, long := range map[string]string{"trtllm": "tensorrt_llm", "llamacpp": "llama_cpp", "": "vllm"} {
		if d, err := Lookup(short); err != nil || d.Name != long {
			t.Errorf("Lookup(%q) = %q, %v; want %s", short, d.Name, err, long)
		}
	}
	if _, err := Lookup("mystery"); err == nil || !strings.Contains(err.Error(), "sglang") {
		t.Errorf("unknown dialect: %v; want an error that lists the known ones", err)
	}
}
