package roofline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tol*math.Abs(want) {
		t.Errorf("%s = %.4g; want %.4g ± %.0f %%", what, got, want, 100*tol)
	}
}

func llama8(t *testing.T) Model {
	t.Helper()
	m, ok := FindModel("meta-llama/Llama-3.1-8B-Instruct")
	if !ok {
		t.Fatal("no Llama-3.1-8B")
	}
	return m
}

// The published arithmetic of Llama-3.1-8B.
func TestModelArithmetic(t *testing.T) {
	m := llama8(t)
	near(t, "linear parameters", m.Params(), 6.98e9, 0.005)
	near(t, "head parameters", m.HeadParams(), 0.525e9, 0.005)
	near(t, "KV bytes a token", m.KVBytes(2), 131072, 0)
	near(t, "FLOPs a token without attention", 2*m.Params(), 14.0e9, 0.01)
	near(t, "FLOPs a token and context token", (m.DecodeFLOPs(1000)-m.DecodeFLOPs(0))/1000, 0.524e6, 0.01)
	big, _ := FindModel("Llama-3.1-70B")
	near(t, "KV bytes a token of 70B", big.KVBytes(2), 327680, 0)
	mla, _ := FindModel("deepseek-ai/DeepSeek-V3")
	near(t, "KV bytes a token with latent attention", mla.KVBytes(2), 70272, 0)
	near(t, "experts touched, 128 choose 8, 16 tokens", Model{Experts: 128, TopK: 8}.Touched(16), 82, 0.01)
	near(t, "experts touched, 256 choose 8, 64 tokens", Model{Experts: 256, TopK: 8}.Touched(64), 222, 0.01)
}

// H100, 8B in 16 bits, concurrency 64, 1024 in and 512 out, TPOT 13.1 ms: 59 % MBU and
// 22 % MFU.
func TestWorkedExample(t *testing.T) {
	d, ok := FindDevice("NVIDIA H100 80GB HBM3")
	if !ok || d.Name != "H100 SXM" {
		t.Fatalf("device = %+v", d)
	}
	s := Setup{Device: d, Model: llama8(t)}
	steps := 1 / 0.0131
	r := Rates{Steps: steps, Decode: 64 * steps, Context: 1280, Prompt: 1024}
	r.Prefill = r.Decode * 1024 / 512
	near(t, "MBU", s.MBU(r), 0.59, 0.03)
	near(t, "MFU", s.MFU(r), 0.22, 0.1)
	near(t, "KV budget", s.KVBudget(0.9, 3.5e9), 449e3, 0.03)
	near(t, "ridge", s.Ridge(), 295*.793/.760, 0.02)
}

// The step model against the published step times of the same kernels, host work of 1 ms
// left out.
func TestStepAgainstKernels(t *testing.T) {
	for _, c := range []struct {
		device                         string
		b1, b32, b128, b128long, p2048 float64
	}{
		{"H100 SXM", 7.2, 8.7, 13.2, 29.4, 46.0},
		{"H200 SXM", 5.7, 6.7, 10.3, 22.0, 44.8},
		{"A100-80 SXM", 11.5, 14.5, 25.5, 56.0, 127.2},
		{"L40S", 24.5, 30.5, 50.0, 120.2, 153.0},
	} {
		d, ok := FindDevice(c.device)
		if !ok {
			t.Fatalf("no %s", c.device)
		}
		s := Setup{Device: d, Model: llama8(t)}
		near(t, c.device+" B1", 1000*s.Step(1, 1024, 0, 0)+1, c.b1, 0.12)
		near(t, c.device+" B32", 1000*s.Step(32, 1024, 0, 0)+1, c.b32, 0.12)
		near(t, c.device+" B128", 1000*s.Step(128, 1024, 0, 0)+1, c.b128, 0.15)
		near(t, c.device+" B128 4k", 1000*s.Step(128, 4096, 0, 0)+1, c.b128long, 0.15)
		near(t, c.device+" prefill 2048", 1000*s.Step(0, 0, 2048, 1024)+1, c.p2048, 0.15)
	}
}

func TestFindDevice(t *testing.T) {
	for name, want := range map[string]string{
		"NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA A100-SXM4-40GB": "A100-40 SXM", "NVIDIA A100-SXM4-80GB": "A100-80 SXM", "a100_40_sxm": "A100-40 SXM",
		"NVIDIA L4": "L4", "NVIDIA L40S": "L40S", "Tesla T4": "T4", "NVIDIA H200": "H200 SXM", "NVIDIA A10G": "A10G", "NVIDIA GeForce RTX 4090": "RTX 4090", "h100_sxm": "H100 SXM",
	} {
		if d, ok := FindDevice(name); !ok || d.Name != want {
			t.Errorf("FindDevice(%q) = %q, %v; want %q", name, d.Name, ok, want)
		}
	}
	if d, ok := FindDevice("Radeon 9999"); ok {
		t.Errorf("an unknown device is %q", d.Name)
	}
	if _, ok := FindModel("my-own-model"); ok {
		t.Error("an unknown model has a shape")
	}
}

func TestParseConfig(t *testing.T) {
	m, err := ParseConfig([]byte(`{"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"torch_dtype":"bfloat16","quantization_config":{"quant_method":"fp8"}}`))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "parameters", m.Params(), 6.98e9, 0.005)
	if m.WeightBytes != 1 || m.HeadDim != 128 {
		t.Errorf("model = %+v", m)
	}
	moe, err := ParseConfig([]byte(`{"text_config":{"model_type":"qwen3_moe","hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,"moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8,"vocab_size":151936}}`))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := FindModel("Qwen/Qwen3-30B-A3B")
	near(t, "parameters of the mixture", moe.Params(), want.Params(), 0.01)
	for _, bad := range []string{`{}`, `[]`, `{"hidden_size":-4}`, `x`} {
		if _, err := ParseConfig([]byte(bad)); err == nil {
			t.Errorf("ParseConfig(%s) has no error", bad)
		}
	}
}

// header writes a small GGUF header.
func header() []byte {
	var b bytes.Buffer
	u32 := func(v uint32) { _ = binary.Write(&b, binary.LittleEndian, v) }
	u64 := func(v uint64) { _ = binary.Write(&b, binary.LittleEndian, v) }
	str := func(s string) { u64(uint64(len(s))); b.WriteString(s) }
	keys := []struct {
		k string
		v uint32
	}{{"block_count", 30}, {"embedding_length", 576}, {"attention.head_count", 9}, {"attention.head_count_kv", 3}, {"feed_forward_length", 1536}, {"context_length", 8192}}
	u32(ggufMagic)
	u32(3)
	u64(1)
	u64(uint64(len(keys) + 2))
	str("general.architecture")
	u32(8)
	str("llama")
	for _, k := range keys {
		str("llama." + k.k)
		u32(4)
		u32(k.v)
	}
	str("tokenizer.ggml.tokens")
	u32(9)
	u32(8)
	u64(3)
	for _, s := range []string{"a", "b", "c"} {
		str(s)
	}
	str("token_embd.weight")
	u32(2)
	u64(576)
	u64(49152)
	u32(1)
	u64(0)
	return b.Bytes()
}

func TestReadGGUF(t *testing.T) {
	m, err := ReadGGUF(bytes.NewReader(header()), 576*49152*2)
	if err != nil {
		t.Fatal(err)
	}
	if m.Layers != 30 || m.Hidden != 576 || m.KVHeads != 3 || m.HeadDim != 64 || m.Vocab != 3 || !m.Tied || m.WeightBytes != 2 {
		t.Errorf("model = %+v", m)
	}
	if _, err := ReadGGUF(bytes.NewReader([]byte("not a model at all, really")), 0); !errors.Is(err, ErrNotGGUF) {
		t.Errorf("error = %v; want ErrNotGGUF", err)
	}
	if _, err := ReadGGUF(bytes.NewReader(header()[:60]), 0); err == nil {
		t.Error("half a header has no error")
	}
}

func FuzzReadGGUF(f *testing.F) {
	f.Add(header())
	f.Add([]byte("GGUF"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ReadGGUF(bytes.NewReader(b), int64(len(b))); err == nil && m.Validate() != nil {
			t.Errorf("an invalid shape has no error: %+v", m)
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":14336,"vocab_size":128256,"sliding_window":128,"layer_types":["full_attention","x"]}`))
	f.Add([]byte(`{"text_config":{"text_config":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseConfig(b); err == nil && math.IsNaN(m.StepBytes(16)) {
			t.Errorf("NaN from %s", b)
		}
	})
}
