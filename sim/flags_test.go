package sim

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseFlags(t *testing.T) {
	l, err := ParseFlags(strings.Fields("vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-seqs=64 --max_num_batched_tokens 4096 --gpu-memory-utilization 0.9 " +
		"--no-enable-prefix-caching --async-scheduling --enforce-eager --kv-cache-dtype fp8 --quantization fp8 --scheduling-policy priority --watermark 0 " +
		`--speculative-config {"method":"eagle3","num_speculative_tokens":3} --sim-acceptance 0.5 --dtype auto --trust-remote-code --port 0 --served-model-name q`))
	if err != nil {
		t.Fatal(err)
	}
	c := l.Config
	if c.Model.Name != "Qwen/Qwen3-32B" || c.TensorParallel != 2 || c.MaxNumSeqs != 64 || c.MaxNumBatchedTokens != 4096 || c.GPUMemoryUtilization != 0.9 ||
		c.EnablePrefixCaching != Off || c.AsyncScheduling != On || !c.EnforceEager || c.KVCacheDType != "fp8" || c.Quantization != "fp8" ||
		!c.PriorityScheduling || c.Watermark >= 0 || c.Speculative != (Speculative{Tokens: 3, Acceptance: 0.5, DraftShare: 0.04}) {
		t.Errorf("config = %+v", c)
	}
	if l.Port != 0 || l.ModelName != "q" || !slices.Equal(l.Ignored, []string{"dtype", "trust-remote-code"}) {
		t.Errorf("launch = %+v", l)
	}
}

func TestParseFlagsRefusesWhatTheEngineRefuses(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{"--max-num-seq 3", "unrecognized arguments: --max-num-seq"},
		{"--max-num-seqs many", `argument --max-num-seqs: invalid int value: "many"`},
		{"--max-num-seqs 0", "--max-num-seqs 0: must be at least 1"},
		{"--max-num-seqs", "argument --max-num-seqs: expected one argument"},
		{"--max-num-batched-tokens 128 --max-num-seqs 256", "must be at least --max-num-seqs (256)"},
		{"--tensor-parallel-size 3", "total number of attention heads (32) must be divisible by it"},
		{"--gpu-memory-utilization 1.5", "must be above 0 and at most 1"},
		{"--block-size 17", "use 8, 16, 32, 64, 128 or 256"},
		{"--max-model-len 1000000", "the model's config allows 1 to 131072"},
		{"--no-enable-chunked-prefill --max-num-batched-tokens 4096", "without chunked prefill it must be at least --max-model-len (131072)"},
		{"--quantization fp7", `--quantization "fp7": use fp8, int8, int4 or fp4`},
		{"--quantization fp8 --sim-gpu a100_80_sxm", "has no 8-bit floating point units"},
		{"--kv-cache-dtype int3", "use auto or fp8"},
		{"--scheduling-policy lifo", "choose from fcfs, priority"},
		{"--speculative-config {", "invalid JSON"},
		{`--speculative-config {"num_speculative_tokens":0}`, "must be greater than zero"},
		{"serve gpt-9", `unknown model "gpt-9"`},
		{"--sim-gpu z80", `unknown GPU "z80"`},
		{"--port 99999", "between 0 and 65535"},
		{"stray", `unknown model "stray"`},
		{"--host x stray", `unrecognized argument "stray"`},
	} {
		if _, err := ParseFlags(strings.Fields(row.args)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("ParseFlags(%s) = %v; want an error with %q", row.args, err, row.want)
		}
	}
	_, err := ParseFlags([]string{"--max-num-seqs", "x", "--nonsense", "1", "--port", "-1"})
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three mistakes give %v; want all three", err)
	}
}

func FuzzParseFlags(f *testing.F) {
	f.Add("serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 64")
	f.Add(`--speculative-config {"num_speculative_tokens":2} --watermark NaN --gpu-memory-utilization 1e999`)
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseFlags(strings.Fields(s))
		if err != nil {
			return
		}
		if mem, err := l.Config.Memory(); err == nil && mem.Blocks < 1 {
			t.Fatalf("ParseFlags(%q) starts with %d KV blocks", s, mem.Blocks)
		}
	})
}

func TestAPIServersShareTheFrontend(t *testing.T) {
	for _, row := range []struct {
		name string
		argv []string
		want time.Duration
	}{
		{"one unless told", nil, DefaultFrontend.PerRequest},
		{"four take a quarter each", []string{"--api-server-count", "4"}, DefaultFrontend.PerRequest / 4},
	} {
		l, err := ParseFlags(row.argv)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Frontend().PerRequest; got != row.want {
			t.Errorf("%s: %v a request; want %v", row.name, got, row.want)
		}
	}
}
