package report

import (
	"math"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/chart"
)

// of returns the signals of one name from one source, one for each target.
func (s *scan) of(source, name string) []*signal {
	var out []*signal
	for _, k := range s.order {
		if g := s.series[k]; g.source == source && g.name == name {
			out = append(out, g)
		}
	}
	return out
}

// merged folds one name over all targets of a source into at most columns slices of
// time: the sum over targets of each target's mean in the slice, or their mean.
// A slice in which a target has no reading is a gap, so a lost source is not drawn over.
func (s *scan) merged(source, name string, sum bool) (x, y []float64) {
	gs := s.of(source, name)
	if len(gs) == 0 {
		return nil, nil
	}
	n := 0
	for _, g := range gs {
		n = max(n, len(g.t))
	}
	cells := max(1, min(columns, n))
	w := max(s.end, 1e-9) / float64(cells)
	total, have := make([]float64, cells), make([]int, cells)
	for _, g := range gs {
		m, c := make([]float64, cells), make([]int, cells)
		for i, t := range g.t {
			k := min(max(int(t/w), 0), cells-1)
			m[k] += g.v[i]
			c[k]++
		}
		for k := range m {
			if c[k] > 0 {
				total[k] += m[k] / float64(c[k])
				have[k]++
			}
		}
	}
	for k := range total {
		v := math.NaN()
		if have[k] == len(gs) {
			if v = total[k]; !sum {
				v /= float64(have[k])
			}
		}
		x, y = append(x, (float64(k)+0.5)*w), append(y, v)
	}
	return x, bridge(y)
}

// bridge fills single missing cells, which come from sampling and cell edges drifting
// against each other, by the mean of their neighbours; longer gaps stay.
func bridge(y []float64) []float64 {
	for i := 1; i+1 < len(y); i++ {
		if math.IsNaN(y[i]) && !math.IsNaN(y[i-1]) && !math.IsNaN(y[i+1]) {
			y[i] = (y[i-1] + y[i+1]) / 2
		}
	}
	return y
}

func scale(v []float64, f float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] * f
	}
	return out
}

// lostNote says how often a source could not be read.
func (s *scan) lostNote(source string) string {
	if n := s.lost[source]; n > 0 {
		return plural(n, "reading") + " failed; gaps are not joined."
	}
	return ""
}

const noEngine = "The server exposes no metrics that this tool could read, so this is unknown."

func (s *scan) systemPlot() *chart.Plot {
	p := &chart.Plot{ID: "t-system", Title: "Requests in the system", YUnit: "", Height: 130, Note: s.lostNote(archive.SourceEngine), Empty: "Neither client nor engine told how many requests were open."}
	for _, l := range []struct {
		source, name, label string
		color               int
		dashed              bool
	}{
		{archive.SourceEngine, "requests_running", "running (engine)", 3, false},
		{archive.SourceEngine, "requests_waiting", "waiting (engine)", 6, false},
		{archive.SourceClient, "in_flight", "open (client)", 1, true},
	} {
		if x, y := s.merged(l.source, l.name, true); len(x) > 0 {
			p.Series = append(p.Series, chart.Series{Name: l.label, Mode: chart.Line, Color: l.color, X: x, Y: y, Dashed: l.dashed})
		}
	}
	return p
}

func (s *scan) kvPlot() *chart.Plot {
	p := &chart.Plot{ID: "t-kv", Title: "KV cache in use", YUnit: "%", Height: 100, Y: chart.Span{Lo: 0, Hi: 100}, Empty: noEngine}
	if x, y := s.merged(archive.SourceEngine, "kv_cache_usage", false); len(x) > 0 {
		p.Series = []chart.Series{{Name: "KV cache in use", Mode: chart.Area, Color: 4, X: x, Y: scale(y, 100)}}
	}
	return p
}

// preemptionPlot is nil unless there was a preemption.
func (s *scan) preemptionPlot() *chart.Plot {
	x, y := s.merged(archive.SourceEngine, "preemptions_total", true)
	if len(x) < 2 {
		return nil
	}
	rate, some := make([]float64, len(y)), false
	rate[0] = math.NaN()
	for i := 1; i < len(y); i++ {
		rate[i] = math.Max(0, y[i]-y[i-1]) / (x[i] - x[i-1])
		some = some || rate[i] > 0
	}
	if !some {
		return nil
	}
	return &chart.Plot{ID: "t-preempt", Title: "Preemptions", YUnit: "1/s", Height: 80, Series: []chart.Series{{Name: "Preemptions", Mode: chart.Area, Color: 8, X: x, Y: rate}}}
}

func (s *scan) gpuPlot() *chart.Plot {
	p := &chart.Plot{ID: "t-gpu", Title: "GPU", YUnit: "%", Height: 130, Note: s.lostNote(archive.SourceGPU), Empty: "No GPU was visible from where the load ran, so this is unknown."}
	util := s.of(archive.SourceGPU, "util_percent")
	if len(util) > 1 {
		p.Title = "GPUs, mean of " + itoa(len(util))
	}
	if x, y := s.merged(archive.SourceGPU, "util_percent", false); len(x) > 0 {
		p.Series = append(p.Series, chart.Series{Name: "busy", Mode: chart.Line, Color: 3, X: x, Y: y})
	}
	for _, l := range []struct {
		part, whole, label string
		color              int
	}{
		{"power_watts", "power_limit_watts", "power, of limit", 6},
		{"sm_clock_mhz", "sm_clock_max_mhz", "SM clock, of maximum", 1},
		{"memory_used_bytes", "memory_total_bytes", "memory", 4},
	} {
		x, y := s.merged(archive.SourceGPU, l.part, true)
		_, whole := s.merged(archive.SourceGPU, l.whole, true)
		if len(x) == 0 || len(whole) != len(y) {
			continue
		}
		share := make([]float64, len(y))
		for i := range y {
			share[i] = math.NaN()
			if whole[i] > 0 {
				share[i] = 100 * y[i] / whole[i]
			}
		}
		p.Series = append(p.Series, chart.Series{Name: l.label, Mode: chart.Line, Color: l.color, X: x, Y: share, Dashed: l.part == "memory_used_bytes"})
	}
	return p
}

func (s *scan) cpuPlot(host archive.Host) *chart.Plot {
	p := &chart.Plot{ID: "t-cpu", Title: "CPU of the load machine", YUnit: "%", Height: 100, Note: s.lostNote(archive.SourceHost), Empty: "The load machine's CPU was not sampled."}
	if x, y := s.merged(archive.SourceHost, "cpu_percent", false); len(x) > 0 {
		p.Series = append(p.Series, chart.Series{Name: "whole machine", Mode: chart.Line, Color: 2, X: x, Y: y})
	}
	if x, y := s.merged(archive.SourceClient, "cpu_cores", true); len(x) > 0 && host.Cores > 0 {
		p.Series = append(p.Series, chart.Series{Name: "this client", Mode: chart.Line, Color: 1, X: x, Y: scale(y, 100/float64(host.Cores))})
	}
	if x, y := s.merged(archive.SourceHost, "steal_percent", false); len(x) > 0 && anyAbove(y, 0.5) {
		p.Series = append(p.Series, chart.Series{Name: "stolen by the hypervisor", Mode: chart.Line, Color: 8, X: x, Y: y})
	}
	return p
}

func anyAbove(v []float64, limit float64) bool {
	for _, x := range v {
		if x > limit {
			return true
		}
	}
	return false
}

// lagPlot shows how late the client sent: its own health.
func (s *scan) lagPlot() *chart.Plot {
	const cells = 120
	w := max(s.end, 1e-9) / cells
	worst := make([]float64, cells)
	for i := range worst {
		worst[i] = math.NaN()
	}
	for _, p := range s.points {
		if math.IsNaN(p.lag) || p.at < 0 {
			continue
		}
		if k := min(int(p.at/w), cells-1); !(worst[k] > p.lag) {
			worst[k] = p.lag
		}
	}
	var x, y []float64
	for k, v := range worst {
		if !math.IsNaN(v) {
			x, y = append(x, (float64(k)+0.5)*w), append(y, v)
		}
	}
	return &chart.Plot{ID: "t-lag", Title: "Client send lag, worst", YUnit: "ms", Height: 90, Empty: "No request was sent.", Series: []chart.Series{{Name: "Client send lag, worst", Mode: chart.Line, Color: 1, X: x, Y: y}}}
}
