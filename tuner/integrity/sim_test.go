package integrity

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/analyst/roofline"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/server"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// inside carries requests to a handler in this process, so that server and client share
// the clock of a synctest bubble.
type inside struct{ h http.Handler }

type sink struct {
	head   http.Header
	status int
	ready  chan struct{}
	w      *io.PipeWriter
}

func (s *sink) Header() http.Header { return s.head }
func (s *sink) WriteHeader(code int) {
	if s.status == 0 {
		s.status = code
		close(s.ready)
	}
}
func (s *sink) Flush() { s.WriteHeader(http.StatusOK) }
func (s *sink) Write(p []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	return s.w.Write(p)
}

type body struct {
	*io.PipeReader
	stop context.CancelFunc
}

func (b body) Close() error { b.stop(); return b.PipeReader.Close() }

func (t inside) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, stop := context.WithCancel(r.Context())
	pr, pw := io.Pipe()
	s := &sink{head: http.Header{}, ready: make(chan struct{}), w: pw}
	in := r.Clone(ctx)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	go func() {
		defer func() {
			if v := recover(); v != nil {
				_ = pw.CloseWithError(errors.New("the connection was cut"))
				s.WriteHeader(http.StatusBadGateway)
				return
			}
			s.WriteHeader(http.StatusOK)
			_ = pw.Close()
		}()
		t.h.ServeHTTP(s, in)
	}()
	<-s.ready
	return &http.Response{StatusCode: s.status, Header: s.head.Clone(), Body: body{pr, stop}, Request: r, ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1}, nil
}

// watch launches a simulated server and looks at it.
func watch(t *testing.T, o *Observer, cfg server.Config, a space.Assignment) tuner.Trial {
	t.Helper()
	cfg.ModelName = "m"
	if cfg.Attack == server.AttackProxy {
		up := cfg
		up.Attack, up.Sim.TensorParallel = "", 8
		u, err := server.New(up)
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		cfg.Upstream, cfg.UpstreamTransport = "http://upstream", inside{u.Handler()}
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := o.Watch(t.Context(), Subject{HTTP: &http.Client{Transport: inside{s.Handler()}}, Base: "http://sim", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 60<<10 {
		t.Errorf("a sighting takes %d bytes; it has to stay below 64 KiB", len(raw))
	}
	return tuner.Trial{
		Proposal:    tuner.Proposal{Config: maps.Clone(a)},
		Measurement: tuner.Measurement{Outcome: tuner.OK, Observed: map[string]json.RawMessage{Name: raw}},
	}
}

// rig is one study on the simulator.
type rig struct {
	rng   *rand.Rand
	base  server.Config
	obs   *Observer
	check *Check
}

var gpus = []string{"h100_sxm", "a100_80_sxm", "l40s", "h200_sxm"}

func newRig(t *testing.T, seed uint64) *rig {
	t.Helper()
	r := &rig{rng: rand.New(rand.NewPCG(seed, 0xabc))}
	gpu, err := sim.LookupGPU(gpus[r.rng.IntN(len(gpus))])
	if err != nil {
		t.Fatal(err)
	}
	r.base = server.Config{
		Sim:      sim.Config{GPU: gpu, Seed: seed, StepNoise: 0.05, PauseEvery: 300, MaxModelLen: 16384, MaxNumSeqs: 256},
		Numerics: 0.1, RTT: time.Millisecond, Jitter: 300 * time.Microsecond,
	}
	var key Secret
	for i := range key {
		key[i] = byte(r.rng.Uint32())
	}
	if r.obs, err = NewObserver(Config{Secret: key, Entropy: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 7})}); err != nil {
		t.Fatal(err)
	}
	dev, ok := roofline.FindDevice(gpu.Name)
	model, ok2 := roofline.FindModel("meta-llama/Llama-3.1-8B-Instruct")
	if !ok || !ok2 {
		t.Fatalf("the roofline tables lack %s or the model", gpu.Name)
	}
	r.check = NewCheck(CheckConfig{
		CacheKnobs: []string{"--enable-prefix-caching"},
		Setup:      Lenient(roofline.Setup{Device: dev, Model: model}),
	})
	return r
}

// honest changes the configuration as a proposal would.
func (r *rig) honest() (server.Config, space.Assignment) {
	c, a := r.base, space.Assignment{}
	set := func(k, v string) { a[k] = v }
	if r.rng.IntN(2) == 0 {
		c.Sim.KVCacheDType = "fp8"
		set("--kv-cache-dtype", "fp8")
	}
	switch r.rng.IntN(5) {
	case 0:
		c.Sim.Quantization = "fp8"
		if c.Sim.GPU.FP8 == 0 {
			c.Sim.Quantization = "int8"
		}
		set("--quantization", c.Sim.Quantization)
	case 1:
		c.Sim.Quantization = "int4"
		set("--quantization", "awq")
	}
	switch r.rng.IntN(4) {
	case 0:
		c.Sim.EnablePrefixCaching = sim.Off
		set("--enable-prefix-caching", "false")
	case 1:
		c.Sim.EnablePrefixCaching = sim.On
		set("--enable-prefix-caching", "true")
	}
	if r.rng.IntN(3) == 0 {
		c.Sim.MaxNumSeqs = 1 << (3 + r.rng.IntN(5))
		set("--max-num-seqs", "16")
	}
	if r.rng.IntN(3) == 0 {
		c.Sim.MaxNumBatchedTokens = 512 << r.rng.IntN(5)
		set("--max-num-batched-tokens", "2048")
	}
	if r.rng.IntN(4) == 0 {
		c.Sim.TensorParallel = 2
		set("--tensor-parallel-size", "2")
	}
	if r.rng.IntN(5) == 0 {
		c.Sim.EnforceEager = true
		set("--enforce-eager", "true")
	}
	if r.rng.IntN(5) == 0 {
		c.Sim.Speculative = sim.Speculative{Tokens: 3, Acceptance: 0.7}
		set("--speculative-config", `{"method":"ngram","num_speculative_tokens":3}`)
	}
	return c, a
}
