package report

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/chart"
	"github.com/inferencebench/inferencebench/report/quantity"
)

// Compared is one run of a comparison.
type Compared struct {
	Run      *archive.Run
	Analysis *archive.Analysis
}

// maxCompared is how many runs one comparison shows: as many as there are colours.
const maxCompared = 6

// Difference is one tested difference between a run and the first one.
type Difference struct {
	Metric string // the metric's id
	Stat   string // the statistic, such as "p99"
	Run    int    // index of the run, from 1
	// Text says how large the difference is, with its interval, and how it was tested.
	Text string
	// Verdict is "better", "worse", "same" or "undecided".
	Verdict string
	// Method says how it was tested.
	Method string
}

type comparePage struct {
	CSS   template.CSS
	JS    template.JS
	Title string
	Home  string
	Runs  []compareRun
	Radar template.HTML
	Axes  []changed
	// Verdicts say what changed, one for each run after the first.
	Verdicts []compareVerdict
	Rows     []compareRow
	Curve    []template.HTML
	What     []changed
	Same     int
	Notes    []string
}

type compareRun struct {
	Color       int
	Label, When string
	Link        string
	A           *archive.Analysis
	M           archive.Manifest
}

type compareRow struct {
	Label, Hint, Stat string
	id                string // of the statistic, such as "p50"
	First             bool   // of its metric
	Cells             []compareCell
}

type compareCell struct {
	cell
	Change  string // against the first run, such as "+12%"
	Better  string // "better", "worse" or ""
	Tested  string
	Verdict string
	Method  string
}

// changed is one setting that is not the same in all runs.
type changed struct {
	Name   string
	Values []string
}

// CompareHTML writes one page that shows runs side by side: verdicts, radar, every
// metric with its interval, cumulative latency curves, and which settings differ. The
// first run is the reference. differences are the tested differences, where there are
// any; a change without a test is shown as plain arithmetic and said to be untested.
// linkOf returns where a run's own report is, or "".
func CompareHTML(w io.Writer, runs []Compared, differences []Difference, o PageOptions) error {
	if len(runs) < 2 {
		return errors.New("compare: two runs or more are needed")
	}
	if len(runs) > maxCompared {
		return fmt.Errorf("compare: %d runs are too many for one page: choose up to %d", len(runs), maxCompared)
	}
	p := &comparePage{CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Home: o.Home} //nolint:gosec // our own files
	names := make([]string, len(runs))
	for i, r := range runs {
		m := r.Run.Manifest
		names[i] = titleOf(m)
		p.Runs = append(p.Runs, compareRun{Color: i + 1, Label: names[i], When: when(m), A: r.Analysis, M: m})
		if o.Link != nil {
			p.Runs[i].Link = o.Link(r.Run)
		}
	}
	for i := range names { // equal names get their id
		if slices.Index(names, names[i]) != i || slices.Contains(names[i+1:], names[i]) {
			p.Runs[i].Label = names[i] + " " + shortID(runs[i].Run.Manifest.ID)
		}
	}
	p.Title = "Comparison of " + strings.Join(names, ", ")
	p.Radar, p.Axes = radarOf(p.Runs), axesOf(runs)
	p.Rows = compareRows(runs, differences)
	p.Verdicts = compareVerdicts(runs, p.Runs, p.Rows, differences)
	p.What, p.Same = changes(runs)
	p.Notes = compareNotes(runs, differences)
	curves, err := curves(p.Runs, runs)
	if err != nil {
		return err
	}
	p.Curve = curves
	return execute(w, "compare.gohtml", p)
}

func shortID(id string) string { return id[max(0, len(id)-8):] }

func radarOf(runs []compareRun) template.HTML {
	var spokes []chart.Spoke
	for _, x := range runs[0].A.Radar {
		spokes = append(spokes, chart.Spoke{Name: x.Name, Title: x.Scale})
	}
	if len(spokes) < 3 {
		return ""
	}
	var shapes []chart.Shape
	for _, r := range runs {
		v := make([]float64, len(spokes))
		for i, s := range spokes {
			v[i] = math.NaN()
			for _, x := range r.A.Radar {
				if f, ok := x.Value.Get(); ok && x.Name == s.Name {
					v[i] = math.Max(0, math.Min(1, f))
				}
			}
		}
		shapes = append(shapes, chart.Shape{Name: r.Label, Color: r.Color, Values: v})
	}
	return chart.Radar("radar", spokes, shapes)
}

// axesOf is the radar as numbers.
func axesOf(runs []Compared) []changed {
	var out []changed
	for i, x := range runs[0].Analysis.Radar {
		c := changed{Name: x.Name}
		for _, r := range runs {
			v := "–"
			if i < len(r.Analysis.Radar) {
				if y := r.Analysis.Radar[i]; y.Value.Known() {
					v = quantity.Fixed(y.Value.Or(0), 2)
				} else if y.Reason != "" {
					v = "unknown: " + y.Reason
				}
			}
			c.Values = append(c.Values, v)
		}
		out = append(out, c)
	}
	return out
}

// lowerIsBetter tells the direction of the metrics that have one.
var lowerIsBetter = map[string]bool{
	"ttft": true, "ttft_service": true, "ttfo": true, "tpot": true, "itl": true, "icl": true, "e2e": true, "e2e_service": true,
	"norm_latency": true, "error_rate": true, "queue": true, "request_rate": false, "output_rate": false, "total_rate": false,
	"input_rate": false, "goodput": false, "attainment": false, "output_speed": false,
}

// comparedMetrics are the rows of the table, in order.
var comparedMetrics = []struct {
	id    string
	stats []string
}{
	{"request_rate", []string{"value"}}, {"output_rate", []string{"value"}}, {"total_rate", []string{"value"}}, {"goodput", []string{"value"}}, {"attainment", []string{"value"}}, {"error_rate", []string{"value"}},
	{"ttft", []string{"mean", "p50", "p95", "p99"}}, {"tpot", []string{"mean", "p50", "p95", "p99"}}, {"itl", []string{"p50", "p99"}}, {"icl", []string{"p50", "p99"}},
	{"e2e", []string{"mean", "p50", "p95", "p99"}}, {"output_speed", []string{"p50"}}, {"prompt_length", []string{"mean"}}, {"output_length", []string{"mean"}},
}

func compareRows(runs []Compared, differences []Difference) []compareRow {
	var out []compareRow
	for _, cm := range comparedMetrics {
		for k, st := range cm.stats {
			row := compareRow{Hint: cm.id, Stat: statName(st), id: st, First: k == 0}
			some := false
			var ref archive.Estimate
			for i, r := range runs {
				m, ok := metricOf(r.Analysis, "all", cm.id)
				if !ok {
					row.Cells = append(row.Cells, compareCell{cell: cell{Reason: "not computed"}})
					continue
				}
				row.Label = m.Label
				e := stat1(m, st)
				c := compareCell{cell: cellOf(e, m.Unit)}
				some = some || e.Value.Known()
				if i == 0 {
					ref = e
				} else {
					c.change(cm.id, ref, e)
				}
				for _, d := range differences {
					if d.Metric == cm.id && d.Stat == st && d.Run == i {
						c.Verdict = d.Verdict
						c.Tested, c.Method = changeAndNote(d)
					}
				}
				row.Cells = append(row.Cells, c)
			}
			if some {
				out = append(out, row)
			}
		}
	}
	return append(out, qualityRows(runs)...)
}

func statName(st string) string {
	switch st {
	case "value":
		return ""
	case "p50":
		return "median"
	}
	return strings.ToUpper(st[:1]) + st[1:]
}

// change is the plain arithmetic difference to the reference. It is called better or
// worse only where both intervals are known and lie apart.
func (c *compareCell) change(id string, ref, v archive.Estimate) {
	a, ok1 := ref.Value.Get()
	b, ok2 := v.Value.Get()
	if !ok1 || !ok2 || a == 0 {
		return
	}
	pct := 100 * (b - a) / math.Abs(a)
	switch {
	case b/a >= 3:
		c.Change = "×" + quantity.Digits(b/a, 3)
	case math.Abs(pct) >= 10:
		c.Change = fmt.Sprintf("%+.0f%%", pct)
	case math.Abs(pct) < 0.05:
		c.Change = "0.0%"
	default:
		c.Change = fmt.Sprintf("%+.1f%%", pct)
	}
	c.Change = strings.ReplaceAll(c.Change, "-", "−")
	lower, directed := lowerIsBetter[id]
	if !directed || !apart(ref, v) {
		return
	}
	c.Better = "worse"
	if (pct < 0) == lower {
		c.Better = "better"
	}
}

// apart reports whether the intervals of two estimates are known and do not overlap.
func apart(a, b archive.Estimate) bool {
	alo, ok1 := a.Low.Get()
	ahi, ok2 := a.High.Get()
	blo, ok3 := b.Low.Get()
	bhi, ok4 := b.High.Get()
	return ok1 && ok2 && ok3 && ok4 && (ahi < blo || bhi < alo)
}

func qualityRows(runs []Compared) []compareRow {
	var kinds []string
	for _, r := range runs {
		for _, q := range r.Analysis.Quality {
			if !slices.Contains(kinds, q.Kind) {
				kinds = append(kinds, q.Kind)
			}
		}
	}
	var out []compareRow
	for _, k := range kinds {
		row := compareRow{Label: "Quality", Hint: k, First: true}
		for _, r := range runs {
			c := compareCell{cell: cell{Reason: "not measured"}}
			for _, q := range r.Analysis.Quality {
				if q.Kind == k {
					c.cell = percent(q.Accuracy)
				}
			}
			row.Cells = append(row.Cells, c)
		}
		out = append(out, row)
	}
	return out
}

func compareNotes(runs []Compared, differences []Difference) []string {
	var out []string
	for _, r := range runs {
		n := titleOf(r.Run.Manifest)
		if r.Analysis.State != archive.StateComplete {
			out = append(out, n+" is "+string(r.Analysis.State)+": its figures cover a part of the campaign.")
		}
		if r.Analysis.Verdict.State == archive.VerdictInvalid {
			out = append(out, n+" is not valid: "+r.Analysis.Verdict.Headline)
		}
		if r.Analysis.Simulated != runs[0].Analysis.Simulated {
			out = append(out, "A simulation is compared with a real server.")
		}
		if r.Analysis.Definitions != runs[0].Analysis.Definitions {
			out = append(out, n+" was computed by other definitions ("+r.Analysis.Definitions+"): analyze it again.")
		}
	}
	first := runs[0].Run.Manifest.WorkloadSHA256
	same := first != ""
	for _, r := range runs {
		same = same && r.Run.Manifest.WorkloadSHA256 == first
	}
	if !same {
		out = append(out, "The runs do not replay one frozen workload, so differences of the traffic are in the figures too.")
	}
	for _, d := range differences {
		if _, how := changeAndNote(d); how != "" {
			out = append(out, "Changes have their 95 % interval in brackets, by "+how+". They tell these runs apart; whether a change of the server does it takes repeats.")
			break
		}
	}
	if len(differences) == 0 {
		out = append(out, "The changes below are plain arithmetic between single runs and were not tested: runs differ by themselves.")
	}
	return out
}

// curves overlays the cumulative latency curves of the runs.
func curves(views []compareRun, runs []Compared) ([]template.HTML, error) {
	plots := []*chart.Plot{
		{ID: "c-ttft", Title: "Time to first token, share at or below", Empty: "No run has one."},
		{ID: "c-tpot", Title: "Time per output token, share at or below", Empty: "No run has one."},
		{ID: "c-e2e", Title: "End-to-end latency, share at or below", Empty: "No run has one."},
	}
	spans := make([][]float64, len(plots))
	for i, r := range runs {
		s, err := read(r.Run, r.Analysis)
		if err != nil {
			return nil, err
		}
		for k, val := range []func(point) float64{
			func(p point) float64 { return p.ttft }, func(p point) float64 { return p.tpot }, func(p point) float64 { return p.e2e },
		} {
			var v []float64
			for _, p := range s.points {
				if x := val(p); p.kind == archive.KindLoad && p.status == archive.StatusOK && x > 0 {
					v = append(v, x)
				}
			}
			if len(v) == 0 {
				continue
			}
			slices.Sort(v)
			spans[k] = append(spans[k], v[0], v[len(v)-1])
			x, y := ecdf(v)
			plots[k].Series = append(plots[k].Series, chart.Series{Name: views[i].Label, Mode: chart.Line, Color: views[i].Color, X: x, Y: y})
		}
	}
	var out []template.HTML
	for k, p := range plots {
		slices.Sort(spans[k])
		p.X, p.XLog = spanOf(spans[k])
		p.XUnit, p.YUnit, p.Y, p.Height = "ms", "%", chart.Span{Lo: 0, Hi: 100}, 190
		out = append(out, p.HTML())
	}
	return out, nil
}
