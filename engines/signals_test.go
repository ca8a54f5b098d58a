package engines

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func adapter(t *testing.T, name string) *Adapter {
	t.Helper()
	a, ok := Lookup(name)
	if !ok {
		t.Fatalf("no adapter %q", name)
	}
	return a
}

func TestSignals(t *testing.T) {
	tests := []struct {
		why    string
		engine string
		page   string
		want   map[string]float64
		codes  []string
	}{
		{
			"B118 the new name of the cache gauge", "vllm",
			`vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.42`,
			map[string]float64{"kv_cache_usage": 0.42, "kv_cache_usage_max": 0.42}, nil,
		},
		{
			"its old name", "vllm",
			`vllm:gpu_cache_usage_perc{model_name="m"} 0.42`,
			map[string]float64{"kv_cache_usage": 0.42, "kv_cache_usage_max": 0.42}, nil,
		},
		{
			"both names are one fact, not two", "vllm",
			"vllm:kv_cache_usage_perc{engine=\"0\"} 0.42\nvllm:gpu_cache_usage_perc 0.42\n",
			map[string]float64{"kv_cache_usage": 0.42, "kv_cache_usage_max": 0.42}, nil,
		},
		{"neither name is unknown, not zero", "vllm", "vllm:num_requests_running 1\n", map[string]float64{"requests_running": 1}, nil},
		{
			"B120 several engines: queues and counters add up, cache use has a mean and a maximum", "vllm",
			`vllm:num_requests_running{engine="0"} 12
vllm:num_requests_running{engine="1"} 30
vllm:kv_cache_usage_perc{engine="0"} 0.2
vllm:kv_cache_usage_perc{engine="1"} 0.9
vllm:generation_tokens_total{engine="0"} 1000
vllm:generation_tokens_total{engine="1"} 2500`,
			map[string]float64{"requests_running": 42, "kv_cache_usage": 0.55, "kv_cache_usage_max": 0.9, "generation_tokens_total": 3500}, nil,
		},
		{
			"histograms: buckets of several engines add up", "vllm",
			`# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1"} 1
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 4
vllm:time_to_first_token_seconds_sum{engine="0"} 2.5
vllm:time_to_first_token_seconds_count{engine="0"} 4
vllm:time_to_first_token_seconds_bucket{engine="1",le="0.1"} 2
vllm:time_to_first_token_seconds_bucket{engine="1",le="+Inf"} 3
vllm:time_to_first_token_seconds_sum{engine="1"} 0.5
vllm:time_to_first_token_seconds_count{engine="1"} 3`,
			map[string]float64{"ttft_bucket:0.1": 3, "ttft_bucket:+Inf": 7, "ttft_sum": 3, "ttft_count": 7}, nil,
		},
		{
			"a bucket bound that only one engine has cannot be added up", "vllm",
			`vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1"} 1
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 4
vllm:time_to_first_token_seconds_bucket{engine="1",le="+Inf"} 3`,
			map[string]float64{"ttft_bucket:+Inf": 7}, []string{"histogram_mismatch"},
		},
		{
			"a counter without _total is the same counter", "vllm", "vllm:generation_tokens 7\n",
			map[string]float64{"generation_tokens_total": 7}, nil,
		},
		{
			"a histogram whose name ends in _total is no counter", "vllm",
			"# TYPE vllm:iteration_tokens_total histogram\nvllm:iteration_tokens_total_bucket{le=\"+Inf\"} 2\nvllm:iteration_tokens_total_sum 20\nvllm:iteration_tokens_total_count 2\n",
			map[string]float64{"iteration_tokens_bucket:+Inf": 2, "iteration_tokens_sum": 20, "iteration_tokens_count": 2}, nil,
		},
		{
			"the cache's capacity from a label", "vllm",
			`vllm:cache_config_info{block_size="16",kv_cache_size_tokens="64000",num_gpu_blocks="5000"} 1`,
			map[string]float64{"kv_cache_tokens_capacity": 64000}, nil,
		},
		{
			"the cache's capacity from blocks where the label is missing", "vllm",
			`vllm:cache_config_info{block_size="16",num_gpu_blocks="5000"} 1`,
			map[string]float64{"kv_cache_tokens_capacity": 80000}, nil,
		},
		{
			"a label that is no number is unknown", "vllm",
			`vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1`, map[string]float64{}, nil,
		},
		{
			"a breakdown stands beside the total", "vllm",
			"vllm:request_success_total{finished_reason=\"stop\"} 5\nvllm:request_success_total{finished_reason=\"length\"} 2\n",
			map[string]float64{"requests_finished_total": 7, "requests_finished_total:stop": 5, "requests_finished_total:length": 2}, nil,
		},
		{"NaN is unknown", "vllm", "vllm:num_requests_running NaN\n", map[string]float64{}, nil},
		{
			"a bad line costs itself alone", "vllm", "vllm:num_requests_running 3\nvllm:num_requests_waiting{ 4\n",
			map[string]float64{"requests_running": 3}, []string{"bad_metrics_line"},
		},
		{
			"the process collector", "vllm", "process_start_time_seconds 1.7e9\nprocess_cpu_seconds_total 12.5\n",
			map[string]float64{"process_start_time_seconds": 1.7e9, "process_cpu_seconds_total": 12.5}, nil,
		},
		{
			"llama.cpp's names; seconds in prefill are the sum of a histogram without buckets", "llama_cpp",
			`llamacpp:prompt_tokens_total 162
llamacpp:prompt_tokens_cached_total 60
llamacpp:prompt_seconds_total 1.5
llamacpp:tokens_predicted_total 480
llamacpp:requests_processing 4
llamacpp:requests_deferred 2
llamacpp:n_busy_slots_per_decode 3.4
llamacpp:n_decode_total 161`,
			map[string]float64{
				"prompt_tokens_total": 162, "prompt_tokens_cached_total": 60, "prefill_time_sum": 1.5, "generation_tokens_total": 480,
				"requests_running": 4, "requests_waiting": 2, "batch_size": 3.4, "engine_steps_total": 161,
			}, nil,
		},
		{"an empty page has no signals and is no error", "vllm", "", map[string]float64{}, nil},
	}
	for _, tt := range tests {
		got, notes, err := adapter(t, tt.engine).Signals([]byte(tt.page))
		if err != nil {
			t.Errorf("%s: Signals: %v", tt.why, err)
			continue
		}
		var codes []string
		for _, n := range notes {
			codes = append(codes, n.Code)
		}
		if d := cmp.Diff(tt.want, got, cmpopts.EquateApprox(1e-12, 0)); d != "" {
			t.Errorf("%s: Signals (-want +got):\n%s", tt.why, d)
		}
		if d := cmp.Diff(tt.codes, codes, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: annotations (-want +got):\n%s", tt.why, d)
		}
	}
}

func TestSignalsRefusesWebPage(t *testing.T) {
	_, _, err := adapter(t, "vllm").Signals([]byte("<!doctype html>\n<title>Welcome</title>\n"))
	if !errors.Is(err, ErrNotMetrics) {
		t.Errorf("Signals of a web page: %v; want ErrNotMetrics", err)
	}
}

func TestRankLabels(t *testing.T) {
	a := &Adapter{
		RankLabels: []string{"tp_rank", "pp_rank"},
		Sources: map[string][]Candidate{
			"preemptions":      {{Metric: "r_total", Type: "counter"}},
			"requests_running": {{Metric: "run", Type: "gauge"}},
		},
	}
	got, _, err := a.Signals([]byte(`r_total{dp_rank="0",tp_rank="1"} 5
r_total{dp_rank="0",tp_rank="0"} 4
r_total{dp_rank="1",tp_rank="0"} 10
r_total{dp_rank="1",tp_rank="1"} 10
run 3
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"preemptions_total": 14, "requests_running": 3}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ranks of one engine report the same thing (-want +got):\n%s", d)
	}
}

func TestBreakdownIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 2 * maxBreakdown {
		b.WriteString(`vllm:request_success_total{finished_reason="`)
		b.WriteString(strings.Repeat("x", i+1))
		b.WriteString("\"} 1\n")
	}
	got, _, err := adapter(t, "vllm").Signals([]byte(b.String()))
	if err != nil || len(got) > maxBreakdown+1 {
		t.Errorf("%d values, %v; want at most %d", len(got), err, maxBreakdown+1)
	}
	if got["requests_finished_total"] != 2*maxBreakdown {
		t.Errorf("total = %v; want %v, the cut parts included", got["requests_finished_total"], 2*maxBreakdown)
	}
}

func FuzzSignals(f *testing.F) {
	f.Add([]byte("vllm:kv_cache_usage_perc 0.5\nvllm:request_success_total{finished_reason=\"a\"} 1\n"))
	f.Add([]byte("vllm:time_to_first_token_seconds_bucket{le=\"x\"} 1\nvllm:cache_config_info{num_gpu_blocks=\"1e400\"} 1\n"))
	all := Table()
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, a := range all {
			got, _, err := a.Signals(b)
			if err != nil {
				continue
			}
			for name, v := range got {
				if !usable(v) {
					t.Fatalf("%s: %s = %v", a.Name, name, v)
				}
			}
		}
	})
}
