package sim

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestReadModel(t *testing.T) {
	llama := `{"architectures":["LlamaForCausalLM"],"hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_hidden_layers":32,
		"num_key_value_heads":8,"vocab_size":128256,"max_position_embeddings":131072,"tie_word_embeddings":false}`
	m, err := ReadModel("meta-llama/Llama-3.1-8B-Instruct", []byte(llama))
	if want := mustModel(t, "llama-3.1-8b"); err != nil || m != want {
		t.Errorf("Llama: %+v, %v; want %+v", m, err, want)
	}
	mixtral := `{"hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"vocab_size":32000,
		"max_position_embeddings":32768,"num_local_experts":8,"num_experts_per_tok":2,"sliding_window":null}`
	m, err = ReadModel("mistralai/Mixtral-8x7B-Instruct-v0.1", []byte(mixtral))
	if want := mustModel(t, "mixtral-8x7b-v0.1"); err != nil || m != want {
		t.Errorf("Mixtral: %+v, %v; want %+v", m, err, want)
	}
	deepseek := `{"hidden_size":7168,"intermediate_size":18432,"num_attention_heads":128,"num_hidden_layers":61,"num_key_value_heads":128,"vocab_size":129280,
		"max_position_embeddings":163840,"n_routed_experts":256,"num_experts_per_tok":8,"moe_intermediate_size":2048,"n_shared_experts":1,"first_k_dense_replace":3,
		"kv_lora_rank":512,"qk_rope_head_dim":64,"qk_nope_head_dim":128}`
	m, err = ReadModel("deepseek-ai/DeepSeek-V3", []byte(deepseek))
	if want := mustModel(t, "deepseek-v3"); err != nil || m != want {
		t.Errorf("DeepSeek: %+v, %v; want %+v", m, err, want)
	}
	for _, bad := range []string{"", "[]", "{}", `{"num_hidden_layers":-1}`, `{"hidden_size":1e12}`, `{"num_hidden_layers":2,"hidden_size":64,"num_attention_heads":5,"num_key_value_heads":2,"vocab_size":9,"intermediate_size":7,"max_position_embeddings":9}`} {
		if m, err := ReadModel("x", []byte(bad)); err == nil {
			t.Errorf("ReadModel(%s) = %+v; want an error", bad, m)
		}
	}
}

func FuzzReadModel(f *testing.F) {
	f.Add([]byte(`{"hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":100,"intermediate_size":128,"max_position_embeddings":512}`))
	f.Add([]byte(`{"text_config":{"hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"num_experts":4,"num_experts_per_tok":9,"vocab_size":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadModel("x", b)
		if err != nil {
			return
		}
		c := newCost(Config{Model: m}.withDefaults())
		got := c.gpu(&batch{tokens: 5, decodes: 1, kRead: 10, chunks: 1, prefill: 4, attn: 8}, &Conditions{}).total
		if math.IsNaN(got) || math.IsInf(got, 0) || got <= 0 {
			t.Fatalf("a step of %+v takes %v", m, got)
		}
	})
}

// decodeStep is the time of a decoding step of n requests with prompts of 1,000 tokens.
func decodeStep(t *testing.T, cfg Config, n int) time.Duration {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		e.Submit(0, &Request{Prompt: 1000, Output: 400})
	}
	now, last := time.Duration(0), Step{}
	for last.Decodes < n {
		s, ok := e.Begin(now)
		if !ok {
			t.Fatal("nothing runs")
		}
		e.Commit()
		now, last = s.End, s
	}
	return last.End - last.Start
}

// What each feature does to a step, by direction and rough size.
func TestFeaturesChangeTheStep(t *testing.T) {
	base := decodeStep(t, Config{}, 8)
	big := lookup(t, "h100_sxm", "llama-3.1-70b")
	big.MaxModelLen = 8192
	with := func(c Config, f func(*Config)) Config { f(&c); return c }
	for _, row := range []struct {
		name      string
		got, than time.Duration
		low, high float64 // of got/than
	}{
		{"8-bit weights stream in less time", decodeStep(t, Config{Quantization: "fp8"}, 8), base, 0.6, 0.9},
		{"4-bit weights stream in less time still", decodeStep(t, Config{Quantization: "int4"}, 8), base, 0.4, 0.7},
		{"an 8-bit KV cache is read in half the time", decodeStep(t, Config{KVCacheDType: "fp8"}, 128), decodeStep(t, Config{}, 128), 0.6, 0.85},
		{"eager mode pays for launches", decodeStep(t, Config{EnforceEager: true}, 8), base, 1.15, 1.6},
		{"async scheduling hides the host", decodeStep(t, Config{AsyncScheduling: On}, 8), base, 0.8, 0.95},
		{"four GPUs are faster than two, not twice as fast", decodeStep(t, with(big, func(c *Config) { c.TensorParallel = 4 }), 8), decodeStep(t, with(big, func(c *Config) { c.TensorParallel = 2; c.Quantization = "fp8" }), 8), 0.7, 1.2},
		{"a mixture reads few weights for one token", decodeStep(t, with(lookup(t, "h100_sxm", "qwen3-30b-a3b"), func(*Config) {}), 1), decodeStep(t, with(lookup(t, "h100_sxm", "qwen3-30b-a3b"), func(*Config) {}), 32), 0.1, 0.6},
		{"drafts lengthen a step", decodeStep(t, Config{Speculative: Speculative{Tokens: 4, DraftShare: 0.1}}, 8), base, 1.2, 1.6},
	} {
		if r := float64(row.got) / float64(row.than); r < row.low || r > row.high {
			t.Errorf("%s: %v against %v, a ratio of %.2f; want %.2f to %.2f", row.name, row.got, row.than, r, row.low, row.high)
		}
	}
}

func TestSpeculationGivesTheExpectedTokensAStep(t *testing.T) {
	e, err := New(Config{Speculative: Speculative{Tokens: 3, Acceptance: 0.7}, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	r := &Request{Prompt: 100, Output: 5000}
	steps := drive(t, e, []*Request{r}, []time.Duration{0})
	want := (1 - math.Pow(0.7, 4)) / (1 - 0.7) // 2.53
	if got := 5000 / float64(len(steps)); math.Abs(got-want) > 0.1 {
		t.Errorf("%.2f tokens a step; want %.2f", got, want)
	}
}

func TestPriorityRunsFirst(t *testing.T) {
	e, err := New(Config{PriorityScheduling: true, MaxNumSeqs: 1})
	if err != nil {
		t.Fatal(err)
	}
	running, late, urgent := &Request{Prompt: 50, Output: 20}, &Request{Prompt: 50, Output: 5, Priority: 5}, &Request{Prompt: 50, Output: 5, Priority: -1}
	drive(t, e, []*Request{running, late, urgent}, []time.Duration{0, time.Millisecond, 2 * time.Millisecond})
	if urgent.Scheduled >= late.Scheduled || urgent.Scheduled < running.Last {
		t.Errorf("scheduled at %v (priority -1) and %v (priority 5) after %v; want the lower number first, and nothing running preempted for it", urgent.Scheduled, late.Scheduled, running.Last)
	}
}

func TestOffloadedBlocksComeBack(t *testing.T) {
	ttft := func(host float64) time.Duration {
		e, err := New(Config{NumGPUBlocksOverride: 320, MaxModelLen: 5000, KVOffloadBytes: host})
		if err != nil {
			t.Fatal(err)
		}
		key := func(id uint64) []uint64 { return Keys(16, Span{id, 4000}, Span{id + 100, 10}) }
		a, b, again := &Request{Prompt: 4000, Output: 10, Keys: key(1)}, &Request{Prompt: 4000, Output: 10, Keys: key(2)}, &Request{Prompt: 4000, Output: 10, Keys: key(1)}
		drive(t, e, []*Request{a, b, again}, []time.Duration{0, time.Second, 2 * time.Second})
		return again.First - again.Queued
	}
	if with, without := ttft(2e9), ttft(0); with > without/2 {
		t.Errorf("a prompt whose blocks went to host memory starts after %v, without host memory after %v; want less than half", with, without)
	}
}

func TestPrefillFirstKeepsStepsApart(t *testing.T) {
	e, err := New(Config{PrefillFirst: true})
	if err != nil {
		t.Fatal(err)
	}
	a, b := &Request{Prompt: 500, Output: 50}, &Request{Prompt: 3000, Output: 50}
	for _, s := range drive(t, e, []*Request{a, b}, []time.Duration{0, 60 * time.Millisecond}) {
		if s.PrefillTokens > 0 && s.DecodeTokens > 0 {
			t.Fatalf("a step mixes %d prompt tokens and %d others", s.PrefillTokens, s.DecodeTokens)
		}
	}
}

func TestConditionsReachStepAndTelemetry(t *testing.T) {
	cond := Conditions{}
	e, err := New(Config{Conditions: func(time.Duration) Conditions { return cond }})
	if err != nil {
		t.Fatal(err)
	}
	e.Submit(0, &Request{Prompt: 100, Output: 1000})
	now := time.Duration(0)
	step := func() time.Duration {
		s, _ := e.Begin(now)
		e.Commit()
		now = s.End
		return s.End - s.Start
	}
	step()
	healthy := step()
	for _, row := range []struct {
		name string
		c    Conditions
		more time.Duration
		tele func(Telemetry) bool
	}{
		{"host time is added", Conditions{HostExtra: 5 * time.Millisecond}, 5 * time.Millisecond, func(g Telemetry) bool { return g.SMClockMHz == g.SMClockMaxMHz }},
		{"communication is added", Conditions{CommExtra: 3 * time.Millisecond}, 3 * time.Millisecond, func(Telemetry) bool { return true }},
		{"a lower clock makes the step longer and is reported", Conditions{ClockLoss: 0.5}, healthy / 5, func(g Telemetry) bool { return g.ThrottlePower && !g.ThrottleThermal && g.SMClockMHz == 990 }},
		{"heat is reported as heat", Conditions{ClockLoss: 0.4, Thermal: true}, healthy / 8, func(g Telemetry) bool { return g.ThrottleThermal && g.Temperature > 80 }},
		{"a neighbour takes its share", Conditions{Slowdown: 0.5}, healthy / 2, func(g Telemetry) bool { return !g.ThrottlePower }},
	} {
		cond = row.c
		if d := step() - healthy; d < row.more*9/10 {
			t.Errorf("%s: the step is %v longer; want about %v", row.name, d, row.more)
		}
		if !row.tele(e.GPU(now)) {
			t.Errorf("%s: telemetry %+v", row.name, e.GPU(now))
		}
	}
	cond = Conditions{KVLost: 0.5}
	step()
	if u := e.Load().KVUsage; u < 0.5 || u > 0.52 {
		t.Errorf("with half of the blocks lost the usage is %.2f", u)
	}
}

func TestTelemetryEnergy(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	idle := e.GPU(10 * time.Second)
	if math.Abs(idle.EnergyJoules-1100) > 1 || idle.UtilPercent != 0 {
		t.Errorf("ten idle seconds at 110 W: %+v", idle)
	}
	for range 64 {
		e.Submit(10*time.Second, &Request{Prompt: 1000, Output: 400})
	}
	now := 10 * time.Second
	for !e.Idle() {
		s, _ := e.Begin(now)
		e.Commit()
		now = s.End
	}
	busy := e.GPU(now)
	watts := (busy.EnergyJoules - idle.EnergyJoules) / (now - 10*time.Second).Seconds()
	if watts < 400 || watts > 700 || busy.UtilPercent < 70 || busy.PowerWatts > busy.PowerLimitWatts || busy.Temperature < 40 {
		t.Errorf("under load: mean %.0f W, %+v", watts, busy)
	}
}

func TestValidateReportsEverythingAtOnce(t *testing.T) {
	err := Config{MaxNumSeqs: -1, BlockSize: 7, GPUMemoryUtilization: 3, Quantization: "x", KVCacheDType: "y", Watermark: 2}.Validate()
	if err == nil {
		t.Fatal("an impossible configuration is valid")
	}
	for _, want := range []string{"--max-num-seqs", "--block-size", "--gpu-memory-utilization", "--quantization", "--kv-cache-dtype", "--watermark"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
}
