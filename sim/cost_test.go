package sim

import (
	"math"
	"testing"
)

func lookup(t *testing.T, gpu, model string) Config {
	t.Helper()
	g, err := LookupGPU(gpu)
	if err != nil {
		t.Fatal(err)
	}
	m, err := LookupModel(model)
	if err != nil {
		t.Fatal(err)
	}
	return Config{GPU: g, Model: m}.withDefaults()
}

// The published step times of Llama-3.1-8B include 1 ms of host time.
func TestStepTimeMatchesPublishedTable(t *testing.T) {
	type point struct{ batch, context int }
	decode := []point{{1, 1024}, {32, 1024}, {128, 1024}, {128, 4096}}
	for _, row := range []struct {
		gpu     string
		decode  [4]float64 // ms
		prefill [3]float64 // ms, for 512, 2048 and 8192 tokens
	}{
		{"h100_sxm", [4]float64{7.2, 8.7, 13.2, 29.4}, [3]float64{13.5, 46.0, 200}},
		{"h200_sxm", [4]float64{5.7, 6.7, 10.3, 22.0}, [3]float64{12.8, 44.8, 196}},
		{"a100_80_sxm", [4]float64{11.5, 14.5, 25.5, 56.0}, [3]float64{35.1, 127.2, 574}},
		{"l40s", [4]float64{24.5, 30.5, 50.0, 120.2}, [3]float64{45.3, 153.0, 670}},
		{"b200_sxm", [4]float64{4.2, 4.9, 7.1, 14.6}, [3]float64{7.7, 23.4, 100}},
		{"l4", [4]float64{64.2, 81.6, 140.0, 342.1}, [3]float64{141.2, 508.3, 2244}},
		{"a10g", [4]float64{32.8, 42.9, 87.4, 188.5}, [3]float64{171.0, 687.4, 3114}},
	} {
		cfg := lookup(t, row.gpu, "llama-3.1-8b")
		c := newCost(cfg)
		check := func(what string, b batch, want float64) {
			got := c.gpu(&b, &Conditions{}).total*1e3 + 1
			if math.Abs(got-want)/want > 0.03 {
				t.Errorf("%s %s: step takes %.2f ms; the table says %.2f ms", row.gpu, what, got, want)
			}
		}
		for i, p := range decode {
			check("decode", batch{tokens: p.batch, decodes: p.batch, kRead: float64(p.batch * p.context)}, row.decode[i])
		}
		for i, n := range []int{512, 2048, 8192} {
			check("prefill", batch{tokens: n, prefill: n, chunks: 1, attn: float64(n) * float64(n) / 2}, row.prefill[i])
		}
	}
}

func TestModelArithmetic(t *testing.T) {
	for _, row := range []struct {
		name, what string
		got, want  float64
	}{
		{"8B has 6.98 G weights in its layers", "P", mustModel(t, "llama-3.1-8b").Params(), 6.98e9},
		{"8B's output head has 0.525 G weights", "d·V", mustModel(t, "llama-3.1-8b").HeadParams(), 0.525e9},
		{"8B keeps 131,072 bytes of KV a token", "KV", mustModel(t, "llama-3.1-8b").KVBytes(2), 131072},
		{"70B keeps 327,680 bytes of KV a token", "KV", mustModel(t, "llama-3.1-70b").KVBytes(2), 327680},
		{"latent attention keeps 70,272 bytes a token", "KV", mustModel(t, "deepseek-v3").KVBytes(2), 70272},
		{"DeepSeek-V3 has 671 G weights", "P", mustModel(t, "deepseek-v3").Params() + 2*mustModel(t, "deepseek-v3").HeadParams(), 671e9},
		{"DeepSeek-V3 uses 37 G of them a token, output head included", "P", mustModel(t, "deepseek-v3").ActiveParams() + mustModel(t, "deepseek-v3").HeadParams(), 37e9},
		{"Qwen3-235B has 235 G weights", "P", mustModel(t, "qwen3-235b-a22b").Params(), 234e9},
		{"Qwen3-235B uses 22 G of them a token", "P", mustModel(t, "qwen3-235b-a22b").ActiveParams(), 21.5e9},
		{"gpt-oss-120b has 117 G weights", "P", mustModel(t, "gpt-oss-120b").Params(), 115.7e9},
	} {
		if math.Abs(row.got-row.want)/row.want > 0.03 {
			t.Errorf("%s: %s = %.4g; want %.4g", row.name, row.what, row.got, row.want)
		}
	}
}

func mustModel(t *testing.T, name string) Model {
	t.Helper()
	m, err := LookupModel(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestExpertsTouched(t *testing.T) {
	m := Model{Layers: 1, Hidden: 1, Heads: 1, KV: 1, Head: 1, Experts: 128, TopK: 8, ExpertFF: 1}
	always, expert := m.layerParams()
	for tokens, want := range map[float64]float64{1: 8, 4: 29, 16: 82, 64: 126} {
		if got := (m.TouchedParams(tokens) - always) / expert; math.Abs(got-want) > 0.6 {
			t.Errorf("a step over %g tokens touches %.1f of 128 experts; want %.0f", tokens, got, want)
		}
	}
}

func TestKVCapacity(t *testing.T) {
	for _, row := range []struct {
		gpu    string
		tokens float64 // published estimate at --gpu-memory-utilization 0.90
	}{
		{"h100_sxm", 449e3}, {"a100_40_sxm", 153e3}, {"l4", 47e3},
	} {
		cfg := lookup(t, row.gpu, "llama-3.1-8b")
		cfg.GPUMemoryUtilization = 0.90
		cfg.MaxModelLen = 8192
		mem, err := cfg.Memory()
		if err != nil {
			t.Fatalf("%s: %v", row.gpu, err)
		}
		// The estimate leaves out the input embedding (1.05 GB, 8 k tokens).
		if math.Abs(float64(mem.Tokens)+8e3-row.tokens)/row.tokens > 0.06 {
			t.Errorf("%s: KV cache holds %d tokens; want about %.0f", row.gpu, mem.Tokens, row.tokens)
		}
	}
}
