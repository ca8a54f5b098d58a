package report

import (
	"html/template"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/chart"
)

// plotted are the signals that the timeline shows, by source.
var plotted = map[string][]string{
	archive.SourceEngine: {"requests_running", "requests_waiting", "kv_cache_usage", "preemptions_total"},
	archive.SourceGPU:    {"util_percent", "memory_used_bytes", "memory_total_bytes", "power_watts", "power_limit_watts", "sm_clock_mhz", "sm_clock_max_mhz"},
	archive.SourceHost:   {"cpu_percent", "steal_percent"},
	archive.SourceClient: {"cpu_cores", "in_flight"},
}

// columns is how many points a line of the timeline has at most.
const columns = 360

const group = "time"

// timeline returns the stacked charts of all layers on one time axis.
func (s *scan) timeline(host archive.Host) []template.HTML {
	plots := []*chart.Plot{
		s.latencyPlot(), s.tokenPlot(), s.requestPlot(), s.systemPlot(), s.kvPlot(), s.preemptionPlot(), s.gpuPlot(), s.cpuPlot(host), s.lagPlot(),
	}
	var out []template.HTML
	for i, p := range plots {
		if p == nil {
			continue
		}
		p.Group, p.XUnit, p.X, p.Compact = group, "time", chart.Span{Lo: -0.008 * max(s.end, 1), Hi: 1.004 * max(s.end, 1)}, true
		p.Regions, p.Marks = s.regions(i == 0), s.marks(i == 0)
		out = append(out, p.HTML())
	}
	return out
}

// regions are the phases, with their warm-up muted.
func (s *scan) regions(labelled bool) []chart.Region {
	var out []chart.Region
	open := -1
	for _, e := range s.events {
		t := s.sec(e.T)
		switch e.Kind {
		case archive.EventPhaseStart:
			name, _ := e.Fields["phase"].(string)
			if !labelled {
				name = ""
			}
			out = append(out, chart.Region{From: t, To: s.end, Label: name})
			open = len(out) - 1
		case archive.EventMeasureStart:
			if open >= 0 && t > out[open].From {
				warm := chart.Region{From: out[open].From, To: t, Muted: true}
				if labelled {
					warm.Label = "warm-up"
				}
				out[open].From = t
				out = slices.Insert(out, open, warm)
				open++
			}
		case archive.EventPhaseEnd:
			if open >= 0 {
				out[open].To = t
			}
		}
	}
	return out
}

// marks are the events that are worth a line.
func (s *scan) marks(labelled bool) []chart.Mark {
	var out []chart.Mark
	for _, e := range s.events {
		if e.Severity == archive.SeverityInfo || e.Severity == "" || len(out) == 60 {
			continue
		}
		m := chart.Mark{X: s.sec(e.T), Title: tidy(OneLine(e.Message)), Kind: string(e.Severity)}
		if m.Kind != "error" {
			m.Kind = "warning"
		}
		if labelled {
			m.Label = e.Kind
		}
		out = append(out, m)
	}
	return out
}

// dotsLimit is how many dots of one kind a chart draws.
const dotsLimit = 1500

func (s *scan) latencyPlot() *chart.Plot {
	pick := func(keep func(point) bool, val func(point) float64) (x, y []float64) {
		n := 0
		for _, p := range s.points {
			if keep(p) {
				n++
			}
		}
		stride, i := max(1, (n+dotsLimit-1)/dotsLimit), 0
		for _, p := range s.points {
			if keep(p) {
				if i%stride == 0 {
					x, y = append(x, p.at), append(y, val(p))
				}
				i++
			}
		}
		return x, y
	}
	ok := func(p point) bool { return p.status == archive.StatusOK }
	ttft := func(p point) float64 { return p.ttft }
	e2e := func(p point) float64 { return p.e2e }
	tx, ty := pick(ok, ttft)
	ex, ey := pick(ok, e2e)
	fx, fy := pick(func(p point) bool { return p.status == archive.StatusFailed }, e2e)
	p := &chart.Plot{
		ID: "t-latency", Title: "Latency", YUnit: "ms", Height: 260, YLog: true,
		Empty: "No request has a latency.",
		Series: []chart.Series{
			{Name: "E2E", Mode: chart.Dots, Color: 2, X: ex, Y: ey},
			{Name: "TTFT", Mode: chart.Dots, Color: 1, X: tx, Y: ty},
		},
	}
	for _, l := range []struct {
		name  string
		val   func(point) float64
		color int
	}{{"E2E median", e2e, 2}, {"TTFT median", ttft, 1}} {
		if x, y := s.rolling(l.val, 0.5); len(x) > 1 {
			p.Series = append(p.Series, chart.Series{Name: l.name, Mode: chart.Line, Color: l.color, X: x, Y: y})
		}
	}
	if len(ey) > 0 {
		top, bottom := 0.0, math.Inf(1)
		for _, v := range slices.Concat(ty, ey, fy) {
			if v > 0 {
				bottom, top = math.Min(bottom, v), math.Max(top, v)
			}
		}
		if top > 0 && bottom <= top {
			p.Y = chart.Span{Lo: bottom / 1.3, Hi: top * math.Pow(math.Max(top/bottom, 10), 0.12)} // room for the labels
		}
	}
	if len(fx) > 0 {
		p.Series = append(p.Series, chart.Series{Name: "failed after", Mode: chart.Dots, Color: 8, X: fx, Y: fy})
	}
	return p
}

// rolling is a quantile of the good requests in each of about 40 slices of time; a slice
// with fewer than three is a gap.
func (s *scan) rolling(val func(point) float64, q float64) (x, y []float64) {
	const slicesOfTime = 40
	w := max(s.end, 1e-9) / slicesOfTime
	cells := make([][]float64, slicesOfTime)
	for _, p := range s.points {
		if v := val(p); p.status == archive.StatusOK && !math.IsNaN(v) && p.at >= 0 {
			i := min(int(p.at/w), slicesOfTime-1)
			cells[i] = append(cells[i], v)
		}
	}
	some := false
	for i, c := range cells {
		x = append(x, (float64(i)+0.5)*w)
		if len(c) < 3 {
			y = append(y, math.NaN())
			continue
		}
		some = true
		slices.Sort(c)
		y = append(y, quantile(c, q))
	}
	if !some {
		return nil, nil
	}
	return x, y
}

// quantile of sorted values, the nearest rank.
func quantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// perSecond turns counts per fine bin into rates over at most n wider bins.
func (s *scan) perSecond(bins []float64, n int) (x, y []float64) {
	total := max(1, int(math.Ceil(s.end/fineBin)))
	width := max(4, (total+n-1)/n)
	for i := 0; i < total; {
		used := width
		if total-i < width+(width+1)/2 { // a short rest joins the last bin, or its rate would be noise
			used = total - i
		}
		sum := 0.0
		for j := i; j < i+used && j < len(bins); j++ {
			sum += bins[j]
		}
		x = append(x, (float64(i)+float64(used)/2)*fineBin)
		y = append(y, sum/(float64(used)*fineBin))
		i += used
	}
	return x, y
}

func (s *scan) tokenPlot() *chart.Plot {
	p := &chart.Plot{ID: "t-tokens", Title: "Output tokens", YUnit: "tok/s", Height: 120, Empty: "No token was received."}
	if len(s.tokens) > 0 {
		x, y := s.perSecond(s.tokens, 180)
		p.Series = []chart.Series{{Name: "Output tokens", Mode: chart.Area, Color: 3, X: x, Y: y}}
	}
	return p
}

func (s *scan) requestPlot() *chart.Plot {
	p := &chart.Plot{ID: "t-requests", Title: "Requests", YUnit: "req/s", Height: 120, Empty: "No request was sent."}
	for _, l := range []struct {
		name  string
		bins  []float64
		color int
	}{{"sent", s.sent, 1}, {"succeeded", s.done, 3}, {"failed", s.failed, 8}} {
		if len(l.bins) > 0 {
			x, y := s.perSecond(l.bins, 60)
			p.Series = append(p.Series, chart.Series{Name: l.name, Mode: chart.Line, Color: l.color, X: x, Y: y})
		}
	}
	return p
}
