package export

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report"
)

// llmdVersion is the version of the llm-d Benchmark Report that LLMD writes.
const llmdVersion = "0.2.1"

// The types below are the parts of the llm-d Benchmark Report that a run can fill. The
// schema allows every other part to be absent.
type (
	llmdReport struct {
		Version  string        `json:"version"`
		Run      llmdRun       `json:"run"`
		Scenario *llmdScenario `json:"scenario,omitempty"`
		Results  llmdResults   `json:"results"`
	}
	llmdRun struct {
		UID         string   `json:"uid"`
		EID         string   `json:"eid,omitempty"`
		Time        llmdTime `json:"time"`
		Description string   `json:"description,omitempty"`
		Keywords    []string `json:"keywords,omitempty"`
	}
	llmdTime struct {
		Start    string `json:"start"`
		End      string `json:"end,omitempty"`
		Duration string `json:"duration,omitempty"` // ISO 8601
	}
	llmdScenario struct {
		Load llmdLoad `json:"load"`
	}
	llmdLoad struct {
		Metadata     map[string]string `json:"metadata"`
		Standardized llmdStandard      `json:"standardized"`
		Native       map[string]any    `json:"native"`
	}
	llmdStandard struct {
		Tool         string      `json:"tool"`
		ToolVersion  string      `json:"tool_version"`
		Parallelism  int         `json:"parallelism"`
		Source       string      `json:"source"`
		Stage        int         `json:"stage"`
		InputSeqLen  llmdLength  `json:"input_seq_len"`
		OutputSeqLen *llmdLength `json:"output_seq_len,omitempty"`
		RateQPS      *float64    `json:"rate_qps,omitempty"`
		Concurrency  *int        `json:"concurrency,omitempty"`
	}
	llmdLength struct {
		Distribution string  `json:"distribution"`
		Value        float64 `json:"value"`
	}
	llmdResults struct {
		Request llmdPerformance `json:"request_performance"`
	}
	llmdPerformance struct {
		Aggregate llmdAggregate `json:"aggregate"`
	}
	llmdAggregate struct {
		Requests   llmdRequests         `json:"requests"`
		Latency    map[string]llmdStats `json:"latency,omitempty"`
		Throughput map[string]llmdStats `json:"throughput,omitempty"`
	}
	llmdRequests struct {
		Total        int        `json:"total"`
		Failures     int        `json:"failures"`
		Incomplete   int        `json:"incomplete"`
		InputLength  *llmdStats `json:"input_length,omitempty"`
		OutputLength *llmdStats `json:"output_length,omitempty"`
	}
	// llmdStats is one distribution: units, mean and percentiles.
	llmdStats map[string]any
)

// LLMD writes the llm-d Benchmark Report. Its latency fields follow the definitions of
// the report's schema: first token and request latency from the moment of sending, and
// inter-token latency only where tokens, not chunks, were timed. A distribution without
// a mean cannot be written there and is left out, and so is a withheld percentile.
func LLMD(w io.Writer, run *archive.Run, a *archive.Analysis) error {
	m := run.Manifest
	at := func(i archive.Instant) string { return m.Epoch.Add(time.Duration(i)).UTC().Format(time.RFC3339Nano) }
	r := llmdReport{Version: llmdVersion, Run: llmdRun{UID: m.ID, EID: report.OneLine(m.Name), Time: llmdTime{Start: at(m.Started)}, Description: report.OneLine(a.Verdict.Headline)}}
	if m.Ended.Known() {
		r.Run.Time.End = at(m.Ended)
		r.Run.Time.Duration = fmt.Sprintf("PT%.3fS", m.Ended.Sub(m.Started).Seconds())
	}
	if a.Simulated {
		r.Run.Keywords = append(r.Run.Keywords, "simulation")
	}
	agg := &r.Results.Request.Aggregate
	agg.Requests = llmdRequests{Total: a.Counts.Planned, Failures: a.Counts.Failed, Incomplete: a.Counts.Cancelled}
	agg.Requests.InputLength = stats(a, "count", "prompt_length")
	agg.Requests.OutputLength = stats(a, "count", "output_length")
	agg.Latency = collect(a, []llmdField{
		{"time_to_first_token", "ms", []string{"ttft_service", "ttft"}},
		{"normalized_time_per_output_token", "ms/token", []string{"norm_latency"}},
		{"time_per_output_token", "ms/token", []string{"tpot"}},
		{"inter_token_latency", "ms/token", []string{"itl"}},
		{"request_latency", "ms", []string{"e2e_service", "e2e"}},
	})
	agg.Throughput = collect(a, []llmdField{
		{"input_token_rate", "tokens/s", []string{"input_rate"}},
		{"output_token_rate", "tokens/s", []string{"output_rate"}},
		{"total_token_rate", "tokens/s", []string{"total_rate"}},
		{"request_rate", "queries/s", []string{"request_rate"}},
	})
	r.Scenario = llmdLoadOf(m, a)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

type llmdField struct {
	name, unit string
	ids        []string // the first that is known
}

func collect(a *archive.Analysis, fields []llmdField) map[string]llmdStats {
	out := map[string]llmdStats{}
	for _, f := range fields {
		if s := stats(a, f.unit, f.ids...); s != nil {
			out[f.name] = *s
		}
	}
	return out
}

// stats is one distribution, nil when its mean is unknown.
func stats(a *archive.Analysis, unit string, ids ...string) *llmdStats {
	for _, id := range ids {
		m, ok := metric(a, "all", id)
		if !ok {
			continue
		}
		mean := m.Stats["mean"].Value
		if v := m.Stats["value"].Value; v.Known() {
			mean = v
		}
		if !mean.Known() {
			continue
		}
		s := llmdStats{"units": unit, "mean": mean.Or(0)}
		for from, to := range map[string]string{"std": "stddev", "min": "min", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "max": "max"} {
			if v, ok := m.Stats[from].Value.Get(); ok {
				s[to] = v
			}
		}
		return &s
	}
	return nil
}

// llmdLoadOf describes the load of a run with one phase; with several there is no single
// load to state, and without prompt lengths the schema has no place for one.
func llmdLoadOf(m archive.Manifest, a *archive.Analysis) *llmdScenario {
	in, ok := metric(a, "all", "prompt_length")
	if len(a.Windows) != 1 || !ok || !in.Stats["mean"].Value.Known() {
		return nil
	}
	w := a.Windows[0]
	s := llmdStandard{
		Tool: "inferencebench", ToolVersion: m.Tool.Version, Parallelism: 1, Source: "unknown",
		InputSeqLen: llmdLength{"other", in.Stats["mean"].Value.Or(0)},
	}
	if v, ok := w.AskedRate.Get(); ok && v > 0 {
		s.RateQPS = &v
	}
	if v, ok := w.AskedConcurrency.Get(); ok && v >= 1 {
		c := int(v)
		s.Concurrency = &c
	}
	return &llmdScenario{llmdLoad{Metadata: map[string]string{"description": report.OneLine(w.Load)}, Standardized: s, Native: map[string]any{"config": m.Config}}}
}
