package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/inferencebench/inferencebench/archive"
)

func msg(n protowire.Number, body ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), bytes.Join(body, nil))
}

func fixed(n protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), v)
}

func attr(key string, value []byte) []byte { return msg(9, msg(1, []byte(key)), msg(2, value)) }

// export is one request with one span of a server, as its exporter would encode it.
func export() []byte {
	span := bytes.Join([][]byte{
		msg(1, []byte{0xab, 0xcd}), msg(2, []byte{0x01}), msg(5, []byte("llm_request")), fixed(7, 1e9), fixed(8, 3e9),
		attr("gen_ai.request.id", msg(1, []byte("chatcmpl-run-000007-0"))),
		attr("gen_ai.latency.time_in_queue", fixed(4, math.Float64bits(0.25))),
		attr("gen_ai.usage.prompt_tokens", protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 42)),
	}, nil)
	return msg(1, msg(1, []byte("resource")), msg(2, msg(2, span)))
}

const asJSON = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"abcd","spanId":"01","name":"llm_request","startTimeUnixNano":"1000000000","endTimeUnixNano":"3000000000",
"attributes":[{"key":"gen_ai.request.id","value":{"stringValue":"chatcmpl-run-000007-0"}},{"key":"gen_ai.latency.time_in_queue","value":{"doubleValue":0.25}},
{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"42"}}]}]}]}]}`

func TestReceive(t *testing.T) {
	var got []archive.Event
	clock := archive.ClockFunc(func() archive.Instant { return 7 })
	h := Handler(clock, func(e archive.Event) { got = append(got, e) })
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(export())
	_ = z.Close()
	want := archive.Event{T: 7, Kind: EventSpan, Severity: archive.SeverityInfo, Source: "otlp", Message: "span llm_request", Fields: map[string]any{
		"trace": "abcd", "span": "01", "request": "run-000007", "queue_seconds": 0.25, "prompt_tokens": 42.0, "seconds": 2.0,
	}}
	for _, tt := range []struct {
		why, contentType, encoding string
		body                       []byte
		status                     int
	}{
		{"protobuf", "application/x-protobuf", "", export(), 200},
		{"gzip", "application/x-protobuf", "gzip", zipped.Bytes(), 200},
		{"JSON", "application/json", "", []byte(asJSON), 200},
		{"broken protobuf", "application/x-protobuf", "", []byte{0x0a, 0xff}, 400},
		{"broken JSON", "application/json", "", []byte("{"), 400},
		{"not gzip", "application/x-protobuf", "gzip", []byte("x"), 400},
		{"too large", "application/x-protobuf", "", make([]byte, maxBody+1), 413},
	} {
		got = nil
		r := httptest.NewRequest(http.MethodPost, "/v1/traces", bytes.NewReader(tt.body))
		r.Header.Set("Content-Type", tt.contentType)
		r.Header.Set("Content-Encoding", tt.encoding)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s: status %d; want %d", tt.why, w.Code, tt.status)
		}
		if tt.status == 200 {
			if d := cmp.Diff([]archive.Event{want}, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, d)
			}
		} else if len(got) > 0 {
			t.Errorf("%s: events %v; want none", tt.why, got)
		}
	}
}

func TestOtherSpansAreLeftOut(t *testing.T) {
	s := Span{Name: "GET /health", Texts: map[string]string{"http.method": "GET"}}
	if e, ok := s.Event(1); ok {
		t.Errorf("event %+v of a span that is no request", e)
	}
}

func TestWatch(t *testing.T) {
	r, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	events := make(chan archive.Event, 1)
	done := make(chan error)
	go func() { done <- r.Watch(ctx, archive.NewRunClock(), func(e archive.Event) { events <- e }) }()
	resp, err := http.Post("http://"+r.Addr()+"/v1/traces", "application/json", strings.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if e := <-events; e.Fields["request"] != "run-000007" {
		t.Errorf("event %+v", e)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Watch: %v", err)
	}
	if _, err := Listen("256.0.0.1:1"); err == nil {
		t.Error("an address that is none is no error")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(export())
	f.Add([]byte(asJSON))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range []func([]byte) ([]Span, error){Decode, DecodeJSON} {
			spans, _ := decode(b)
			for i := range spans {
				if len(spans[i].Numbers) > maxAttrs || len(spans[i].Texts) > maxAttrs || len(spans[i].Name) > maxText {
					t.Fatal("bounds are not kept")
				}
				spans[i].Event(1)
			}
		}
	})
}
