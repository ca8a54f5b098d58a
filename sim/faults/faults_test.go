package faults

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim"
)

// digest is what the symptom tests look at.
type digest struct {
	ok, planned                           int
	ttft50, tpot50, itlP99                float64 // ms
	lag50                                 float64 // ms, intended to send
	queueMean                             float64 // ms, from the engine
	ttftEngine                            float64 // ms, mean
	running, waiting, kv                  float64 // means
	kvMax                                 float64
	preempt, hit                          float64 // a request; share of prompt tokens
	util, clock                           float64
	accept, perChunk, stepTokens, itlMean float64
	cpu, steal                            float64
	energy                                float64
	kept                                  float64 // share of the history of later turns that a cache had
	later                                 int     // turns with a history
}

func look(r *Run) digest {
	var d digest
	var ttft, tpot, lag, gaps []float64
	tokens, chunks := 0, 0
	history := map[string]int{} // tokens by session and turn
	known, cached := 0, 0
	for _, q := range r.Requests {
		history[fmt.Sprint(q.Session, " ", q.Turn)] = q.Usage.Prompt.Or(0) + q.Usage.Completion.Or(0)
	}
	for _, q := range r.Requests {
		if before := history[fmt.Sprint(q.Session, " ", q.Turn-1)]; before > 0 && q.Usage.Cached.Known() {
			d.later++
			known += before
			cached += min(q.Usage.Cached.Or(0), before)
		}
		d.planned++
		if q.T.Send.Known() {
			lag = append(lag, q.T.Send.Sub(q.T.Intended).Seconds()*1e3)
		}
		if q.Status != archive.StatusOK || q.Kind != archive.KindLoad {
			continue
		}
		d.ok++
		n := q.Usage.Completion.Or(0)
		tokens += n
		chunks += len(q.Chunks.T)
		ttft = append(ttft, q.T.First.Sub(q.T.Intended).Seconds()*1e3)
		if n > 1 {
			tpot = append(tpot, q.T.Last.Sub(q.T.First).Seconds()*1e3/float64(n-1))
		}
		for i := 1; i < len(q.Chunks.T); i++ {
			gaps = append(gaps, q.Chunks.T[i].Sub(q.Chunks.T[i-1]).Seconds()*1e3)
		}
	}
	d.ttft50, d.tpot50, d.itlP99, d.lag50 = quantile(ttft, .5), quantile(tpot, .5), quantile(gaps, .99), quantile(lag, .5)
	d.kept = float64(cached) / math.Max(float64(known), 1)
	d.perChunk = float64(tokens) / math.Max(float64(chunks), 1)
	var first, last map[string]float64
	var n, g, h, c float64
	for _, s := range r.Samples {
		v := s.Values
		switch s.Source {
		case archive.SourceEngine:
			if first == nil {
				first = v
			}
			last = v
			n++
			d.running += v["requests_running"]
			d.waiting += v["requests_waiting"]
			d.kv += v["kv_cache_usage"]
			d.kvMax = math.Max(d.kvMax, v["kv_cache_usage_max"])
		case archive.SourceGPU:
			g++
			d.util += v["util_percent"]
			d.clock += v["sm_clock_mhz"] / v["sm_clock_max_mhz"]
			d.energy = v["energy_joules_total"]
		case archive.SourceHost:
			h++
			d.steal += v["steal_percent"]
		case archive.SourceClient:
			c++
			d.cpu += v["cpu_cores"]
		}
	}
	delta := func(name string) float64 { return last[name] - first[name] }
	d.running, d.waiting, d.kv = d.running/n, d.waiting/n, d.kv/n
	d.util, d.clock, d.steal, d.cpu = d.util/g, d.clock/g, d.steal/h, d.cpu/c
	req := math.Max(delta("e2e_latency_count"), 1)
	d.preempt = delta("preemptions_total") / req
	d.queueMean = 1e3 * delta("queue_time_sum") / req
	d.ttftEngine = 1e3 * delta("ttft_sum") / math.Max(delta("ttft_count"), 1)
	d.itlMean = 1e3 * delta("itl_sum") / math.Max(delta("itl_count"), 1)
	d.hit = delta("prefix_cache_hits_total") / math.Max(delta("prefix_cache_queries_total"), 1)
	d.accept = delta("spec_accepted_tokens_total") / math.Max(delta("spec_draft_tokens_total"), 1)
	d.stepTokens = delta("iteration_tokens_sum") / math.Max(delta("iteration_tokens_count"), 1)
	return d
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return v[int(q*float64(len(v)-1))]
}

func (d digest) String() string {
	return fmt.Sprintf("ok %d/%d ttft50 %.0f tpot50 %.1f icl99 %.0f lag50 %.0f | queue %.0f ttftE %.0f itlE %.1f | run %.1f wait %.1f kv %.2f/%.2f pre %.2f hit %.2f step %.0f | util %.0f clock %.2f acc %.2f tok/chunk %.1f cpu %.2f steal %.0f kept %.2f/%d",
		d.ok, d.planned, d.ttft50, d.tpot50, d.itlP99, d.lag50, d.queueMean, d.ttftEngine, d.itlMean, d.running, d.waiting, d.kv, d.kvMax, d.preempt, d.hit, d.stepTokens, d.util, d.clock, d.accept, d.perChunk, d.cpu, d.steal, d.kept, d.later)
}

func play(t *testing.T, id string, opt Options) *Run {
	t.Helper()
	r, err := Play(context.Background(), id, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every condition shows its declared symptom in the records, next to a healthy run on the
// same hardware.
func TestSymptoms(t *testing.T) {
	if testing.Short() {
		t.Skip("plays every condition: minutes with a race detector, and one goroutine does it all")
	}
	h := look(play(t, "F00", Options{Severity: Mid, Seed: 1}))
	t.Logf("healthy %s", h)
	for _, row := range []struct {
		id, symptom string
		shown       func(d digest) bool
	}{
		{"F00", "a light load waits for nothing", func(d digest) bool { return d.waiting < 0.5 && d.queueMean < 30 && d.ok > 100 }},
		{"F01", "at the knee the objective holds", func(d digest) bool { return d.ttft50 < 200 && d.waiting < 3 && d.running > 2*h.running }},
		{"F02", "steps are full of prompt tokens", func(d digest) bool { return d.stepTokens > 1000 && d.ttft50 > 5*h.ttft50 && d.util > 90 }},
		{"F03", "a large batch makes tokens slow", func(d digest) bool { return d.running > 200 && d.tpot50 > 1.8*h.tpot50 && d.preempt == 0 }},
		{"F04", "the KV cache is full and requests are preempted", func(d digest) bool { return d.kvMax > 0.97 && d.preempt > 0.02 && d.waiting > 1 }},
		{"F05", "running stands at the cap with KV free", func(d digest) bool { return d.running > 11 && d.running <= 12 && d.waiting > 3 && d.kvMax < 0.3 }},
		{"F06", "steps stay within the budget and first tokens are late", func(d digest) bool { return d.stepTokens <= 256 && d.ttft50 > 5*h.ttft50 }},
		{"F07", "the device idles and tokens are slow", func(d digest) bool { return d.util < h.util-25 && d.tpot50 > 1.8*h.tpot50 }},
		{"F08", "the device idles in bursts and the host is throttled", func(d digest) bool { return d.util < h.util-25 && d.steal > 20 && d.itlP99 > 2*h.itlP99 }},
		{"F09", "the client waits longer than the engine", func(d digest) bool { return d.ttft50 > 3*h.ttft50 && d.itlMean < 1.3*h.itlMean }},
		{"F10", "the queue grows without end", func(d digest) bool { return d.waiting > 200 && d.queueMean > 5000 && d.kvMax < 0.5 }},
		{"F11", "tokens stall behind long prompts, the median does not", func(d digest) bool { return d.ttftEngine > 3*d.ttft50 && d.tpot50 < 2*h.tpot50 }},
		{"F12", "nothing is found in the prefix cache", func(d digest) bool { return d.hit == 0 && d.stepTokens > 300 }},
		{"F13", "history is computed again", func(d digest) bool { return d.hit < 0.2 && d.ttft50 > 2*h.ttft50 }},
		{"F14", "part of the history is on another replica", func(d digest) bool { return d.hit > 0.2 && d.hit < 0.65 && d.ttftEngine > 2*h.ttftEngine }},
		{"F15", "a constant offset on the first token", func(d digest) bool {
			return d.ttft50 > 100 && d.ttftEngine < 1.5*h.ttftEngine && d.itlMean < 1.3*h.itlMean
		}},
		{"F16", "several tokens a chunk", func(d digest) bool { return d.perChunk > 5 && d.itlMean < 1.3*h.itlMean }},
		{"F17", "sends are late and the client's core is full", func(d digest) bool { return d.lag50 > 20 && d.cpu > 0.8 && d.ttftEngine < 1.5*h.ttftEngine }},
		{"F18", "sends wait for a connection", func(d digest) bool { return d.lag50 > 200 && d.cpu < 0.2 }},
		{"F19", "clocks are down and steps longer", func(d digest) bool { return d.clock < 0.7 && d.tpot50 > 1.2*h.tpot50 }},
		{"F20", "clocks fall over time", func(d digest) bool { return d.clock < 0.85 && d.clock > 0.6 && d.tpot50 > 1.05*h.tpot50 }},
		{"F21", "tokens are slow on a busy device", func(d digest) bool { return d.util > h.util-5 && d.tpot50 > 1.5*h.tpot50 }},
		{"F22", "the floor of KV usage rises", func(d digest) bool { return d.kvMax > 0.85 && d.kv > 8*h.kv }},
		{"F23", "few drafted tokens are accepted", func(d digest) bool { return d.accept > 0 && d.accept < 0.15 && d.tpot50 > 1.5*h.tpot50 }},
		{"F24", "tokens are slow with clocks at their highest", func(d digest) bool { return d.clock == 1 && d.tpot50 > 1.2*h.tpot50 && d.waiting < 1 }},
	} {
		t.Run(row.id, func(t *testing.T) {
			r := play(t, row.id, Options{Severity: Mid, Seed: 1})
			d := look(r)
			t.Logf("%s", d)
			if !row.shown(d) {
				t.Errorf("%s (%s): the symptom does not show: %s", row.id, r.Truth.Name, row.symptom)
			}
			if r.Truth.Knob == "" || len(r.Truth.Chain) < 3 || len(r.Truth.Signals) == 0 {
				t.Errorf("truth is incomplete: %+v", r.Truth)
			}
		})
	}
	if n := len(Conditions()); n != 25 {
		t.Errorf("the suite has %d conditions; want 25", n)
	}
}

func TestWindowsLeaveHealthyTimeAround(t *testing.T) {
	r := play(t, "F07", Options{Severity: High, Seed: 5, Windows: true})
	if r.Truth.From < archive.Instant(15*time.Second) || r.Truth.To > archive.Instant(85*time.Second) {
		t.Fatalf("fault lasts from %v to %v", r.Truth.From, r.Truth.To)
	}
	in, out := []float64{}, []float64{}
	for _, q := range r.Requests {
		n := q.Usage.Completion.Or(0)
		if n < 2 || q.Status != archive.StatusOK {
			continue
		}
		tpot := q.T.Last.Sub(q.T.First).Seconds() / float64(n-1)
		switch {
		case q.T.First > r.Truth.From && q.T.Last < r.Truth.To:
			in = append(in, tpot)
		case q.T.Last < r.Truth.From || q.T.First > r.Truth.To.Add(time.Second):
			out = append(out, tpot)
		}
	}
	if len(in) < 20 || len(out) < 20 || quantile(in, .5) < 2*quantile(out, .5) {
		t.Errorf("time a token is %.1f ms inside (%d) and %.1f ms outside (%d) the window; want a clear step", 1e3*quantile(in, .5), len(in), 1e3*quantile(out, .5), len(out))
	}
}

func TestDistractorsAndWithheldSignals(t *testing.T) {
	r := play(t, "F05", Options{Severity: Mid, Seed: 2, Distract: Distractors(), Withhold: []string{archive.SourceGPU}})
	resets, gaps, spikes := 0, 0, 0
	var last *archive.Sample
	for _, s := range r.Samples {
		switch s.Source {
		case archive.SourceGPU:
			t.Fatal("a withheld source has samples")
		case archive.SourceEngine:
			if last != nil {
				if s.Values["generation_tokens_total"] < last.Values["generation_tokens_total"] {
					resets++
				}
				if s.T.Sub(last.T) > 8*time.Second {
					gaps++
				}
			}
			if s.Values["generation_tokens_total"] < 0 {
				t.Fatal("a counter is negative")
			}
			last = s
		case archive.SourceHost:
			if s.Values["disk_write_bytes_per_second"] > 0 {
				spikes++
			}
		}
	}
	if resets != 1 || gaps != 1 || spikes < 5 {
		t.Errorf("%d resets, %d gaps, %d samples with a disk spike; want 1, 1 and several", resets, gaps, spikes)
	}
}

func TestRunDirectory(t *testing.T) {
	r := play(t, "F15", Options{Severity: Low, Seed: 3, Duration: 30 * time.Second})
	dir := t.TempDir() + "/run"
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	run, err := archive.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for q, err := range run.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r.Requests[n], q); d != "" {
			t.Fatalf("request %d came back differently:\n%s", n, d)
		}
		n++
	}
	if n != len(r.Requests) || !run.Manifest.Simulated {
		t.Errorf("%d of %d requests came back, simulated %v", n, len(r.Requests), run.Manifest.Simulated)
	}
}

// Conditions hold on other hardware, models and seeds too: the suite can be held out by
// combination.
func TestOtherHardware(t *testing.T) {
	if testing.Short() {
		t.Skip("plays eight runs on four devices: minutes with a race detector")
	}
	for _, row := range []struct{ gpu, model string }{{"a100_80_sxm", "llama-3.1-8b"}, {"l40s", "qwen2.5-7b"}, {"h200_sxm", "qwen3-30b-a3b"}, {"l4", "llama-3.2-3b"}} {
		g, err := sim.LookupGPU(row.gpu)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sim.LookupModel(row.model)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Severity: Mid, Seed: 9, Engine: sim.Config{GPU: g, Model: m, MaxModelLen: 32768}}
		h, d := look(play(t, "F00", opt)), look(play(t, "F07", opt))
		if d.util > h.util-20 || d.tpot50 < 1.5*h.tpot50 || h.waiting > 1 {
			t.Errorf("%s with %s: host overhead does not show:\nhealthy %s\nfault   %s", row.gpu, row.model, h, d)
		}
	}
}

func TestDialectsShowWhatTheyHave(t *testing.T) {
	for _, row := range []struct {
		dialect, has, lacks string
		missing             []string // of F05's signals
	}{
		{"vllm", "itl_sum", "", nil},
		{"sglang", "ttft_sum", "iteration_tokens_sum", nil},
		{"tgi", "queue_time_sum", "preemptions_total", nil},
		{"tensorrt_llm", "prefill_time_sum", "preemptions_total", nil},
		{"llama_cpp", "requests_running", "ttft_sum", []string{"kv_cache_usage"}},
	} {
		r := play(t, "F05", Options{Severity: Mid, Seed: 1, Dialect: row.dialect, Duration: 30 * time.Second})
		for _, s := range r.Samples {
			if s.Source != archive.SourceEngine {
				continue
			}
			_, has := s.Values[row.has]
			_, lacks := s.Values[row.lacks]
			if !has || lacks {
				t.Fatalf("%s: has %s %v, has %s %v", row.dialect, row.has, has, row.lacks, lacks)
			}
		}
		if r.Manifest.Server.Engine != row.dialect || !slices.Equal(r.Truth.Missing, row.missing) {
			t.Errorf("%s: engine %q, missing %v; want %v", row.dialect, r.Manifest.Server.Engine, r.Truth.Missing, row.missing)
		}
	}
}

// Every signal that a condition names exists when nothing is withheld.
func TestSignalsExist(t *testing.T) {
	for _, c := range Conditions() {
		if r := play(t, c.ID, Options{Severity: Low, Seed: 1, Duration: 20 * time.Second}); len(r.Truth.Missing) > 0 {
			t.Errorf("%s: its signals %v are in no sample", c.ID, r.Truth.Missing)
		}
	}
}
