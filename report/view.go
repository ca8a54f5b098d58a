package report

import (
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/analyst/narrative"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/chart"
	"github.com/inferencebench/inferencebench/report/quantity"
)

// page is what the template sees.
type page struct {
	CSS        template.CSS
	JS         template.JS
	Title      string
	Home       string
	Downloads  []Link
	Run        archive.Manifest
	When       string
	Length     string
	A          *archive.Analysis
	Alerts     []alert
	Gates      []archive.Gate
	Keys       []key
	Block      []blockRow
	BlockNotes []string // how totals and rates are counted
	Latencies  []latencyRow
	Radar      template.HTML
	Timeline   []template.HTML
	Dists      []distribution
	Sweep      []template.HTML
	Findings   []findingView
	Prose      []narrative.Claim // in English; every claim passed the check
	ProseZH    []narrative.Claim
	Scopes     []scopeView
	Failures   []*failures
	Items      []item
	ItemsN     int
	ItemsCut   int
	Events     []eventView
	EventsCut  int
	Sampled    int
	Config     string
	Skipped    []string
	SkippedN   int
	Notes      []archive.Annotation
	Terms      []definition
	Charts     bool
}

// alert is a line above the verdict.
type alert struct{ Kind, Title, Text string }

// key is one of the three numbers at the top.
type key struct {
	Label, Number, Unit, Sub string
	Class                    string
}

type blockRow struct{ Label, Value, Interval, Note string }

type latencyRow struct {
	Label, Hint string
	N           int
	Cells       []cell
}

// cell is one estimate, ready to print.
type cell struct {
	Value, Interval, Reason string
	Sample                  string // indicative value of a withheld number
}

type findingView struct {
	archive.Finding
	For, Against []archive.Evidence
	Recs         []archive.Recommendation
	Width        int // of the score bar, percent
}

type scopeView struct {
	Name string
	Rows []latencyRow
}

type eventView struct {
	At string
	archive.Event
}

func plain(v float64, unit string) string { return quantity.Format(v, unit) }

// cellOf prints an estimate with its interval or its reason.
func cellOf(e archive.Estimate, unit string) cell {
	v, ok := e.Value.Get()
	if !ok {
		c := cell{Reason: e.Reason}
		if x, ok := e.Sample.Get(); ok {
			c.Sample = plain(x, unit)
		}
		return c
	}
	c := cell{Value: plain(v, unit), Reason: e.Reason}
	lo, ok1 := e.Low.Get()
	hi, ok2 := e.High.Get()
	if ok1 && ok2 {
		c.Interval = quantity.Range(lo, hi, unit)
	}
	return c
}

// build makes the page's data from one pass over the run.
func build(run *archive.Run, a *archive.Analysis) (*page, error) {
	s, err := read(run, a)
	if err != nil {
		return nil, err
	}
	m := run.Manifest
	p := &page{
		Title: titleOf(m), Run: m, A: a, Gates: sortedGates(a),
		When: when(m), Length: chart.Clock(math.Max(0, s.end)),
		Alerts: alerts(run, a), Keys: keys(a), Block: blockRows(a), BlockNotes: []string{rateNote, cacheNote}, Latencies: latencyRows(a),
		Radar: radar(a), Timeline: s.timeline(m.Host), Dists: s.distributions(a), Sweep: sweep(a), Findings: findingViews(a), Prose: prose(a, narrative.English), ProseZH: prose(a, narrative.Chinese), Scopes: scopes(a),
		Failures: s.failures, Items: s.items, ItemsN: s.itemsN, ItemsCut: s.itemsN - len(s.items),
		Config: configText(m.Config), Skipped: s.skipped, SkippedN: s.skippedN, Notes: annotations(m, a), Terms: terms(),
		Charts: s.seen > 0, EventsCut: s.eventsN - len(s.events),
	}
	if s.seen > len(s.points) {
		p.Sampled = len(s.points)
	}
	for _, e := range s.events {
		p.Events = append(p.Events, eventView{chart.Clock(s.sec(e.T)), e})
	}
	return p, nil
}

// when is the wall-clock start of a run, or that it is not known.
func when(m archive.Manifest) string {
	if m.Epoch.IsZero() {
		return "at an unknown time"
	}
	return m.Epoch.Add(time.Duration(m.Started)).UTC().Format("2 January 2006, 15:04 UTC")
}

func titleOf(m archive.Manifest) string {
	if n := OneLine(m.Name); n != "" {
		return n
	}
	return m.ID
}

func alerts(run *archive.Run, a *archive.Analysis) []alert {
	var out []alert
	if a.Simulated {
		out = append(out, alert{"sim", "Simulation", "The server is the built-in simulated engine. Its numbers say nothing about real hardware."})
	}
	switch a.State {
	case archive.StateInterrupted:
		why := run.Manifest.Reason
		if why == "" {
			why = "The run did not come to its end."
		}
		out = append(out, alert{"warn", "Interrupted", sentence(why) + " The figures cover what was recorded until then."})
	case archive.StateRunning:
		out = append(out, alert{"warn", "Still running", "The figures cover what was recorded so far."})
	case archive.StateComplete:
	}
	for _, g := range failedGates(a) {
		out = append(out, alert{"bad", "Check failed: " + g.ID, g.Message + " Observed " + g.Observed + ", limit " + g.Limit + "."})
	}
	for _, n := range run.Problems {
		out = append(out, alert{"warn", "Damaged record", n.Message})
	}
	return out
}

func blockRows(a *archive.Analysis) []blockRow {
	rows := countLines(a)
	for _, r := range []struct{ id, label string }{
		{"duration", "Benchmark duration"}, {"input_tokens", "Total input tokens"}, {"output_tokens", "Total output tokens"},
		{"request_rate", "Request throughput"}, {"output_rate", "Output token throughput"}, {"total_rate", "Total token throughput"}, {"goodput", "Goodput"},
	} {
		m, ok := metricOf(a, "all", r.id)
		if !ok {
			continue
		}
		cl := cellOf(stat1(m, "value"), m.Unit)
		if cl.Value != "" {
			cl.Reason = "" // why there is no interval is in the table of all metrics
		}
		rows = append(rows, blockRow{r.label, cl.Value, cl.Interval, cl.Reason})
	}
	return rows
}

var tableStats = []string{"mean", "p50", "p90", "p95", "p99", "max"}

// latencyRows are the metrics that people ask for first, over the whole run.
func latencyRows(a *archive.Analysis) []latencyRow {
	var out []latencyRow
	gap, _ := gapMetric(a)
	for _, id := range []string{"ttft", "tpot", "", "e2e", "output_speed", "send_lag"} {
		m, ok := gap, gap != nil
		if id != "" {
			m, ok = metricOf(a, "all", id)
		}
		if !ok {
			continue
		}
		if _, single := m.Stats["value"]; single {
			continue
		}
		out = append(out, distributionRow(m))
	}
	return out
}

// distributionRow is a metric as a row: one cell for a single number or for no value at
// all, else one for each statistic.
func distributionRow(m *archive.Metric) latencyRow {
	r := latencyRow{Label: m.Label, Hint: m.ID, N: m.N}
	if e, single := m.Stats["value"]; single {
		r.Cells = []cell{cellOf(e, m.Unit)}
		return r
	}
	known := false
	for _, st := range tableStats {
		e := stat1(m, st)
		known = known || e.Value.Known() || e.Sample.Known()
		r.Cells = append(r.Cells, cellOf(e, m.Unit))
	}
	if !known {
		r.Cells = []cell{{Reason: "no values"}}
	}
	return r
}

// scopes lists every metric by scope, the parts of the run after the whole.
func scopes(a *archive.Analysis) []scopeView {
	var out []scopeView
	for i := range a.Metrics {
		m := &a.Metrics[i]
		k := slices.IndexFunc(out, func(s scopeView) bool { return s.Name == m.Scope })
		if k < 0 {
			out = append(out, scopeView{Name: m.Scope})
			k = len(out) - 1
		}
		out[k].Rows = append(out[k].Rows, distributionRow(m))
	}
	return out
}

func radar(a *archive.Analysis) template.HTML {
	var spokes []chart.Spoke
	known := 0
	v := make([]float64, len(a.Radar))
	for i, x := range a.Radar {
		spokes = append(spokes, chart.Spoke{Name: x.Name, Title: joinNonEmpty(" ", x.Scale, x.Reason)})
		v[i] = math.NaN()
		if f, ok := x.Value.Get(); ok {
			v[i] = math.Max(0, math.Min(1, f))
			known++
		}
	}
	if len(spokes) < 3 || known == 0 {
		return "" // the page says what is unknown, and why, in words
	}
	return chart.Radar("radar", spokes, []chart.Shape{{Name: "this run", Color: 1, Values: v}})
}

func findingViews(a *archive.Analysis) []findingView {
	ev := map[string]archive.Evidence{}
	for _, e := range a.Evidence {
		ev[e.ID] = e
	}
	cite := func(ids []string) (out []archive.Evidence) {
		for _, id := range ids {
			e, ok := ev[id]
			if !ok {
				e = archive.Evidence{ID: id, Text: "This evidence is not in the analysis."}
			}
			out = append(out, e)
		}
		return out
	}
	var out []findingView
	for _, f := range a.Findings {
		v := findingView{Finding: f, For: cite(f.For), Against: cite(f.Against), Width: int(math.Round(100 * math.Max(0, math.Min(1, f.Score))))}
		for _, r := range a.Recommendations {
			if r.Finding == f.ID {
				v.Recs = append(v.Recs, r)
			}
		}
		out = append(out, v)
	}
	return out
}

// prose tells the analysis in words and leaves out any claim that the check refuses.
func prose(a *archive.Analysis, lang narrative.Language) []narrative.Claim {
	claims := narrative.Write(a, lang)
	bad := map[int]bool{}
	for _, p := range narrative.Verify(claims, a) {
		bad[p.Claim] = true
	}
	var out []narrative.Claim
	for i, c := range claims {
		if !bad[i] {
			out = append(out, c)
		}
	}
	return out
}

// annotations are everything that makes a number doubtful, from set-up to metric.
func annotations(m archive.Manifest, a *archive.Analysis) []archive.Annotation {
	out := slices.Concat(a.Annotations, m.Notes)
	for _, x := range a.Metrics {
		for _, n := range x.Annotations {
			n.Message = x.Label + " (" + x.Scope + "): " + n.Message
			out = append(out, n)
		}
	}
	for _, q := range a.Quality {
		for _, n := range q.Notes {
			n.Message = strings.TrimSpace(q.Kind + ": " + n.Message)
			out = append(out, n)
		}
	}
	return out
}
