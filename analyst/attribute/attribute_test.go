package attribute

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/analyst/evidence"
)

// facts builds facts with evidence.
type facts struct {
	Facts
	book evidence.Book
}

func (f *facts) fact(metric, family string, v float64) evidence.Fact {
	return f.book.Note(family, metric, "", v, "given", metric)
}

func base() *facts {
	f := &facts{}
	f.Engine, f.EngineReads = "vllm", 60
	f.TTFT, f.TTFT50, f.Service = f.fact("ttft", evidence.Client, 200), f.fact("ttft", evidence.Client, 180), f.fact("ttft_service", evidence.Client, 200)
	f.Gap50, f.Gap99, f.GapMean = f.fact("icl", evidence.Client, 10), f.fact("icl", evidence.Client, 30), f.fact("icl", evidence.Client, 11)
	f.ShareSend, f.RTT = f.fact("ttft_share_send", evidence.Client, 0.01), f.fact("tcp_connect", evidence.Client, 1)
	f.Running, f.Waiting, f.KV = f.fact("requests_running", evidence.Engine, 8), f.fact("requests_waiting", evidence.Engine, 0), f.fact("kv_cache_usage", evidence.Engine, 0.3)
	f.Preempt, f.KVFull = f.fact("preemptions", evidence.Engine, 0), f.fact("kv_cache_usage", evidence.Engine, 0)
	f.ShareQueue, f.SharePrefill, f.ShareFront = f.fact("ttft_share_queue", evidence.Engine, 0.05), f.fact("ttft_share_prefill", evidence.Engine, 0.3), f.fact("ttft_share_frontend", evidence.Client, 0.05)
	f.Queue = f.fact("queue_time", evidence.Engine, 10)
	f.TP, f.MatmulShare, f.StreamShare = 1, 0.79, 0.76
	f.PrefillShare, f.Ratio, f.GPUGap = f.fact("prefill_share", evidence.Engine, 0.2), f.fact("step_ratio", evidence.Client, 1.1), f.fact("gpu_gap", evidence.GPU, 0.1)
	f.MFU, f.MBU, f.Inflation = f.fact("mfu", evidence.Engine, 0.1), f.fact("mbu", evidence.Engine, 0.5), f.fact("step_inflation", evidence.Engine, 1.1)
	f.Clock, f.Util = f.fact("sm_clock", evidence.GPU, 1), f.fact("gpu_util", evidence.GPU, 90)
	return f
}

func TestAttribute(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*facts)
		want   string // primary cause; "" for none
	}{
		{"nothing stands out", func(*facts) {}, ""},
		{"a third of the time to first token is late sending", func(f *facts) { f.ShareSend = f.fact("ttft_share_send", evidence.Client, 0.4) }, Client},
		{"the clock is at 70 %", func(f *facts) { f.Clock = f.fact("sm_clock", evidence.GPU, 0.7) }, Throttle},
		{"the clock is low and the queue is long: the throttle is upstream", func(f *facts) {
			f.Clock, f.ShareQueue = f.fact("sm_clock", evidence.GPU, 0.7), f.fact("ttft_share_queue", evidence.Engine, 0.9)
		}, Throttle},
		{"one request in ten is preempted", func(f *facts) {
			f.Preempt, f.KV, f.Waiting = f.fact("preemptions", evidence.Engine, 0.1), f.fact("kv_cache_usage", evidence.Engine, 0.97), f.fact("requests_waiting", evidence.Engine, 4)
		}, KV},
		{"requests wait while the engine stands at its cap and twice as many would do more work", func(f *facts) {
			f.Cap, f.Pinned, f.PinnedWaiting = f.fact("max_running", evidence.Engine, 8), f.fact("requests_running", evidence.Engine, 1), f.fact("requests_running", evidence.Engine, 1)
			f.Waiting, f.ShareQueue, f.CapGain = f.fact("requests_waiting", evidence.Engine, 6), f.fact("ttft_share_queue", evidence.Engine, 0.8), f.fact("batch_gain", evidence.Engine, 1.8)
		}, Cap},
		{"the same where more requests would do no more work: simply too much load", func(f *facts) {
			f.Cap, f.Pinned, f.PinnedWaiting = f.fact("max_running", evidence.Engine, 8), f.fact("requests_running", evidence.Engine, 1), f.fact("requests_running", evidence.Engine, 1)
			f.Waiting, f.ShareQueue, f.CapGain = f.fact("requests_waiting", evidence.Engine, 6), f.fact("ttft_share_queue", evidence.Engine, 0.8), f.fact("batch_gain", evidence.Engine, 1.05)
		}, Queueing},
		{"a round trip is half of the time to first token", func(f *facts) { f.RTT = f.fact("tcp_connect", evidence.Client, 90) }, Network},
		{"tokens come eight at a time without speculation", func(f *facts) { f.PerChunk = f.fact("tokens_per_chunk", evidence.Client, 8) }, Network},
		{"most of the time lies between the client and the scheduler", func(f *facts) { f.ShareFront = f.fact("ttft_share_frontend", evidence.Client, 0.7) }, Frontend},
		{"steps take twice the roofline and the GPU idles", func(f *facts) {
			f.Ratio, f.GPUGap = f.fact("step_ratio", evidence.Client, 2.2), f.fact("gpu_gap", evidence.GPU, 0.6)
		}, Host},
		{"steps take twice the roofline on a busy pair of GPUs", func(f *facts) { f.TP, f.Ratio = 2, f.fact("step_ratio", evidence.Client, 2.2) }, Communication},
		{"the same on a single GPU is somebody else", func(f *facts) { f.Ratio = f.fact("step_ratio", evidence.Client, 2.2) }, External},
		{"prompts repeat and the cache never hits", func(f *facts) {
			f.Potential, f.Hit, f.PrefillShare = f.fact("prefix_potential", evidence.Client, 0.8), f.fact("prefix_hit", evidence.Client, 0), f.fact("prefill_share", evidence.Engine, 0.5)
		}, Prefix},
		{"a third of the streaming time is stalls behind huge steps", func(f *facts) {
			f.Stalls, f.PromptCV, f.StepTokensMax = f.fact("stalls", evidence.Client, 0.3), f.fact("prompt_length", evidence.Client, 2), f.fact("step_tokens", evidence.Engine, 16384)
		}, Interference},
		{"prompts fill the engine at the arithmetic rate of the device", func(f *facts) {
			f.PrefillShare, f.MFU, f.Busy = f.fact("prefill_share", evidence.Engine, 0.9), f.fact("mfu", evidence.Engine, 0.6), f.fact("engine_busy", evidence.Engine, 1)
		}, Prefill},
		{"a batch that makes steps twice as long at full bandwidth", func(f *facts) {
			f.MBU, f.Inflation = f.fact("mbu", evidence.Engine, 0.65), f.fact("step_inflation", evidence.Engine, 2)
		}, Decode},
		{"full bandwidth with a small batch is how decoding works", func(f *facts) { f.MBU = f.fact("mbu", evidence.Engine, 0.7) }, ""},
		{"one drafted token in five is accepted at a batch of 64", func(f *facts) {
			f.Acceptance, f.Running = f.fact("spec_acceptance", evidence.Engine, 0.2), f.fact("requests_running", evidence.Engine, 64)
		}, Speculation},
		{"KV usage that nobody explains grows", func(f *facts) { f.Leak = f.fact("kv_floor_growth", evidence.Engine, 0.3) }, Leak},
		{"an open loop offers twice what is served", func(f *facts) {
			f.OpenLoop, f.ShareQueue = true, f.fact("ttft_share_queue", evidence.Engine, 0.95)
			f.Offered, f.Served = f.fact("offered_rate", evidence.Client, 20), f.fact("request_rate", evidence.Client, 10)
		}, Queueing},
	} {
		f := base()
		c.change(f)
		r := Attribute(&f.Facts, &f.book)
		if r.Cause != c.want {
			t.Errorf("%s: %q; want %q", c.name, r.Cause, c.want)
			continue
		}
		for _, x := range r.Findings {
			for _, id := range slices.Concat(x.For, x.Against) {
				if _, ok := f.book.Row(id); !ok {
					t.Errorf("%s: finding %s cites %s, which is not in the book", c.name, x.Cause, id)
				}
			}
			if x.Role == "primary" && (len(x.For) == 0 || x.Falsifier == "" || x.Probe == "" || x.Confidence == "high") {
				t.Errorf("%s: primary finding without evidence, falsifier or probe, or sure without a probe: %+v", c.name, x)
			}
		}
		if c.want != "" && len(r.Recommendations) == 0 {
			t.Errorf("%s: no recommendation", c.name)
		}
	}
}

// A rule that lacks a mandatory fact stays below the threshold and says what it lacks.
func TestMissingSignalsCap(t *testing.T) {
	f := base()
	f.Ratio, f.GPUGap = f.fact("step_ratio", evidence.Client, 3), evidence.Fact{}
	r := Attribute(&f.Facts, &f.book)
	if r.Cause != "" || r.Score > unknownCap {
		t.Errorf("a long step without GPU utilisation is %q at %.2f; want undecided", r.Cause, r.Score)
	}
	if !slices.ContainsFunc(r.Missing, func(m string) bool { return strings.Contains(m, "GPU utilisation") }) {
		t.Errorf("missing = %v; want GPU utilisation", r.Missing)
	}
	blind := Facts{}
	var book evidence.Book
	if r := Attribute(&blind, &book); r.Cause != "" || len(r.Missing) == 0 || r.Missing[0] != needMetrics {
		t.Errorf("no facts at all: %q, missing %v", r.Cause, r.Missing)
	}
}

// Every cause has words, and advice for the engines whose flags are known.
func TestEveryCauseHasWords(t *testing.T) {
	for _, c := range causes() {
		if c.title == "" || c.summary == "" || c.falsifier == "" || c.probe == "" {
			t.Errorf("%s lacks words", c.id)
		}
		for _, e := range []string{"vllm", "sglang", "llama_cpp", "unknown"} {
			for _, a := range advice(c.id, e) {
				if a.action == "" || a.predicted == "" || e == "unknown" && a.knob != "" {
					t.Errorf("advice for %s on %s: %+v", c.id, e, a)
				}
			}
			if len(advice(c.id, e)) == 0 {
				t.Errorf("no advice for %s on %s", c.id, e)
			}
		}
	}
}
