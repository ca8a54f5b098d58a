package health

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

type values = map[string]float64

// story feeds one sample a second and returns the kinds of events in order.
func story(seconds int, source string, at func(i int) values, client func(i int) values) (events []archive.Event) {
	w := New(func(e archive.Event) { events = append(events, e) })
	for i := range seconds {
		t := archive.Instant(time.Second * time.Duration(i+1))
		if client != nil {
			w.Add(archive.Sample{T: t, Source: archive.SourceClient, Values: client(i)})
		}
		w.Add(archive.Sample{T: t, Source: source, Target: "x", Values: at(i)})
	}
	return events
}

func kinds(events []archive.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return strings.Join(out, " ")
}

func TestRules(t *testing.T) {
	open := func(n float64) func(int) values { return func(int) values { return values{"in_flight": n} } }
	noise := rand.New(rand.NewPCG(1, 2))
	between := func(i, a, b int) float64 {
		if i >= a && i < b {
			return 1
		}
		return 0
	}
	tests := []struct {
		why     string
		seconds int
		source  string
		at      func(i int) values
		client  func(i int) values
		want    string
	}{
		{"a GPU falls idle under load, then works again", 40, archive.SourceGPU, func(i int) values { return values{"util_percent": 90 * (1 - between(i, 10, 25))} }, open(8), "gpu_idle condition_over"},
		{"an idle GPU without load is no event", 40, archive.SourceGPU, func(int) values { return values{"util_percent": 0} }, open(0), ""},
		{"a short gap is no event", 40, archive.SourceGPU, func(i int) values { return values{"util_percent": 90 * (1 - between(i, 10, 14))} }, open(8), ""},
		{"utilisation that is not told is not idle", 40, archive.SourceGPU, func(int) values { return values{"power_watts": 300} }, open(8), ""},
		{"heat", 30, archive.SourceGPU, func(i int) values { return values{"throttle_thermal": between(i, 5, 9), "throttle_hardware": 0} }, nil, "gpu_throttle condition_over"},
		{"the power limit of a busy GPU is normal", 30, archive.SourceGPU, func(int) values { return values{"throttle_thermal": 0, "throttle_power": 1} }, nil, ""},
		{"a new error code", 30, archive.SourceGPU, func(i int) values { return values{"last_xid": 79 * between(i, 9, 30)} }, nil, "gpu_error"},
		{"an old error code", 30, archive.SourceGPU, func(int) values { return values{"last_xid": 13} }, nil, ""},
		{"a leak in the server", 400, archive.SourceHost, func(i int) values {
			return values{"process_rss_bytes": 1e9 * (1 + 0.001*float64(i)) * (1 + 0.002*noise.Float64())}
		}, nil, "memory_growth"},
		{"memory that goes up and down", 400, archive.SourceHost, func(i int) values { return values{"process_rss_bytes": 1e9 * (1 + 0.3*float64(i%60)/60)} }, nil, ""},
		{"the kernel ends a process", 30, archive.SourceHost, func(i int) values { return values{"oom_kills_total": 4 + between(i, 9, 30)} }, nil, "oom_kill"},
		{"memory runs out", 30, archive.SourceHost, func(i int) values { return values{"memory_available_bytes": 1e9 - 0.9e9*between(i, 9, 20)} }, nil, "host_memory_low condition_over"},
		{"a queue that only grows", 400, archive.SourceEngine, func(i int) values { return values{"requests_waiting": float64(i)} }, nil, "engine_queue_grows"},
		{"a queue that hovers", 400, archive.SourceEngine, func(i int) values { return values{"requests_waiting": float64(i % 5)} }, nil, ""},
		{"output decays at the same load", 400, archive.SourceHost, func(int) values { return nil }, func(i int) values {
			x := float64(i)
			return values{"in_flight": 8, "output_tokens_total": 1000*x - x*x}
		}, "throughput_decay"},
		{"output that stays", 400, archive.SourceHost, func(int) values { return nil }, func(i int) values {
			return values{"in_flight": 8, "output_tokens_total": 1000 * float64(i)}
		}, ""},
		{"a burst of errors", 60, archive.SourceHost, func(int) values { return nil }, func(i int) values {
			return values{"in_flight": 8, "requests_ok_total": float64(i), "requests_failed_total": 9 * between(i, 20, 60)}
		}, "error_burst condition_over"},
		{"an error now and then", 60, archive.SourceHost, func(int) values { return nil }, func(i int) values {
			return values{"in_flight": 8, "requests_ok_total": 10 * float64(i), "requests_failed_total": float64(i / 10)}
		}, ""},
	}
	for _, tt := range tests {
		got := story(tt.seconds, tt.source, tt.at, tt.client)
		if kinds(got) != tt.want {
			t.Errorf("%s: events %q; want %q", tt.why, kinds(got), tt.want)
		}
		for _, e := range got {
			if e.Message == "" || !e.T.Known() || e.Severity == "" {
				t.Errorf("%s: event %+v lacks a message, a time or a severity", tt.why, e)
			}
		}
	}
}

func TestFailedSampleSaysNothing(t *testing.T) {
	w := New(func(e archive.Event) { t.Errorf("event %+v", e) })
	for i := range 60 {
		w.Add(archive.Sample{T: archive.Instant(i+1) * 1e9, Source: archive.SourceHost, Error: "gone", Values: values{"memory_available_bytes": 0}})
	}
}
