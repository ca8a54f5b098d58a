// Package live serves a run's own metrics page while the run goes on: what the client
// measures, and what the monitor sees of the server, the GPUs and the host, under one
// naming scheme, so that an ordinary Prometheus and a dashboard can look on.
//
// Series:
//
//	inferencebench_requests_total{status,kind}       requests that ended
//	inferencebench_output_tokens_total               tokens generated, as the server counts
//	inferencebench_ttft_seconds, _e2e_seconds        histograms of load requests that succeeded
//	inferencebench_in_flight                         requests that are open
//	inferencebench_SOURCE_NAME{target,part}          the latest sample; NAME as in package monitor
//	inferencebench_source_up{source,target}          1 while a source can be read
//	inferencebench_events_total{kind,severity}       dated events
//
// The page is for looking on. Results are computed from the run directory, never from it.
package live

import (
	"net/http"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/inferencebench/inferencebench/archive"
)

// maxSeries bounds the page: names and targets come from servers.
const maxSeries = 4000

// latencyBounds are the histograms' bucket bounds, in seconds.
func latencyBounds() []float64 {
	return []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 120}
}

// Page is the metrics of one run. It is safe for concurrent use.
type Page struct {
	set       *metrics.Set
	ttft, e2e *metrics.PrometheusHistogram

	mu     sync.Mutex
	series map[string]*metrics.Gauge
}

// New makes a page with nothing on it yet. inFlight tells the open requests and may be nil.
func New(inFlight func() float64) *Page {
	p := &Page{set: metrics.NewSet(), series: map[string]*metrics.Gauge{}}
	p.ttft = p.set.NewPrometheusHistogramExt("inferencebench_ttft_seconds", latencyBounds())
	p.e2e = p.set.NewPrometheusHistogramExt("inferencebench_e2e_seconds", latencyBounds())
	if inFlight != nil {
		p.set.NewGauge("inferencebench_in_flight", inFlight)
	}
	return p
}

// ServeHTTP writes the page.
func (p *Page) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	p.set.WritePrometheus(w)
}

// Request counts a request that ended. It keeps nothing of it.
func (p *Page) Request(r *archive.Request) {
	p.set.GetOrCreateCounter(`inferencebench_requests_total{status="` + label(string(r.Status)) + `",kind="` + label(string(r.Kind)) + `"}`).Inc()
	if n, ok := r.Usage.Completion.Get(); ok && n > 0 {
		p.set.GetOrCreateCounter("inferencebench_output_tokens_total").Add(n)
	}
	if r.Status != archive.StatusOK || r.Kind != archive.KindLoad || !r.T.Send.Known() {
		return
	}
	if r.T.First.Known() {
		p.ttft.Update(r.T.First.Sub(r.T.Send).Seconds())
	}
	if r.T.Last.Known() {
		p.e2e.Update(r.T.Last.Sub(r.T.Send).Seconds())
	}
}

// Event counts an event.
func (p *Page) Event(e archive.Event) {
	p.set.GetOrCreateCounter(`inferencebench_events_total{kind="` + label(e.Kind) + `",severity="` + label(string(e.Severity)) + `"}`).Inc()
}

// Sample puts the newest values of a source on the page. Buckets of the server's own
// histograms are left out.
func (p *Page) Sample(s archive.Sample) {
	target := label(s.Target)
	up := 1.0
	if s.Error != "" {
		up = 0
	}
	p.gauge(`inferencebench_source_up{source="`+label(s.Source)+`",target="`+target+`"}`, up)
	for name, v := range s.Values {
		if strings.Contains(name, "_bucket:") {
			continue
		}
		base, part, cut := strings.Cut(name, ":")
		id := "inferencebench_" + word(s.Source) + "_" + word(base) + `{target="` + target + `"`
		if cut {
			id += `,part="` + label(part) + `"`
		}
		p.gauge(id+"}", v)
	}
}

func (p *Page) gauge(id string, v float64) {
	p.mu.Lock()
	g, ok := p.series[id]
	if !ok {
		if len(p.series) >= maxSeries {
			p.mu.Unlock()
			return
		}
		g = p.set.GetOrCreateGauge(id, nil)
		p.series[id] = g
	}
	p.mu.Unlock()
	g.Set(v)
}

// word makes part of a metric name of any text.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// label makes a label value of any text: nothing in it can end the value.
func label(s string) string {
	if len(s) > 200 {
		s = s[:200]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' || r == '{' || r == '}' || r == 0xFFFD {
			return '_'
		}
		return r
	}, s)
}
