package analyst

import (
	"errors"
	"fmt"
	"iter"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/roofline"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/archive"
)

// analysisSchema is the version of the format of analysis.json.
const analysisSchema = 1

// Options says what to judge a run by.
type Options struct {
	// SLO are objectives such as "ttft_p99<500ms" or "tpot<50ms", in the notation of
	// package slo.
	SLO []string

	// Device names the accelerator of the server, such as "h100_sxm", where the manifest
	// does not; Model is the shape of its model where its name is not enough. TP is the
	// number of devices that share a layer; 0 takes what the server tells, else 1.
	Device string
	Model  *roofline.Model
	TP     int
	// USDHour is what the deployment costs in US dollars an hour; 0 is unknown.
	USDHour float64
	// GramsKWh is how many grams of CO2 equivalent a kilowatt-hour stands for; 0 reports none.
	GramsKWh float64
}

// Input is the records of one run, wherever they come from. An iterator that is nil has
// no records; each is read once.
type Input struct {
	Manifest    archive.Manifest
	Problems    []archive.Annotation
	Requests    iter.Seq2[*archive.Request, error]
	Samples     iter.Seq2[*archive.Sample, error]
	Events      iter.Seq2[*archive.Event, error]
	Checkpoints iter.Seq2[*archive.Checkpoint, error]
}

// Analyze computes the analysis of a run directory. The same directory gives the same
// analysis. Lines that cannot be read are skipped and annotated; the error is one of
// reading the files. Safe for concurrent use.
func Analyze(run *archive.Run, opts Options) (*archive.Analysis, error) {
	a, err := FromRecords(Input{
		Manifest: run.Manifest, Problems: run.Problems,
		Requests: run.Requests(), Samples: run.Samples(), Events: run.Events(), Checkpoints: run.Checkpoints(),
	}, opts)
	if err == nil {
		experiments(run, a)
	}
	return a, err
}

// FromRecords computes the analysis of records that need not be on disk.
func FromRecords(in Input, opts Options) (*archive.Analysis, error) {
	objectives, err := parseSLOs(opts.SLO)
	if err != nil {
		return nil, err
	}
	w := &work{in: in, opts: opts, objectives: objectives, notes: newNotes()}
	w.setup, w.setupOK = w.resolve()
	if err := w.read(); err != nil {
		return nil, err
	}
	return w.analyze(), nil
}

// work is one analysis under way.
type work struct {
	in         Input
	opts       Options
	setup      roofline.Setup // valid when setupOK
	setupOK    bool
	objectives []*slo.Expr
	time       timeline
	table      *metrics.Table
	series     series.Set
	quality    qualities
	notes      notes
	book       evidence.Book

	windows []archive.Window
	drained map[string]bool
	metrics []archive.Metric
	counts  archive.Counts
	gates   []archive.Gate
	resets  bool
	// blockShare is the share of the values of a metric that one block of the bootstrap
	// holds; 0 when unknown.
	blockShare float64
}

// read streams the records once: events first, because they bound the windows that
// tokens are counted in.
func (w *work) read() error {
	for e, err := range stream(w.in.Events) {
		if err := w.skip(err); err != nil {
			return err
		}
		if e != nil {
			w.time.event(e)
		}
	}
	w.time.configured(w.in.Manifest.Config)
	bounds := map[string]metrics.Bounds{}
	for _, p := range w.time.phases {
		bounds[p.name] = p.bounds
	}
	w.table = metrics.NewTable(bounds)
	w.counts = archive.Counts{ByKind: map[archive.Kind]int{}, Failures: map[string]int{}, Of: map[archive.Kind]archive.Tally{}}
	for r, err := range stream(w.in.Requests) {
		if err := w.skip(err); err != nil {
			return err
		}
		if r == nil {
			continue
		}
		w.count(r)
		w.notes.request(r)
		w.table.Add(r)
	}
	for s, err := range stream(w.in.Samples) {
		if err := w.skip(err); err != nil {
			return err
		}
		if s != nil {
			w.series.Add(s)
		}
	}
	for c, err := range stream(w.in.Checkpoints) {
		if err := w.skip(err); err != nil {
			return err
		}
		if c != nil {
			w.quality.add(c)
		}
	}
	return nil
}

func stream[T any](s iter.Seq2[*T, error]) iter.Seq2[*T, error] {
	if s == nil {
		return func(func(*T, error) bool) {}
	}
	return s
}

// skip notes a line that could not be read and returns any other error.
func (w *work) skip(err error) error {
	if err == nil {
		return nil
	}
	var line *archive.LineError
	if !errors.As(err, &line) {
		return fmt.Errorf("read run: %w", err)
	}
	w.notes.badLine(line)
	return nil
}

func (w *work) count(r *archive.Request) {
	c := &w.counts
	c.Planned++
	c.ByKind[r.Kind]++
	t := c.Of[r.Kind]
	switch r.Status {
	case archive.StatusOK:
		c.OK++
		t.OK++
	case archive.StatusFailed:
		c.Failed++
		t.Failed++
	default:
		c.Cancelled++
		t.Cancelled++
	}
	if r.Error != nil && r.Status != archive.StatusOK {
		c.Failures[r.Error.Kind]++
		if t.Failures == nil {
			t.Failures = map[string]int{}
		}
		t.Failures[r.Error.Kind]++
	}
	c.Of[r.Kind] = t
}

func (w *work) analyze() *archive.Analysis {
	m := w.in.Manifest
	a := &archive.Analysis{
		Schema: analysisSchema, Definitions: archive.Definitions, Run: m.ID, State: m.State, Simulated: m.Simulated,
		Counts: w.counts, Evidence: []archive.Evidence{}, Findings: []archive.Finding{}, Recommendations: []archive.Recommendation{},
	}
	var windowNotes []archive.Annotation
	w.windows, w.drained, windowNotes = windows(&w.time, w.table)
	w.littles()
	w.measure()
	a.SLOs = w.evaluate()
	w.money()
	var facts attribute.Facts
	focus := w.focus()
	if focus != nil {
		facts = w.gather(*focus)
	}
	_, facts.Missed = objectivesMet(a.SLOs)
	facts.SlowTokens = w.slowTokens()
	w.judge(focus, &facts)
	result := attribute.Result{}
	if focus != nil && w.counts.OK > 0 {
		result = attribute.Attribute(&facts, &w.book)
	}
	w.observations(focus, &facts)
	w.steady(focus)
	w.censored()
	w.recovery()

	a.Windows, a.Metrics, a.Gates = w.windows, w.metrics, w.gates
	a.Quality = w.quality.rows()
	a.Verdict = w.verdict(a, focus, &facts, &result)
	if a.Verdict.State == archive.VerdictNone || a.Verdict.State == archive.VerdictInconclusive {
		demote(&result)
	}
	if a.Verdict.State == archive.VerdictInvalid {
		result = onlyClient(result)
	}
	if len(result.Findings) > 0 {
		a.Findings = result.Findings
	}
	if len(result.Recommendations) > 0 {
		a.Recommendations = result.Recommendations
	}
	if rows := w.book.Rows(); len(rows) > 0 {
		a.Evidence = rows
	}
	a.Radar = w.radar(a, &facts)
	a.Annotations = w.annotations(windowNotes)
	return a
}

// littles fills what each window came to: the concurrency that the requests add up to,
// and the rate that was achieved.
func (w *work) littles() {
	for i := range w.windows {
		win := &w.windows[i]
		if win.To <= win.From {
			continue
		}
		_, mean := w.table.Peak(win.From, win.To)
		win.EffectiveConcurrency = metrics.Number(mean)
		if win.AskedRate.Known() {
			keep, n := w.inPhase(win.Phase), 0
			w.table.Each(func(r *metrics.Row) {
				if keep(r) && r.Turn == 0 && in(r.T.Send, *win) {
					n++
				}
			})
			win.AchievedRate = metrics.Number(float64(n) / (float64(win.To-win.From) / 1e9))
		}
	}
}

// focus returns the window under most load: the one that attribution looks at.
func (w *work) focus() *archive.Window {
	var best *archive.Window
	for i := range w.windows {
		x := &w.windows[i]
		if x.To > x.From && (best == nil || x.EffectiveConcurrency.Or(0) > best.EffectiveConcurrency.Or(0)) {
			best = x
		}
	}
	return best
}
