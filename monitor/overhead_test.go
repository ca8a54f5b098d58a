//go:build unix

package monitor

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/monitor/gpu"
	"github.com/inferencebench/inferencebench/monitor/proc"
)

// canned answers every request with one page, without a network or a server in this process.
type canned []byte

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(c)), Request: r}, nil
}

// enginePage is a page as large as a busy vLLM's: some 500 series in 60 KB.
func enginePage() []byte {
	var b bytes.Buffer
	for _, g := range []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"} {
		fmt.Fprintf(&b, "# HELP vllm:%[1]s What it is, in some words.\n# TYPE vllm:%[1]s gauge\nvllm:%[1]s{engine=\"0\",model_name=\"org/some-model-8b-instruct\"} 0.5\n", g)
	}
	for _, h := range []string{
		"time_to_first_token_seconds", "inter_token_latency_seconds", "e2e_request_latency_seconds", "request_queue_time_seconds", "request_prefill_time_seconds",
		"request_decode_time_seconds", "request_inference_time_seconds", "request_prompt_tokens", "request_generation_tokens", "iteration_tokens_total",
	} {
		fmt.Fprintf(&b, "# TYPE vllm:%s histogram\n", h)
		for i := range 45 {
			fmt.Fprintf(&b, "vllm:%s_bucket{engine=\"0\",le=\"%d.0\",model_name=\"org/some-model-8b-instruct\"} %d.0\n", h, i, i*100)
		}
		fmt.Fprintf(&b, "vllm:%[1]s_bucket{engine=\"0\",le=\"+Inf\",model_name=\"org/some-model-8b-instruct\"} 5000.0\nvllm:%[1]s_sum{engine=\"0\",model_name=\"org/some-model-8b-instruct\"} 1.5\nvllm:%[1]s_count{engine=\"0\",model_name=\"org/some-model-8b-instruct\"} 5000.0\n", h)
	}
	return b.Bytes()
}

func gpuPage(n int) []byte {
	var b bytes.Buffer
	for _, f := range []string{"GPU_UTIL", "FB_USED", "FB_FREE", "POWER_USAGE", "TOTAL_ENERGY_CONSUMPTION", "GPU_TEMP", "SM_CLOCK", "MEM_CLOCK", "MEM_COPY_UTIL", "XID_ERRORS"} {
		for i := range n {
			fmt.Fprintf(&b, "DCGM_FI_DEV_%s{gpu=\"%d\",UUID=\"GPU-%d\",pci_bus_id=\"0000:%02x:00.0\",modelName=\"NVIDIA H100 80GB HBM3\",hostname=\"node\"} 50\n", f, i, i, i)
		}
	}
	return b.Bytes()
}

// tenSources are five large metrics pages, eight GPUs on one page, and this machine.
func tenSources() []Source {
	a, _ := engines.Lookup("vllm")
	page := &http.Client{Transport: canned(enginePage())}
	out := []Source{NewHost(), NewClient(func() ClientCounters { return ClientCounters{} }), proc.New(proc.Root, os.Getpid())}
	for i := range 5 {
		out = append(out, NewEngine(page, fmt.Sprintf("http://engine-%d/metrics", i), nil, a))
	}
	exporter := &http.Client{Transport: canned(gpuPage(8))}
	return append(out, gpu.Page(exporter, "http://node-0:9400/metrics", nil, ""), gpu.Page(exporter, "http://node-1:9400/metrics", nil, ""))
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestOverhead holds the monitor to its budget: ten sources read once a second take at
// most 1 % of one core, garbage collection included.
func TestOverhead(t *testing.T) {
	sources := tenSources()
	round := func() {
		for _, s := range sources {
			var r reading
			if err := r.safely(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", name(s), err)
			}
		}
	}
	round()
	const rounds = 40
	began := cpuTime()
	for range rounds {
		round()
	}
	each := (cpuTime() - began) / rounds
	t.Logf("%d sources, pages of %d KB: %v of processor time a round, %.2f %% of one core at 1 Hz", len(sources), len(enginePage())>>10, each, 100*each.Seconds())
	limit := 10 * time.Millisecond
	if raceEnabled {
		limit *= 20
	}
	if each > limit {
		t.Errorf("a round takes %v of processor time; want at most %v: 1 %% of one core at 1 Hz", each, limit)
	}
}

func BenchmarkRound(b *testing.B) {
	sources := tenSources()
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range sources {
			var r reading
			if err := r.safely(b.Context(), s); err != nil {
				b.Fatal(err)
			}
		}
	}
}
