package peers

import (
	"iter"
	"math"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func at(ms float64) archive.Instant { return archive.Instant(1e9 + ms*1e6) }

func request(intended, send float64, n int, done float64, chunks ...float64) *archive.Request {
	r := &archive.Request{Kind: archive.KindLoad, Status: archive.StatusOK, Usage: archive.Usage{Completion: archive.Some(n), Source: archive.UsageServer}}
	for _, c := range chunks {
		r.Chunks.T = append(r.Chunks.T, at(c))
	}
	r.T = archive.Times{Intended: at(intended), Send: at(send), First: at(chunks[0]), Last: at(chunks[len(chunks)-1]), Done: at(done)}
	return r
}

func seq(rs ...*archive.Request) iter.Seq2[*archive.Request, error] {
	return func(yield func(*archive.Request, error) bool) {
		for _, r := range rs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Worked by hand: due at 0, sent at 10, tokens at 110, 130 and 150 (N = 5 in three
// chunks), stream closed at 160; and one of a single token at 60, sent when due, at 0.
func TestDefinitionsByHand(t *testing.T) {
	failed := request(0, 0, 9, 9, 5)
	failed.Status = archive.StatusFailed
	got, err := Compute(seq(request(0, 10, 5, 160, 110, 130, 150), request(0, 0, 1, 70, 60), failed))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]float64{
		"ttft_mean": {"ours": (110 + 60) / 2.0, "vllm": (100 + 60) / 2.0, "aiperf": 80, "guidellm": 80},
		"tpot_mean": {"ours": 10, "vllm": (40/4.0 + 0) / 2, "sglang": 50 / 4.0, "guidellm": (140/5.0 + 60) / 2},
		"itl_mean":  {"ours": 20, "vllm": 20, "sglang": 20, "aiperf": 10, "guidellm": 10, "llmperf": (140/5.0 + 60) / 2},
		"e2e_mean":  {"ours": (150 + 60) / 2.0, "vllm": (140 + 60) / 2.0, "sglang": (150 + 70) / 2.0},
		// Six tokens from the first send, at 0, to the last end, at 160.
		"output_rate": {"ours": 6 / 0.160, "vllm": 6 / 0.160},
	}
	seen := 0
	for _, r := range got {
		if r.Why == "" {
			t.Errorf("%s does not say why", r.Metric)
		}
		for name, v := range want[r.Metric] {
			seen++
			if g, ok := r.Values[name].Get(); !ok || math.Abs(g-v) > 1e-9 {
				t.Errorf("%s of %s = %v (known %v); want %v", r.Metric, name, g, ok, v)
			}
		}
	}
	if seen != 19 {
		t.Errorf("%d values were checked; want 19", seen)
	}
	none, err := Compute(seq())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range none {
		for name, v := range r.Values {
			if v.Known() {
				t.Errorf("%s of %s is known without a request", r.Metric, name)
			}
		}
	}
}
