package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/chart"
)

// distribution is one metric's histogram above its cumulative curve.
type distribution struct {
	Title, Note string
	Histogram   template.HTML
	ECDF        template.HTML
}

// ecdfPoints is how many points a cumulative curve has.
const ecdfPoints = 160

// distributions of the measured load: requests that warmed up, were scored, failed or
// were cut off are not in them.
func (s *scan) distributions(a *archive.Analysis) []distribution {
	by := func(val func(point) float64) map[string][]float64 {
		out := map[string][]float64{}
		for _, p := range s.points {
			if v := val(p); p.kind == archive.KindLoad && p.status == archive.StatusOK && v > 0 {
				out[s.phases[p.phase]] = append(out[s.phases[p.phase]], v)
			}
		}
		return out
	}
	gapID, gapTitle, gapNote := "icl", "Inter-chunk latency", "Gaps between chunks of one stream, pooled over requests. A chunk is not a token."
	if m, ok := gapMetric(a); ok && m.ID == "itl" {
		gapID, gapTitle, gapNote = "itl", "Inter-token latency", "Gaps between tokens of one stream, pooled over requests."
	}
	return []distribution{
		s.distribution(a, "ttft", "Time to first token", "From the intended send time to the first token.", by(func(p point) float64 { return p.ttft })),
		s.distribution(a, "tpot", "Time per output token", "Each request's mean over its tokens after the first.", by(func(p point) float64 { return p.tpot })),
		s.distribution(a, gapID, gapTitle, gapNote, map[string][]float64{"": s.gaps}),
		s.distribution(a, "e2e", "End-to-end latency", "From the intended send time to the last token.", by(func(p point) float64 { return p.e2e })),
	}
}

func (s *scan) distribution(a *archive.Analysis, id, title, note string, by map[string][]float64) distribution {
	var all []float64
	var names []string
	for _, ph := range append(slices.Clone(s.phases), "") {
		if v := by[ph]; len(v) > 0 {
			slices.Sort(v)
			all = append(all, v...)
			names = append(names, ph)
		}
	}
	slices.Sort(all)
	all = all[firstPositive(all):]
	d := distribution{Title: title, Note: note}
	span, log := spanOf(all)
	hist := &chart.Plot{ID: "d-" + id + "-h", Title: title, Note: note, YUnit: "", XUnit: "ms", X: span, XLog: log, Height: 110, HideX: true, Compact: true, NoLegend: true, Group: "d-" + id, Empty: "No successful request of the measured load has one."}
	cum := &chart.Plot{ID: "d-" + id + "-c", Title: "Share at or below", YUnit: "%", XUnit: "ms", X: span, XLog: log, Y: chart.Span{Lo: 0, Hi: 100}, Height: 150, Compact: true, Group: "d-" + id, Empty: "–"}
	if len(all) > 0 {
		x, y, w := histogram(all, span, log, 48)
		hist.Series = []chart.Series{{Name: "count in the bar", Mode: chart.Bars, Color: 1, X: x, Y: y, Width: w}}
		for i, n := range names {
			if len(names) == 1 {
				n = "all"
			} else if i >= 4 {
				break
			}
			ex, ey := ecdf(by[names[i]])
			cum.Series = append(cum.Series, chart.Series{Name: n, Mode: chart.Line, Color: i + 1, X: ex, Y: ey})
		}
		cum.Marks = s.percentileMarks(a, id)
		hist.Marks = unlabelled(cum.Marks)
	}
	d.Histogram = hist.HTML()
	if len(all) > 0 {
		d.ECDF = cum.HTML()
	}
	return d
}

func firstPositive(sorted []float64) int {
	for i, v := range sorted {
		if v > 0 {
			return i
		}
	}
	return len(sorted)
}

// spanOf is the axis that holds the values: logarithmic when they spread over more than
// a factor of 8.
func spanOf(sorted []float64) (chart.Span, bool) {
	if len(sorted) == 0 {
		return chart.Span{Lo: 0, Hi: 1}, false
	}
	lo, hi := sorted[0], sorted[len(sorted)-1]
	if lo == hi {
		return chart.Span{Lo: lo * 0.9, Hi: hi * 1.1}, false
	}
	if hi/lo > 8 {
		return chart.Span{Lo: math.Max(lo, quantile(sorted, 0.001)/4) * 0.95, Hi: hi * 1.05}, true
	}
	pad := (hi - lo) * 0.03
	return chart.Span{Lo: math.Max(0, lo-pad), Hi: hi + pad}, false
}

// histogram counts values into n bins of equal width, or of equal ratio on a log axis.
func histogram(sorted []float64, span chart.Span, log bool, n int) (x, y []float64, width float64) {
	edge := func(i int) float64 { return span.Lo + (span.Hi-span.Lo)*float64(i)/float64(n) }
	width = (span.Hi - span.Lo) / float64(n)
	if log {
		width = math.Pow(span.Hi/span.Lo, 1/float64(n))
		edge = func(i int) float64 { return span.Lo * math.Pow(width, float64(i)) }
	}
	from := 0
	for i := range n {
		to, _ := slices.BinarySearch(sorted, edge(i+1))
		if i == n-1 {
			to = len(sorted)
		}
		x, y = append(x, edge(i)), append(y, float64(to-from))
		from = to
	}
	return x, y, width
}

// ecdf is the cumulative share, in percent, denser towards the tail.
func ecdf(sorted []float64) (x, y []float64) {
	n := len(sorted)
	if n == 0 {
		return nil, nil
	}
	x, y = append(x, sorted[0]), append(y, 0)
	last := -1
	add := func(i int) {
		if i = min(max(i, 0), n-1); i != last {
			x, y = append(x, sorted[i]), append(y, 100*float64(i+1)/float64(n))
			last = i
		}
	}
	for k := range ecdfPoints {
		add(int(float64(k) / ecdfPoints * 0.95 * float64(n)))
	}
	for k := range 40 {
		add(int((0.95 + 0.05*float64(k)/39) * float64(n)))
	}
	return x, y
}

// percentileMarks are the percentiles that the analysis gives.
func (s *scan) percentileMarks(a *archive.Analysis, id string) []chart.Mark {
	var out []chart.Mark
	for _, st := range []struct{ stat, label string }{{"p50", "P50"}, {"p99", "P99"}} {
		if e, unit := estimateOf(a, id, st.stat); e.Value.Known() {
			v := e.Value.Or(0)
			out = append(out, chart.Mark{X: v, Label: st.label, Title: fmt.Sprintf("%s %s", st.label, plain(v, unit))})
		}
	}
	return out
}

func unlabelled(ms []chart.Mark) []chart.Mark {
	out := slices.Clone(ms)
	for i := range out {
		out[i].Label = ""
	}
	return out
}
