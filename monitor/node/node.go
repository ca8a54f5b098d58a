// Package node reads another machine's host telemetry from the page of a node exporter:
// what the server's machine does when it is not this one. The names of values are those of
// this machine's; see package monitor.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/expo"
)

// Source reads one page. It is used by one goroutine at a time.
type Source struct {
	client *http.Client
	url    string
	header http.Header
	last   times
}

// times is processor time by what it was spent on, over all cores, in seconds.
type times struct{ total, idle, iowait, steal float64 }

// New reads the page at url.
func New(client *http.Client, url string, header http.Header) *Source {
	return &Source{client: client, url: url, header: header}
}

// Kind is archive.SourceHost.
func (s *Source) Kind() string { return archive.SourceHost }

// Target is the page's address without credentials.
func (s *Source) Target() string { return engines.Redact(s.url) }

// Read takes one reading. Shares of time are absent from the first.
func (s *Source) Read(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, errors.New("the node exporter's address is not a URL")
	}
	if s.header != nil {
		req.Header = s.header.Clone()
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // the outer text repeats the address
		}
		return nil, fmt.Errorf("read node exporter: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read node exporter: status %d", resp.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, expo.MaxPage+1))
	if err != nil {
		return nil, fmt.Errorf("read node exporter: %w", err)
	}
	return s.page(expo.Parse(b))
}

func (s *Source) page(p *expo.Page) (map[string]float64, error) {
	v := map[string]float64{}
	for name, series := range map[string]string{
		"load1": "node_load1", "memory_available_bytes": "node_memory_MemAvailable_bytes", "context_switches_total": "node_context_switches_total",
		"major_faults_total": "node_vmstat_pgmajfault", "oom_kills_total": "node_vmstat_oom_kill",
		"pressure_cpu_seconds_total": "node_pressure_cpu_waiting_seconds_total", "pressure_memory_seconds_total": "node_pressure_memory_waiting_seconds_total",
		"pressure_io_seconds_total": "node_pressure_io_waiting_seconds_total", "tcp_retransmits_total": "node_netstat_Tcp_RetransSegs",
		"net_rx_bytes_total": "node_network_receive_bytes_total", "net_tx_bytes_total": "node_network_transmit_bytes_total",
		"cpu_energy_joules_total": "node_rapl_package_joules_total", "runqueue_wait_seconds_total": "node_schedstat_waiting_seconds_total",
		"throttled_cores_total": "node_cpu_core_throttles_total",
	} {
		if x, ok := sum(p, series); ok {
			v[name] = x
		}
	}
	if total, ok := sum(p, "node_memory_MemTotal_bytes"); ok {
		if free, ok := v["memory_available_bytes"]; ok && total >= free {
			v["memory_used_bytes"] = total - free
		}
	}
	s.shares(p, v)
	if len(v) == 0 {
		return nil, errors.New("the page has no series of a node exporter")
	}
	return v, nil
}

func (s *Source) shares(p *expo.Page, v map[string]float64) {
	var now times
	for _, m := range p.Get("node_cpu_seconds_total") {
		now.total += m.Value
		switch mode, _ := m.Label("mode"); mode {
		case "idle":
			now.idle += m.Value
		case "iowait":
			now.iowait += m.Value
		case "steal":
			now.steal += m.Value
		}
	}
	if d := now.total - s.last.total; s.last.total > 0 && d > 0 {
		percent := func(x float64) float64 { return min(100, max(0, 100*x/d)) }
		v["cpu_percent"] = percent(d - (now.idle + now.iowait - s.last.idle - s.last.iowait))
		v["iowait_percent"] = percent(now.iowait - s.last.iowait)
		v["steal_percent"] = percent(now.steal - s.last.steal)
	}
	s.last = now
}

// sum adds a series up over cores, devices and packages.
func sum(p *expo.Page, name string) (x float64, ok bool) {
	for _, m := range p.Get(name) {
		if m.Value >= 0 { // NaN is not
			x += m.Value
			ok = true
		}
	}
	return x, ok && x < 1e300
}
