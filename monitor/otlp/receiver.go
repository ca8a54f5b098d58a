// Package otlp takes in the request spans that a server exports by OpenTelemetry's HTTP
// protocol, and makes an event of each that stands for one request. It is joined to our
// record of the request by the id that we sent along.
//
// The server is told to send here by, for vLLM, --otlp-traces-endpoint with the address,
// and OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf.
package otlp

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// EventSpan is the kind of event that a request's span becomes. Fields: request (the id as
// we sent it, where the span tells it), trace, span, seconds, and those of Latencies that
// the span has.
const EventSpan = "request_span"

const maxBody = 16 << 20

// Latencies maps the attributes of the servers' spans to the names of fields, all in
// seconds.
func Latencies() map[string]string {
	return map[string]string{
		"gen_ai.latency.time_in_queue":           "queue_seconds",
		"gen_ai.latency.time_to_first_token":     "ttft_seconds",
		"gen_ai.latency.e2e":                     "e2e_seconds",
		"gen_ai.latency.time_in_scheduler":       "scheduler_seconds",
		"gen_ai.latency.time_in_model_forward":   "forward_seconds",
		"gen_ai.latency.time_in_model_execute":   "execute_seconds",
		"gen_ai.latency.time_in_model_prefill":   "prefill_seconds",
		"gen_ai.latency.time_in_model_decode":    "decode_seconds",
		"gen_ai.latency.time_in_model_inference": "inference_seconds",
		"gen_ai.usage.prompt_tokens":             "prompt_tokens",
		"gen_ai.usage.completion_tokens":         "completion_tokens",
	}
}

// Receiver takes spans in.
type Receiver struct {
	l net.Listener
}

// Listen opens the address. Whoever can reach it can send spans: keep it on the loopback
// or a trusted network.
func Listen(addr string) (*Receiver, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("take spans in: %w", err)
	}
	return &Receiver{l: l}, nil
}

// Addr is the address that it listens at.
func (r *Receiver) Addr() string { return r.l.Addr().String() }

// Watch takes spans in until ctx is done, and closes the address.
func (r *Receiver) Watch(ctx context.Context, clock archive.Clock, emit func(archive.Event)) error {
	s := &http.Server{Handler: Handler(clock, emit), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	done := make(chan error, 1)
	go func() { done <- s.Serve(r.l) }()
	select {
	case err := <-done:
		return fmt.Errorf("take spans in: %w", err)
	case <-ctx.Done():
	}
	// A server exports in batches; the last may just be on its way.
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.Shutdown(limit)
	if err := <-done; err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("take spans in: %w", err)
	}
	return nil
}

// Handler serves POST /v1/traces, in protobuf and JSON, plain and gzip.
func Handler(clock archive.Clock, emit func(archive.Event)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, req *http.Request) {
		var body io.Reader = http.MaxBytesReader(w, req.Body, maxBody)
		if req.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(body)
			if err != nil {
				http.Error(w, "not gzip", http.StatusBadRequest)
				return
			}
			body = io.LimitReader(z, maxBody+1)
		}
		b, err := io.ReadAll(body)
		if err != nil || len(b) > maxBody {
			http.Error(w, "too large or cut off", http.StatusRequestEntityTooLarge)
			return
		}
		isJSON := strings.HasPrefix(req.Header.Get("Content-Type"), "application/json")
		decode := Decode
		if isJSON {
			decode = DecodeJSON
		}
		spans, err := decode(b)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		now := clock.Now()
		for i := range spans {
			if e, ok := spans[i].Event(now); ok {
				emit(e)
			}
		}
		if isJSON {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf") // an empty message: all taken
	})
	return mux
}

// Event makes an event of a span that stands for one request: one with a latency or a
// request id of the gen_ai conventions.
func (s *Span) Event(now archive.Instant) (archive.Event, bool) {
	f := map[string]any{"trace": s.Trace, "span": s.ID}
	found := false
	for attr, name := range Latencies() {
		if v, ok := s.Numbers[attr]; ok && v >= 0 {
			f[name] = v
			found = true
		}
	}
	if id, ok := s.Texts["gen_ai.request.id"]; ok {
		f["request"] = RequestID(id)
		found = true
	}
	if !found {
		return archive.Event{}, false
	}
	if s.End > s.Start {
		f["seconds"] = float64(s.End-s.Start) / 1e9
	}
	return archive.Event{T: now, Kind: EventSpan, Severity: archive.SeverityInfo, Source: "otlp", Message: "span " + s.Name, Fields: f}, true
}

// RequestID is the id that we sent, from the one that the server made of it: servers put
// the kind of route in front, and some a part number behind.
func RequestID(id string) string {
	for _, prefix := range []string{"chatcmpl-", "cmpl-"} {
		id = strings.TrimPrefix(id, prefix)
	}
	return strings.TrimSuffix(id, "-0")
}
