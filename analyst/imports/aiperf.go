package imports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// unitMS is how many milliseconds the time units of these files have.
var unitMS = map[string]float64{"ms": 1, "us": 1e-3, "ns": 1e-6, "s": 1000, "sec": 1000, "seconds": 1000, "": 1}

// aiperf reads profile_export_aiperf.json: figures with percentiles.
func aiperf(o object) ([]*Imported, error) {
	im := &Imported{Format: "aiperf", Cannot: []archive.Annotation{
		noIntended, noTelemetry,
		{Code: "figures_only", Message: "The file holds figures, not requests; import profile_export.jsonl of the same run for intervals and other definitions."},
		{Code: "aiperf_itl", Message: "AIPerf's inter-token latency is each request's mean, which is what is called time per output token here."},
	}}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999"} {
		if t, err := time.Parse(layout, o.text("start_time")); err == nil {
			im.Manifest.Epoch = t
			break
		}
	}
	cfg := o.object("input_config")
	endpoint, load := cfg.object("endpoint"), cfg.object("loadgen")
	im.Manifest.Server = archive.Server{URL: endpoint.text("url"), Engine: "unknown"}
	if names := list[string](endpoint, "model_names"); len(names) > 0 {
		im.Manifest.Server.Model = names[0]
	}
	stat := func(key, name string) (float64, bool) { return o.object(key).number(name) }
	n, _ := stat("request_count", "avg")
	failed, _ := stat("error_request_count", "avg")
	f := &figures{n: int(math.Max(0, math.Min(n, 1e12)))}
	for _, m := range []struct{ key, id string }{{"time_to_first_token", "ttft"}, {"inter_token_latency", "tpot"}, {"request_latency", "e2e"}, {"inter_chunk_latency", "icl"}, {"input_sequence_length", "prompt_length"}, {"output_sequence_length", "output_length"}} {
		k := 1.0
		if m.id != "prompt_length" && m.id != "output_length" {
			k = unitMS[o.object(m.key).text("unit")]
		}
		for from, to := range map[string]string{"avg": "mean", "std": "std", "min": "min", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "max": "max"} {
			v, has := stat(m.key, from)
			f.stat("all", m.id, to, v*k, has && k > 0)
		}
	}
	for _, m := range []struct{ key, id string }{{"benchmark_duration", "duration"}, {"request_throughput", "request_rate"}, {"output_token_throughput", "output_rate"}, {"total_token_throughput", "total_rate"}, {"goodput", "goodput"}, {"total_isl", "input_tokens"}, {"total_osl", "output_tokens"}} {
		v, has := stat(m.key, "avg")
		f.value(m.id, v, has)
	}
	words := "load not recorded"
	asked, rate := load.opt("concurrency"), load.opt("request_rate")
	if v, has := rate.Get(); has {
		words, asked = fmt.Sprintf("%.3g req/s", v), archive.Opt[float64]{}
	} else if v, has := asked.Get(); has {
		words = fmt.Sprintf("concurrency %.3g", v)
	}
	im.Analysis = f.analysis(f.n, int(failed), asked, rate, words)
	return []*Imported{im}, nil
}

// maxLine bounds one record of a JSONL file.
const maxLine = 16 << 20

// aiperfRecord is one line of AIPerf's profile_export.jsonl.
type aiperfRecord struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
		Session   string `json:"x_correlation_id"`
		Turn      int    `json:"turn_index"`
		Start     int64  `json:"request_start_ns"`
		Ack       *int64 `json:"request_ack_ns"`
		End       int64  `json:"request_end_ns"`
		Phase     string `json:"benchmark_phase"`
		Cancelled bool   `json:"was_cancelled"`
	} `json:"metadata"`
	Metrics map[string]struct {
		Value json.RawMessage `json:"value"`
		Unit  string          `json:"unit"`
	} `json:"metrics"`
	Error *struct {
		Code    *int   `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// parseRecords reads AIPerf's per-request file. A line that cannot be read is skipped and
// named in Cannot.
func parseRecords(name string, data []byte) ([]*Imported, error) {
	im := &Imported{Format: "aiperf", Cannot: []archive.Annotation{noIntended, noTelemetry}}
	im.Manifest.Server.Engine = "unknown"
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, maxLine)
	var recs []aiperfRecord
	n, skipped := 0, 0
	for sc.Scan() {
		n++
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var r aiperfRecord
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil || r.Metadata.Start <= 0 || r.Metadata.End < r.Metadata.Start {
			if skipped++; skipped <= 5 {
				im.Cannot = append(im.Cannot, archive.Annotation{Code: "bad_line", Message: fmt.Sprintf("%s:%d is no request record and was skipped", name, n)})
			}
			continue
		}
		recs = append(recs, r)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	if len(recs) == 0 {
		return nil, fmt.Errorf("%s: no request record in %d lines", name, n)
	}
	if skipped > 5 {
		im.Cannot = append(im.Cannot, archive.Annotation{Code: "bad_line", Message: fmt.Sprintf("%d lines in all were skipped", skipped)})
	}
	base := recs[0].Metadata.Start
	for i := range recs {
		base = min(base, recs[i].Metadata.Start)
	}
	im.Manifest.Epoch = time.Unix(0, base).Add(-time.Second)
	for i := range recs {
		im.Requests = append(im.Requests, recs[i].request(i, base))
	}
	im.Manifest.Ended = ended(im.Requests)
	return []*Imported{im}, nil
}

func (a *aiperfRecord) request(i int, base int64) archive.Request {
	r := record(i)
	if a.Metadata.RequestID != "" {
		r.ID = a.Metadata.RequestID[:min(len(a.Metadata.RequestID), 100)]
	}
	if a.Metadata.Session != "" {
		r.Session, r.Turn = a.Metadata.Session[:min(len(a.Metadata.Session), 100)], a.Metadata.Turn
	}
	if a.Metadata.Phase == "warmup" {
		r.Kind = archive.KindWarmup
	}
	at := func(ns int64) archive.Instant { return archive.Instant(1e9 + ns - base) }
	r.T.Intended, r.T.Send, r.T.Done = at(a.Metadata.Start), at(a.Metadata.Start), at(a.Metadata.End)
	if a.Metadata.Ack != nil && *a.Metadata.Ack >= a.Metadata.Start {
		r.T.Headers = at(*a.Metadata.Ack)
	}
	r.Usage.Prompt, r.Usage.Completion = a.tokens("input_sequence_length"), a.tokens("output_sequence_length")
	if r.Usage.Completion.Known() {
		r.Usage.Source = archive.UsageEstimated
	}
	switch {
	case a.Metadata.Cancelled:
		r.Status, r.Error = archive.StatusCancelled, &archive.Failure{Kind: archive.FailEnded, Message: "cancelled by the tool"}
	case a.Error != nil:
		fail(&r, a.Error.Type+": "+a.Error.Message)
		if a.Error.Code != nil {
			r.Error.HTTPStatus = archive.Some(*a.Error.Code)
		}
	default:
		ttft, ok := a.ms("time_to_first_token")
		total, ok2 := a.ms("request_latency")
		if !ok || !ok2 {
			r.Annotations = append(r.Annotations, archive.Annotation{Code: "no_first_token", Message: "The record has no time to first token."})
			r.T.Last = r.T.Done
			return r
		}
		var gaps []float64
		if json.Unmarshal(a.Metrics["inter_chunk_latency"].Value, &gaps) != nil {
			gaps = nil
		}
		k := unitMS[a.Metrics["inter_chunk_latency"].Unit] / 1000
		for j := range gaps {
			gaps[j] *= k
		}
		done := r.T.Done
		stream(&r, ttft/1000, gaps)
		if len(gaps) == 0 {
			r.T.Last = r.T.Send.Add(time.Duration(total * 1e6))
		}
		r.T.Done = max(done, r.T.Last)
	}
	return r
}

// ms is a time of the record in milliseconds.
func (a *aiperfRecord) ms(key string) (float64, bool) {
	m, ok := a.Metrics[key]
	var v float64
	if !ok || json.Unmarshal(m.Value, &v) != nil || bad(v) || v < 0 {
		return 0, false
	}
	k, known := unitMS[m.Unit]
	return v * k, known
}

func (a *aiperfRecord) tokens(key string) archive.Opt[int] {
	m, ok := a.Metrics[key]
	var v float64
	if !ok || json.Unmarshal(m.Value, &v) != nil || v < 0 || v > 1e9 {
		return archive.Opt[int]{}
	}
	return archive.Some(int(v))
}
