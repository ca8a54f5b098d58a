package reporttest

import (
	"fmt"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
)

// latencies are the values of each latency metric, in ms, over the measured load.
func (m *model) latencies(keep func(*archive.Request) bool) map[string][]float64 {
	out := map[string][]float64{}
	for i := range m.requests {
		r := &m.requests[i]
		if r.Kind != archive.KindLoad || r.Status != archive.StatusOK || !keep(r) {
			continue
		}
		ms := func(a, b archive.Instant) float64 { return float64(a-b) / 1e6 }
		out["ttft"] = append(out["ttft"], ms(r.T.First, r.T.Intended))
		out["e2e"] = append(out["e2e"], ms(r.T.Last, r.T.Intended))
		out["send_lag"] = append(out["send_lag"], ms(r.T.Send, r.T.Intended))
		if n := len(r.Chunks.T); n > 1 {
			out["tpot"] = append(out["tpot"], ms(r.T.Last, r.T.First)/float64(n-1))
		}
		for k := 1; k < len(r.Chunks.T); k++ {
			out["icl"] = append(out["icl"], ms(r.Chunks.T[k], r.Chunks.T[k-1]))
		}
	}
	return out
}

// need is how many values each percentile takes before it is given.
var need = map[string]int{"p50": 20, "p90": 60, "p95": 120, "p99": 299}

func stats(v []float64) map[string]archive.Estimate {
	out := map[string]archive.Estimate{}
	if len(v) == 0 {
		return out
	}
	v = slices.Clone(v)
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	mean := sum / float64(len(v))
	half := 1.96 * mean / math.Sqrt(float64(len(v)))
	out["mean"] = archive.Estimate{Value: archive.Some(mean), Low: archive.Some(mean - half/2), High: archive.Some(mean + half/2)}
	out["min"] = archive.Estimate{Value: archive.Some(v[0])}
	out["max"] = archive.Estimate{Value: archive.Some(v[len(v)-1])}
	for name, p := range map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99} {
		if len(v) < need[name] {
			out[name] = archive.Estimate{Reason: fmt.Sprintf("needs %d values, has %d", need[name], len(v)), Sample: archive.Some(v[int(p*float64(len(v)-1))])}
			continue
		}
		spread := math.Sqrt(p * (1 - p) / float64(len(v)))
		q := func(p float64) float64 { return v[int(math.Max(0, math.Min(1, p))*float64(len(v)-1))] }
		out[name] = archive.Estimate{Value: archive.Some(q(p)), Low: archive.Some(q(p - 2*spread)), High: archive.Some(q(p + 2*spread))}
	}
	return out
}

var labels = map[string]string{
	"ttft": "Time to first token", "e2e": "End-to-end latency", "tpot": "Time per output token",
	"icl": "Inter-chunk latency", "send_lag": "Send lag",
}

func (m *model) metrics() []archive.Metric {
	var out []archive.Metric
	scope := func(name string, keep func(*archive.Request) bool) {
		l := m.latencies(keep)
		for _, id := range []string{"ttft", "tpot", "icl", "e2e", "send_lag"} {
			out = append(out, archive.Metric{ID: id, Label: labels[id], Unit: "ms", Scope: name, N: len(l[id]), Stats: stats(l[id])})
		}
	}
	scope("all", func(*archive.Request) bool { return true })
	scope("phase:steady", func(r *archive.Request) bool { return r.Phase == "steady" })
	scope("phase:push", func(r *archive.Request) bool { return r.Phase == "push" })
	scope("turn:first", func(r *archive.Request) bool { return r.Turn == 0 })
	scope("turn:later", func(r *archive.Request) bool { return r.Turn > 0 })
	in, outTokens, done := 0, 0, 0
	for i := range m.requests {
		r := &m.requests[i]
		if r.Kind == archive.KindLoad && r.Status == archive.StatusOK {
			in, outTokens, done = in+r.Usage.Prompt.Or(0), outTokens+r.Usage.Completion.Or(0), done+1
		}
	}
	d := m.end - warmupEnd
	one := func(id, label, unit string, v float64, ci float64) {
		e := archive.Estimate{Value: archive.Some(v)}
		if ci > 0 {
			e.Low, e.High = archive.Some(v*(1-ci)), archive.Some(v*(1+ci))
		}
		if done == 0 && id != "duration" {
			e = archive.Estimate{Reason: "no request succeeded"}
		}
		out = append(out, archive.Metric{ID: id, Label: label, Unit: unit, Scope: "all", N: done, Stats: map[string]archive.Estimate{"value": e}})
	}
	one("duration", "Benchmark duration", "s", d, 0)
	one("input_tokens", "Total input tokens", "tokens", float64(in), 0)
	one("output_tokens", "Total output tokens", "tokens", float64(outTokens), 0)
	one("request_rate", "Request throughput", "req/s", float64(done)/d, 0.05)
	one("output_rate", "Output token throughput", "tok/s", float64(outTokens)/d, 0.06)
	one("total_rate", "Total token throughput", "tok/s", float64(in+outTokens)/d, 0.06)
	return out
}

func (m *model) counts() archive.Counts {
	c := archive.Counts{ByKind: map[archive.Kind]int{}, Failures: map[string]int{}}
	for i := range m.requests {
		r := &m.requests[i]
		c.Planned++
		c.ByKind[r.Kind]++
		switch r.Status {
		case archive.StatusOK:
			c.OK++
		case archive.StatusFailed:
			c.Failed++
			c.Failures[r.Error.Kind]++
		case archive.StatusCancelled:
			c.Cancelled++
			c.Failures[r.Error.Kind]++
		}
	}
	return c
}

func (m *model) analysis() *archive.Analysis {
	man := m.manifest()
	a := &archive.Analysis{
		Schema: archive.SchemaVersion, Definitions: archive.Definitions, Run: man.ID, State: man.State, Simulated: man.Simulated,
		Counts: m.counts(), Metrics: m.metrics(),
		Windows: []archive.Window{
			{Phase: "steady", From: at(warmupEnd), To: at(phaseEnd), Load: "Poisson 3.6 req/s", AskedRate: archive.Some(3.6), AchievedRate: archive.Some(3.57), EffectiveConcurrency: archive.Some(5.1)},
			{Phase: "push", From: at(phaseEnd), To: at(m.end), Load: "Poisson 5.2 req/s", AskedRate: archive.Some(5.2), AchievedRate: archive.Some(5.17), EffectiveConcurrency: archive.Some(31.4)},
		},
		Gates: []archive.Gate{
			{ID: "send_lag", Passed: archive.Some(true), Observed: "P99 0.6 ms", Limit: "≤ 5 ms", Message: "Requests left when the plan wanted them to."},
			{ID: "little", Passed: archive.Some(true), Observed: "1.8 %", Limit: "< 5 %", Message: "Concurrency, throughput and latency agree by Little's law."},
			{ID: "errors", Passed: archive.Some(m.kind != AllFailed), Observed: "0 %", Limit: "< 1 %", Message: "Failed requests are rare enough for attribution."},
			{ID: "clock", Passed: archive.Some(true), Observed: "no step", Limit: "no step", Message: "The wall clock did not step during the run."},
		},
		Quality:     m.quality(),
		Annotations: []archive.Annotation{{Code: "chunk_not_token", Message: "The server sends 1.0 tokens a chunk on average; inter-chunk latency is shown, not inter-token latency."}},
	}
	m.judge(a)
	return a
}

func (m *model) quality() []archive.Quality {
	q := archive.Quality{Kind: "gsm8k", Set: "own-maths/1"}
	for _, c := range m.checkpoints {
		s, ok := c.Score.Get()
		switch {
		case !ok:
			q.Unscored++
		default:
			q.Scored++
			q.Correct += int(s)
		}
	}
	if q.Scored == 0 {
		if q.Unscored == 0 {
			return nil
		}
		q.Accuracy.Reason = "no item could be scored"
		return []archive.Quality{q}
	}
	p := float64(q.Correct) / float64(q.Scored)
	h := 1.96 * math.Sqrt(p*(1-p)/float64(q.Scored))
	q.Accuracy = archive.Estimate{Value: archive.Some(p), Low: archive.Some(p - h), High: archive.Some(math.Min(1, p+h))}
	q.Power = fmt.Sprintf("%d items can show a fall of 18 percentage points or more, not less.", q.Scored)
	return []archive.Quality{q}
}
