package live

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines/expo"
)

func scrape(p *Page) *expo.Page {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return expo.Parse(w.Body.Bytes())
}

func value(t *testing.T, p *expo.Page, name string, labels ...string) float64 {
	t.Helper()
next:
	for _, s := range p.Get(name) {
		for i := 0; i < len(labels); i += 2 {
			if v, _ := s.Label(labels[i]); v != labels[i+1] {
				continue next
			}
		}
		return s.Value
	}
	t.Errorf("no series %s %v", name, labels)
	return -1
}

// full is a page with one of everything.
func full() *Page {
	p := New(func() float64 { return 3 })
	ok := &archive.Request{Kind: archive.KindLoad, Status: archive.StatusOK}
	ok.T = archive.Times{Send: 1e9, First: 12e8, Last: 3e9}
	ok.Usage.Completion = archive.Some(40)
	p.Request(ok)
	p.Request(&archive.Request{Kind: archive.KindLoad, Status: archive.StatusFailed})
	p.Event(archive.Event{Kind: "source_lost", Severity: archive.SeverityWarning})
	p.Sample(archive.Sample{Source: "engine", Target: "http://h/metrics", Values: map[string]float64{
		"requests_running": 7, "requests_waiting": 2, "kv_cache_usage": 0.5, "preemptions_total": 1, "generation_tokens_total": 5,
		"prompt_tokens_total": 9, "requests_finished_total:stop": 4, "ttft_bucket:0.1": 9,
	}})
	p.Sample(archive.Sample{Source: "gpu", Target: "GPU-a", Values: map[string]float64{"util_percent": 90, "power_watts": 300, "memory_used_bytes": 5, "temperature_celsius": 60, "sm_clock_mhz": 1400, "throttle_thermal": 0}})
	p.Sample(archive.Sample{Source: "host", Values: map[string]float64{"cpu_percent": 50, "memory_available_bytes": 5}})
	p.Sample(archive.Sample{Source: "client", Values: map[string]float64{"cpu_cores": 0.5, "sched_latency_p99_seconds": 0.001, "gc_pause_max_seconds": 0.001}})
	return p
}

func TestPage(t *testing.T) {
	p := full()
	p.Sample(archive.Sample{Source: "gpu", Target: "GPU-b", Error: "lost"})
	got := scrape(p)
	if got.Bad != 0 {
		t.Fatalf("%d bad lines, the first %q", got.Bad, got.FirstBad)
	}
	for _, tt := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"inferencebench_requests_total", []string{"status", "ok", "kind", "load"}, 1},
		{"inferencebench_requests_total", []string{"status", "failed"}, 1},
		{"inferencebench_output_tokens_total", nil, 40},
		{"inferencebench_in_flight", nil, 3},
		{"inferencebench_ttft_seconds_count", nil, 1},
		{"inferencebench_ttft_seconds_bucket", []string{"le", "0.2"}, 1},
		{"inferencebench_e2e_seconds_sum", nil, 2},
		{"inferencebench_engine_requests_running", []string{"target", "http://h/metrics"}, 7},
		{"inferencebench_engine_requests_finished_total", []string{"part", "stop"}, 4},
		{"inferencebench_gpu_util_percent", []string{"target", "GPU-a"}, 90},
		{"inferencebench_source_up", []string{"target", "GPU-b"}, 0},
		{"inferencebench_events_total", []string{"kind", "source_lost"}, 1},
	} {
		if v := value(t, got, tt.name, tt.labels...); v != tt.want {
			t.Errorf("%s%v = %v; want %v", tt.name, tt.labels, v, tt.want)
		}
	}
	if got.HasPrefix("inferencebench_engine_ttft_bucket") {
		t.Error("the server's buckets are on the page")
	}
}

func TestHostileNames(t *testing.T) {
	p := New(nil)
	p.Sample(archive.Sample{Source: "engine", Target: "a\"} 1\nevil{x=\"", Values: map[string]float64{"a b:c\"d": 1, "\xff": 2}})
	for i := range 2 * maxSeries {
		p.Sample(archive.Sample{Source: "engine", Target: fmt.Sprint(i), Values: map[string]float64{"x": 1}})
	}
	got := scrape(p)
	if got.Bad != 0 || len(got.Get("evil")) > 0 || len(got.Samples) > maxSeries+200 {
		t.Errorf("%d bad lines (%q), %d samples; want none bad and at most about %d", got.Bad, got.FirstBad, len(got.Samples), maxSeries)
	}
}

// TestDashboard checks that every series that the dashboard asks for is one that the page
// can have.
func TestDashboard(t *testing.T) {
	b, err := os.ReadFile("../../deploy/grafana/inferencebench.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	page := scrape(full())
	names := regexp.MustCompile(`inferencebench_[a-z0-9_]+`)
	asked := 0
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			for _, n := range names.FindAllString(target.Expr, -1) {
				asked++
				if !page.Has(n) && !page.Has(strings.TrimSuffix(n, "_bucket")) {
					t.Errorf("panel %q asks for %s, which is not on the page", panel.Title, n)
				}
			}
		}
	}
	if asked < 15 {
		t.Errorf("the dashboard asks for %d series; want more", asked)
	}
}
