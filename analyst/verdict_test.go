package analyst

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// server is a closed loop of 8 against a server whose engine is seen each second.
func server(latency float64, signals func(second int) map[string]float64) *bench {
	b := &bench{manifest: archive.Manifest{Server: archive.Server{Engine: "vllm", Settings: map[string]string{"max_num_seqs": "4"}}, Host: archive.Host{Cores: 4}}}
	id := 0
	for user := range 8 {
		for t := float64(user); t+latency <= 60000; t += latency + 2 {
			id++
			b.recs = append(b.recs, rec{id: id, n: 21, prompt: 200, intended: t, send: t + 0.5,
				chunks: spread(t+0.4*latency, t+latency, 21)})
		}
	}
	slices.SortStableFunc(b.recs, func(a, c rec) int { return int(a.chunks[20]*1000) - int(c.chunks[20]*1000) })
	b.phase("main", -1, 0, 60000, map[string]any{"load": "concurrency 8", "concurrency": 8.0})
	for s := range 61 {
		b.engine(float64(1000*s), signals(s))
		b.samples = append(b.samples, &archive.Sample{T: at(float64(1000 * s)), Source: archive.SourceClient, Values: map[string]float64{"cpu_cores": 0.2, "gc_pause_max_seconds": 1e-4}})
	}
	return b
}

func spread(from, to float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = from + (to-from)*float64(i)/float64(n-1)
	}
	return out
}

func healthy(int) map[string]float64 {
	return map[string]float64{"requests_running": 3, "requests_waiting": 0, "kv_cache_usage": 0.2, "preemptions_total": 0}
}

func TestVerdictNone(t *testing.T) {
	a := server(1000, healthy).analyze(t)
	if a.Verdict.State != archive.VerdictNone {
		t.Fatalf("verdict = %+v; want none\ngates %+v", a.Verdict, a.Gates)
	}
	for _, f := range a.Findings {
		if f.Role != "considered" {
			t.Errorf("finding %s is %s although nothing limits", f.Cause, f.Role)
		}
	}
	if len(a.Recommendations) != 0 {
		t.Errorf("a healthy server gets recommendations: %+v", a.Recommendations)
	}
}

func TestVerdictCauses(t *testing.T) {
	for _, c := range []struct {
		name, cause, knob string
		signals           func(int) map[string]float64
	}{
		{"running requests stand at the cap while others wait and memory is free", "admission_cap", "--max-num-seqs", func(int) map[string]float64 {
			return map[string]float64{"requests_running": 4, "requests_waiting": 4, "kv_cache_usage": 0.1, "preemptions_total": 0}
		}},
		{"the KV cache is full and requests are preempted", "kv_capacity", "--kv-cache-dtype fp8", func(s int) map[string]float64 {
			return map[string]float64{"requests_running": 3, "requests_waiting": 4, "kv_cache_usage": 0.98, "preemptions_total": float64(5 * s)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := server(1000, c.signals).analyze(t)
			if a.Verdict.State != archive.VerdictBottleneck || a.Verdict.Cause != c.cause {
				t.Fatalf("verdict = %+v; want %s", a.Verdict, c.cause)
			}
			f := a.Findings[0]
			if f.Role != "primary" || f.Cause != c.cause || len(f.For) == 0 || f.Falsifier == "" || f.Probe == "" {
				t.Errorf("finding = %+v", f)
			}
			known := map[string]bool{}
			for _, e := range a.Evidence {
				known[e.ID] = true
			}
			for _, id := range slices.Concat(f.For, f.Against) {
				if !known[id] {
					t.Errorf("finding cites %s, which is no evidence", id)
				}
			}
			if len(a.Recommendations) == 0 || a.Recommendations[0].Knob != c.knob {
				t.Errorf("recommendations = %+v; want %s first", a.Recommendations, c.knob)
			}
		})
	}
}

// The client limits: sends are late, so nothing is said of the server.
func TestVerdictClient(t *testing.T) {
	b := server(1000, healthy)
	for i := range b.recs {
		b.recs[i].send += 300
	}
	a := b.analyze(t)
	if a.Verdict.State != archive.VerdictInvalid || !strings.Contains(a.Verdict.Headline, "load generator") {
		t.Fatalf("verdict = %+v; want invalid for the load generator", a.Verdict)
	}
	if len(a.Findings) != 1 || a.Findings[0].Cause != "client" || a.Findings[0].Role != "primary" {
		t.Errorf("findings = %+v; want the client alone", a.Findings)
	}
}

// Without the engine's metrics and without a sign from outside the answer is undecided,
// and says what is missing.
func TestVerdictBlackBox(t *testing.T) {
	b := server(1000, healthy)
	b.samples = nil
	a := b.analyze(t)
	if a.Verdict.State != archive.VerdictInconclusive || !strings.Contains(a.Verdict.Next, "metrics page") {
		t.Errorf("verdict = %+v; want inconclusive, asking for the metrics page", a.Verdict)
	}
	for _, g := range a.Gates {
		if g.ID == "client_cpu" && g.Passed.Known() {
			t.Error("the client's CPU is judged without a reading")
		}
	}
}

func TestVerdictErrors(t *testing.T) {
	b := server(1000, healthy)
	for i := 0; i < len(b.recs); i += 10 {
		b.recs[i].fail = "http_503"
	}
	a := b.analyze(t)
	if a.Verdict.State != archive.VerdictInvalid || !strings.Contains(a.Verdict.Headline, "http_503") {
		t.Errorf("verdict = %+v; want invalid, naming http_503", a.Verdict)
	}
	if a.Counts.Planned != a.Counts.OK+a.Counts.Failed+a.Counts.Cancelled {
		t.Errorf("counts do not add up: %+v", a.Counts)
	}
}

// Every request is accounted for, and only load enters the latency populations.
func TestPopulations(t *testing.T) {
	b := server(1000, healthy)
	n := len(b.recs)
	b.recs[0].kind, b.recs[1].kind = archive.KindWarmup, archive.KindCheckpoint
	b.recs = append(b.recs, rec{intended: 59999, n: -1, cancelled: true})
	a := b.analyze(t)
	if a.Counts.Planned != n+1 || a.Counts.Cancelled != 1 || a.Counts.ByKind[archive.KindWarmup] != 1 || a.Counts.ByKind[archive.KindCheckpoint] != 1 {
		t.Errorf("counts = %+v", a.Counts)
	}
	wantN(t, a, "ttft", n-2)
}

// Tokens count where they are emitted: a window over half of the answers has half of the
// tokens.
func TestTokensInsideTheWindow(t *testing.T) {
	b := &bench{}
	for i := range 20 {
		s := 1000 * float64(i)
		b.recs = append(b.recs, rec{n: 100, prompt: 50, cached: 20, intended: s, send: s, chunks: spread(s+10, s+1000, 100)})
	}
	b.phase("main", 0, 5500, 15500, map[string]any{"concurrency": 1.0})
	a := b.analyze(t)
	want(t, a, "duration", "value", 10)
	if got := metric(t, a, "output_rate", "all").Stats["value"].Value.Or(0); got < 99.5 || got > 100.5 {
		t.Errorf("output_rate = %v; want 100", got)
	}
	want(t, a, "input_rate", "value", 30)
	want(t, a, "cached_rate", "value", 20)
}

func TestQuality(t *testing.T) {
	b := server(1000, healthy)
	for i := range 40 {
		c := &archive.Checkpoint{Kind: "gsm8k", Set: "own/1", Score: archive.Some(float64(i % 2))}
		if i >= 36 {
			c.Score, c.Reason = archive.Opt[float64]{}, "no number in the reply"
		}
		b.checks = append(b.checks, c)
	}
	q := b.analyze(t).Quality
	if len(q) != 1 || q[0].Scored != 36 || q[0].Correct != 18 || q[0].Unscored != 4 || q[0].Accuracy.Value.Or(0) != 0.5 || !q[0].Accuracy.Low.Known() {
		t.Errorf("quality = %+v", q)
	}
}

// The same records give the same bytes.
func TestDeterministic(t *testing.T) {
	b := server(1000, healthy)
	var outs [2][]byte
	for i := range outs {
		out, err := json.Marshal(b.analyze(t))
		if err != nil {
			t.Fatal(err)
		}
		outs[i] = out
	}
	if !bytes.Equal(outs[0], outs[1]) {
		t.Error("two analyses of the same records differ")
	}
}

// A price makes the cost known; without one the axis is unknown, with the reason.
func TestCost(t *testing.T) {
	b := server(1000, healthy)
	axis := func(a *archive.Analysis) archive.Axis {
		for _, x := range a.Radar {
			if x.Name == "cost" {
				return x
			}
		}
		t.Fatal("no cost axis")
		return archive.Axis{}
	}
	if x := axis(b.analyze(t)); x.Value.Known() || x.Reason == "" {
		t.Errorf("cost without a price = %+v", x)
	}
	b.opts.USDHour = 3.6
	for s := range 61 {
		b.samples = append(b.samples, &archive.Sample{T: at(float64(1000 * s)), Source: archive.SourceGPU, Target: "GPU-0", Values: map[string]float64{"energy_joules_total": 300 * float64(s)}})
	}
	a := b.analyze(t)
	rate := metric(t, a, "output_rate", "all").Stats["value"].Value.Or(0)
	want(t, a, "cost_output_only", "value", 1e6*0.001/rate)
	want(t, a, "energy_per_token", "value", 300/rate)
	if x := axis(a); !x.Value.Known() {
		t.Errorf("cost with a price = %+v", x)
	}
}
