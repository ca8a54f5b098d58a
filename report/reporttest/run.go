package reporttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Kind is one of the runs that Build makes.
type Kind string

// The kinds of run.
const (
	Saturated   Kind = "saturated"   // KV capacity limits it; two phases, checkpoints, a GPU, some failures
	Healthy     Kind = "healthy"     // the same server below its limits, simulated
	Interrupted Kind = "interrupted" // stopped by the user in the second phase
	AllFailed   Kind = "all-failed"  // the server refused every request
	BlackBox    Kind = "black-box"   // no engine metrics and no GPU
	Hostile     Kind = "hostile"     // every text that came from outside is HTML, script or control characters
)

// Kinds lists all of them.
func Kinds() []Kind {
	return []Kind{Saturated, Healthy, Interrupted, AllFailed, BlackBox, Hostile}
}

// HostileText is what a malicious server may reply.
const HostileText = "</script><script>alert('x')</script><img src=x onerror=alert(1)> {{.}} \x1b[31mred\x1b[0m \u202Ereversed"

// Build makes a run directory of a kind in a temporary folder of the test, and its analysis.
func Build(tb testing.TB, kind Kind) (*archive.Run, *archive.Analysis) {
	tb.Helper()
	return BuildIn(tb, tb.TempDir()+"/run", kind)
}

// BuildIn is Build in a folder of the caller's choice, which must not exist.
func BuildIn(tb testing.TB, dir string, kind Kind) (*archive.Run, *archive.Analysis) {
	tb.Helper()
	m := model{kind: kind, rng: rand.New(rand.NewPCG(7, 11))}
	m.simulate()
	w, err := archive.Create(dir, m.manifest())
	if err != nil {
		tb.Fatal(err)
	}
	for i := range m.requests {
		w.Request(&m.requests[i])
	}
	for _, s := range m.samples() {
		w.Sample(s)
	}
	for _, e := range m.events() {
		w.Event(e)
	}
	for _, c := range m.checkpoints {
		w.Checkpoint(c)
	}
	if err := w.Close(m.manifest()); err != nil {
		tb.Fatal(err)
	}
	a := m.analysis()
	if err := archive.WriteAnalysis(dir, a); err != nil {
		tb.Fatal(err)
	}
	run, err := archive.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return run, a
}

// model is one run of a server with a fixed number of slots.
type model struct {
	kind        Kind
	rng         *rand.Rand
	requests    []archive.Request
	checkpoints []archive.Checkpoint
	end         float64 // seconds
}

const (
	start     = 1.0
	warmupEnd = 6.0
	phaseEnd  = 45.0
	runEnd    = 90.0
	slots     = 14
)

func at(s float64) archive.Instant { return archive.Instant(s * 1e9) }

// rate is the arrivals a second at second t.
func (m *model) rate(t float64) float64 {
	switch {
	case m.kind == Healthy:
		return 3.6
	case t < phaseEnd:
		return 3.6
	}
	return 5.2
}

func (m *model) simulate() {
	m.end = runEnd
	if m.kind == Interrupted {
		m.end = 61.4
	}
	free := make([]float64, slots) // when each slot is free again
	for i, t := 0, start; ; i++ {
		t += m.rng.ExpFloat64() / m.rate(t)
		if t >= m.end {
			return
		}
		m.one(i, t, free)
	}
}

// one plans request i at second t: it waits for a slot, is prefilled, and decodes.
func (m *model) one(i int, t float64, free []float64) {
	r := archive.Request{
		ID: fmt.Sprintf("r%05d", i), Session: fmt.Sprintf("s%04d", i/3), Turn: i % 3, Phase: "steady", Task: "chat",
		Kind: archive.KindLoad, Status: archive.StatusOK, Finish: "stop",
	}
	if t >= phaseEnd {
		r.Phase = "push"
	}
	if t < warmupEnd {
		r.Kind = archive.KindWarmup
	}
	if i%9 == 4 && t >= warmupEnd {
		r.Kind, r.Task = archive.KindCheckpoint, "gsm8k"
	}
	r.T.Intended = at(t)
	r.T.Send = at(t + 0.0002 + m.rng.Float64()*0.0004)
	if m.kind == AllFailed {
		r.Status = archive.StatusFailed
		r.Error = &archive.Failure{Kind: "http_503", HTTPStatus: archive.Some(503), Message: "upstream connect error or disconnect/reset before headers"}
		r.T.Headers, r.T.Done = at(t+0.02), at(t+0.021)
		r.Usage.Source = archive.UsageNone
		m.requests = append(m.requests, r)
		return
	}
	in, out := 300+int(m.rng.ExpFloat64()*900), 40+int(m.rng.ExpFloat64()*120)
	slot := 0
	for j := range free {
		if free[j] < free[slot] {
			slot = j
		}
	}
	begin := max(t+0.004, free[slot])
	busy := 0
	for _, f := range free {
		if f > begin {
			busy++
		}
	}
	first := begin + 0.018 + float64(in)*4.2e-5*(0.9+0.2*m.rng.Float64())
	step := 0.0095 + 0.0006*float64(busy)
	now := first
	var chunks []archive.Instant
	for k := range out {
		chunks = append(chunks, at(now))
		if k < out-1 {
			now += step * (0.85 + 0.3*m.rng.Float64())
			if m.rng.Float64() < 0.004 {
				now += 0.09
			}
		}
	}
	free[slot] = now
	r.T.Headers, r.T.First, r.T.Answer, r.T.Last, r.T.Done = at(begin+0.001), at(first), at(first), at(now), at(now+0.001)
	r.Chunks.T = chunks
	r.Usage = archive.Usage{Prompt: archive.Some(in), Completion: archive.Some(out), Cached: archive.Some(in / 5), Source: archive.UsageServer}
	r.Text = "The answer is " + fmt.Sprint(i%17) + "."
	if m.kind == Hostile {
		r.Text = HostileText
	}
	switch {
	case now > m.end:
		r.Status, r.T.Done = archive.StatusCancelled, at(m.end)
		r.Error = &archive.Failure{Kind: archive.FailEnded, Message: "the run ended while the reply was being sent"}
		keep := slices.IndexFunc(chunks, func(c archive.Instant) bool { return c > at(m.end) })
		r.Chunks.T, r.T.Last = chunks[:keep], 0
		r.Usage = archive.Usage{Source: archive.UsageNone}
		if keep > 0 {
			r.T.Last = chunks[keep-1]
		}
		if r.T.First > at(m.end) {
			r.T.First, r.T.Answer = 0, 0
		}
	case m.kind != Healthy && t > 70 && i%11 == 0:
		r.Status, r.Finish, r.Text = archive.StatusFailed, "", ""
		r.Error = &archive.Failure{Kind: "http_503", HTTPStatus: archive.Some(503), Message: m.outside("the engine is at capacity, try again later"), RetryAfter: archive.Some(2.0)}
		r.T.First, r.T.Answer, r.T.Last, r.Chunks.T, r.T.Done = 0, 0, 0, nil, at(t+0.03)
	case m.kind != Healthy && i%211 == 100:
		r.Status, r.Finish = archive.StatusFailed, ""
		r.Error = &archive.Failure{Kind: archive.FailCut, HTTPStatus: archive.Some(200), Message: m.outside("connection reset by peer")}
	}
	m.requests = append(m.requests, r)
	if r.Kind == archive.KindCheckpoint {
		m.check(i, &m.requests[len(m.requests)-1], busy)
	}
}

// outside is text that came from the server.
func (m *model) outside(s string) string {
	if m.kind == Hostile {
		return HostileText
	}
	return s
}

func (m *model) check(i int, r *archive.Request, busy int) {
	a, b := 3+i%11, 2+i%7
	c := archive.Checkpoint{
		Request: r.ID, Kind: "gsm8k", Set: "own-maths/1", Item: fmt.Sprintf("m%03d", i%60),
		Prompt:   m.outside(fmt.Sprintf("A crate holds %d boxes and each box holds %d pears. How many pears are in the crate? End with '#### ' and the number.", a, b)),
		Expected: fmt.Sprint(a * b), Method: "last number after ####", T: r.T.Done, InFlight: busy,
	}
	r.Item = c.Item
	switch {
	case r.Status != archive.StatusOK:
		c.Reason = "the request did not end well: " + r.Error.Kind
	case i%13 == 0:
		c.Reply = m.outside("It depends on the size of the pears.")
		c.Reason, c.Score = "no number in the reply", archive.Some(0.0)
	default:
		got := a * b
		if i%5 == 0 {
			got += 3
		}
		c.Reply = m.outside(fmt.Sprintf("Each of the %d boxes holds %d pears, so there are %d × %d = %d pears.\n#### %d", a, b, a, b, got, got))
		c.Extracted, c.Score = archive.Some(m.outside(fmt.Sprint(got))), archive.Some(0.0)
		if got == a*b {
			c.Score = archive.Some(1.0)
		}
	}
	m.checkpoints = append(m.checkpoints, c)
}

func (m *model) manifest() archive.Manifest {
	man := archive.Manifest{
		Schema: archive.SchemaVersion, ID: "20261130T120000Z-" + string(m.kind) + "-7f3a", Name: m.outside(string(m.kind)),
		Tool: archive.Tool{Version: "0.1.0", Commit: "0123abc", Go: "go1.26.8"}, State: archive.StateComplete,
		Epoch: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Started: at(start), Ended: at(m.end), Seed: 7,
		Config:    json.RawMessage(`{"url":"10.0.0.7:8000","model":"meta-llama/Llama-3.1-8B-Instruct","phases":[{"name":"steady","rate":3.6,"duration":"45s"},{"name":"push","rate":5.2,"duration":"45s"}],"key":"[redacted]"}`),
		Simulated: m.kind == Healthy,
		Server: archive.Server{
			URL: "10.0.0.7:8000", Engine: "vllm", Version: m.outside("0.33.0"), Model: m.outside("meta-llama/Llama-3.1-8B-Instruct"),
			MetricsURL: "10.0.0.7:8000/metrics", MaxModelLen: archive.Some(8192),
			Settings: map[string]string{"max_num_seqs": "256", "gpu_memory_utilization": "0.90", "enable_prefix_caching": "true", "block_size": "16"},
		},
		Host:  archive.Host{OS: "linux", Kernel: "6.1.0-30-amd64", CPU: "AMD EPYC 9354", Cores: 16, MemoryMB: 131072},
		GPUs:  []archive.GPU{{Index: 0, UUID: "GPU-5b1f", Name: "NVIDIA L4", MemoryMB: 23034, PowerW: archive.Some(72.0), Driver: "580.65.06"}},
		Notes: []archive.Annotation{{Code: "no_tokenize", Message: m.outside("The server has no /tokenize endpoint; prompt lengths are those of its usage report.")}},
	}
	switch m.kind {
	case Interrupted:
		man.State, man.Reason = archive.StateInterrupted, "The user pressed Ctrl-C in phase push."
	case BlackBox, AllFailed:
		man.GPUs, man.Server.MetricsURL, man.Server.Engine, man.Server.Version, man.Server.Settings = nil, "", "unknown", "", nil
		man.Server.MaxModelLen = archive.Opt[int]{}
	case Healthy:
		man.GPUs = nil
	}
	return man
}

// inFlight counts at second t the requests that wait for a slot and those that run.
func (m *model) inFlight(t float64) (waiting, running int) {
	for i := range m.requests {
		r := &m.requests[i]
		switch {
		case r.T.Intended > at(t) || r.T.Done <= at(t):
		case !r.T.Headers.Known() || r.T.Headers > at(t):
			waiting++
		default:
			running++
		}
	}
	return waiting, running
}

func (m *model) samples() []archive.Sample {
	var out []archive.Sample
	add := func(t float64, source, target string, v map[string]float64) {
		out = append(out, archive.Sample{T: at(t), Source: source, Target: target, Values: v, Took: 2_100_000})
	}
	var sent, ok, tokens, preempt, energy float64
	for t := start; t < m.end; t++ {
		waiting, running := m.inFlight(t)
		sent, ok, tokens = 0, 0, 0
		for i := range m.requests {
			r := &m.requests[i]
			if r.T.Send <= at(t) {
				sent++
			}
			if r.Status == archive.StatusOK && r.T.Done <= at(t) {
				ok++
			}
			n, _ := slices.BinarySearch(r.Chunks.T, at(t))
			tokens += float64(n)
		}
		load := float64(running) / slots
		add(t, archive.SourceClient, "", map[string]float64{
			"cpu_cores": 0.08 + 0.01*float64(running), "rss_bytes": 48e6 + 2e5*t, "goroutines": 40 + float64(running)*3,
			"gc_pause_seconds_total": 0.0002 * t, "sched_latency_p99_seconds": 0.00009, "in_flight": float64(waiting + running),
			"requests_ok_total": ok, "requests_failed_total": 0, "output_tokens_total": tokens, "open_fds": 20 + float64(running),
		})
		add(t, archive.SourceHost, "", map[string]float64{
			"cpu_percent": 9 + 14*load + 2*m.rng.Float64(), "load1": 0.6 + load, "memory_used_bytes": 21e9, "memory_available_bytes": 107e9,
			"net_rx_bytes_total": 5e3 * tokens, "net_tx_bytes_total": 1e3 * sent, "steal_percent": 0, "tcp_retransmits_total": 3,
		})
		if m.kind == BlackBox || m.kind == AllFailed {
			continue
		}
		if waiting > 4 {
			preempt += float64(waiting / 5)
		}
		engine := map[string]float64{
			"requests_running": float64(running), "requests_waiting": float64(waiting), "kv_cache_usage": min(0.992, 0.04+0.95*load),
			"kv_cache_usage_max": min(0.992, 0.04+0.95*load), "preemptions_total": preempt, "generation_tokens_total": tokens,
			"prompt_tokens_total": sent * 1200, "prefix_cache_queries_total": sent * 1200, "prefix_cache_hits_total": sent * 240,
		}
		if t > 52 && t < 56 {
			out = append(out, archive.Sample{T: at(t), Source: archive.SourceEngine, Target: "10.0.0.7:8000/metrics", Took: 5e9, Error: "scrape: deadline exceeded after 5 s"})
		} else {
			add(t, archive.SourceEngine, "10.0.0.7:8000/metrics", engine)
		}
		if m.kind == Healthy {
			continue
		}
		power := 28 + 43*math.Min(1, load*1.2) + m.rng.Float64()
		energy += power
		add(t, archive.SourceGPU, "GPU-5b1f", map[string]float64{
			"util_percent": math.Min(100, 35+70*load+5*m.rng.Float64()), "memory_used_bytes": 21.4e9, "memory_total_bytes": 24.1e9,
			"power_watts": power, "power_limit_watts": 72, "energy_joules_total": energy, "sm_clock_mhz": 2040 - 300*load, "sm_clock_max_mhz": 2040,
			"temperature_celsius": 48 + t*0.2, "throttle_thermal": 0, "throttle_power": 0,
		})
	}
	return out
}

func (m *model) events() []archive.Event {
	phase := func(kind string, t float64, name string) archive.Event {
		return archive.Event{T: at(t), Kind: kind, Severity: archive.SeverityInfo, Source: "loadgen", Message: kind + " " + name, Fields: map[string]any{"phase": name}}
	}
	out := []archive.Event{
		phase(archive.EventPhaseStart, start, "steady"), phase(archive.EventMeasureStart, warmupEnd, "steady"),
		phase(archive.EventPhaseEnd, phaseEnd, "steady"), phase(archive.EventPhaseStart, phaseEnd, "push"),
		phase(archive.EventMeasureStart, phaseEnd, "push"),
	}
	if m.kind == Saturated || m.kind == Hostile {
		out = append(out,
			archive.Event{T: at(52.4), Kind: archive.EventSourceLost, Severity: archive.SeverityWarning, Source: "monitor", Message: m.outside("The engine's metrics page did not answer for 4 s.")},
			archive.Event{T: at(71), Kind: "http_503_burst", Severity: archive.SeverityError, Source: "loadgen", Message: m.outside("The server began to refuse requests with 503.")})
	}
	if m.kind == Interrupted {
		out = append(out, archive.Event{T: at(m.end), Kind: archive.EventInterrupted, Severity: archive.SeverityWarning, Source: "campaign", Message: "The user pressed Ctrl-C."})
	} else {
		out = append(out, phase(archive.EventPhaseEnd, m.end, "push"))
	}
	slices.SortStableFunc(out, func(a, b archive.Event) int { return cmp.Compare(a.T, b.T) })
	return out
}
