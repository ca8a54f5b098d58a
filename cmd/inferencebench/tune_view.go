package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/report"
	pages "github.com/inferencebench/inferencebench/report/study"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/journal"
	"github.com/inferencebench/inferencebench/tuner/lessons"
	"github.com/inferencebench/inferencebench/tuner/live"
)

// tuneView shows a study while it goes on: a line for every trial that ended and, on a
// terminal, one that is redrawn for the trial that is going on.
type tuneView struct {
	w       io.Writer
	quiet   bool
	tty     bool
	width   int
	file    *live.File
	measure pages.Measure
	setup   *live.Setup

	mu    sync.Mutex
	now   string    // what is being measured
	since time.Time // since when
	quit  chan struct{}
	done  sync.WaitGroup
}

func newTuneView(o *output, file *live.File) *tuneView {
	v := &tuneView{w: o.msg, quiet: o.quiet, file: file, quit: make(chan struct{})}
	v.width, v.tty = isTerminal(o.msg)
	metric, _, err := live.ParseGoal(file.Goal)
	if err == nil {
		v.measure = pages.MeasureOf(metric)
	}
	return v
}

// start says what is about to be done.
func (v *tuneView) start(s *live.Setup, dir string, j *journal.File) {
	v.setup = s
	if v.quiet {
		return
	}
	v.intro(s, dir)
	if n := len(j.Trials()); n > 0 {
		fmt.Fprintf(v.w, "Resumed:  %d measurements are in the journal\n", n)
	}
	if v.tty {
		v.done.Go(v.loop)
	}
}

func (v *tuneView) intro(s *live.Setup, dir string) {
	var b strings.Builder
	if v.file.Simulate {
		b.WriteString("SIMULATION: the simulated engine in this program is tuned, not a real server.\n")
	}
	fmt.Fprintf(&b, "Tuning:   %s, %s%s\n", s.Adapter.Title, v.file.Goal, within(v.file.SLO))
	fmt.Fprintf(&b, "Knobs:    %s (%d configurations)\n", strings.Join(knobNames(s), ", "), s.Space.Size())
	fmt.Fprintf(&b, "Load:     %s; a trial measures %s\n", loadWords(v.file), time.Duration(v.file.Load.Window))
	fmt.Fprintf(&b, "Budget:   %s\n", budgetWords(v.file))
	if s.Expected != nil {
		fmt.Fprintf(&b, "Prior:    %s\n", s.Expected())
	}
	fmt.Fprintf(&b, "Records:  %s\n", dir)
	fmt.Fprint(v.w, report.Visible(b.String()))
}

func within(slos []string) string {
	if len(slos) == 0 {
		return ""
	}
	return " with " + strings.Join(slos, " and ")
}

func knobNames(s *live.Setup) []string {
	var out []string
	for _, d := range s.Space.Dims {
		out = append(out, d.Name)
	}
	return out
}

func loadWords(f *live.File) string {
	if f.Load.Rate > 0 {
		return fmt.Sprintf("%g sessions/s", f.Load.Rate)
	}
	return fmt.Sprintf("concurrency %d", f.Load.Concurrency)
}

func budgetWords(f *live.File) string {
	var parts []string
	if f.Budget.Time > 0 {
		parts = append(parts, time.Duration(f.Budget.Time).String())
	}
	if f.Budget.Trials > 0 {
		parts = append(parts, fmt.Sprintf("%d measurements", f.Budget.Trials))
	}
	if f.Budget.USD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", f.Budget.USD))
	}
	return strings.Join(parts, ", ")
}

// progress is told before and after each measurement.
func (v *tuneView) progress(p tuner.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.quiet {
		return
	}
	if p.Trial == nil {
		v.now, v.since = fmt.Sprintf("%3d  %-9s  %s", len(p.History)+1, p.Step.Role, pages.Config(p.Step.Proposal.Config)), time.Now()
		return
	}
	v.now = ""
	line := report.Visible(v.line(p))
	if v.tty {
		line = "\r\x1b[K" + line
	}
	fmt.Fprintln(v.w, line)
}

// line is one trial that ended.
func (v *tuneView) line(p tuner.Progress) string {
	t := p.Trial
	outcome := lessons.Words(t.Outcome)
	s := &v.setup.Study
	if x, ok := t.Value.Get(); ok && t.Outcome == tuner.OK {
		outcome = v.measure.Value(x)
		if base, ok := baselineOf(s, p.History, t); ok && len(t.Config) > 0 {
			outcome += "  " + pages.Change(s.Goal, s.Goal.Score(&t.Measurement).Or(0)-base)
		}
		if !tuner.Feasible(t) {
			outcome += "  misses an objective"
		}
	} else if t.Reason != "" {
		outcome += ": " + t.Reason
	}
	role := t.Role
	if t.Role == tuner.RoleSearch {
		role = t.Source
		if t.Load.Rung == 0 {
			role += ", short"
		}
	}
	return fmt.Sprintf("%3d  %-14s  %-28s  %s", t.N, role, outcome, pages.Config(t.Config))
}

// baselineOf is the default's latest score under the same load.
func baselineOf(s *tuner.Study, h []tuner.Trial, t *tuner.Trial) (float64, bool) {
	for i := len(h) - 1; i >= 0; i-- {
		b := &h[i]
		if b.Config.Key() == s.Default.Key() && b.Load.Rung == t.Load.Rung && b.Load.HeldOut == t.Load.HeldOut && b.Load.Order == t.Load.Order {
			return s.Goal.Score(&b.Measurement).Get()
		}
	}
	return math.NaN(), false
}

// loop redraws the line of the trial that is going on.
func (v *tuneView) loop() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-v.quit:
			fmt.Fprint(v.w, "\r\x1b[K")
			return
		case <-tick.C:
		}
		v.mu.Lock()
		if v.now != "" {
			line := report.Visible(fmt.Sprintf("%s  %s", v.now, time.Since(v.since).Round(time.Second)))
			if v.width > 0 && len(line) >= v.width {
				line = line[:v.width-1]
			}
			fmt.Fprint(v.w, "\r\x1b[K"+line)
		}
		v.mu.Unlock()
	}
}

// stop ends the display.
func (v *tuneView) stop() {
	close(v.quit)
	v.done.Wait()
}

// dryRun prints the plan and the commands, and does nothing.
func dryRun(ctx context.Context, s *live.Setup, dir string, w io.Writer) error {
	v := &tuneView{w: w, file: s.File}
	v.intro(s, dir)
	p := s.Plan()
	fmt.Fprintf(w, "Plan:     the default first; then the search (%s) in what is left of the budget\n", s.Strategy.Name())
	fmt.Fprintf(w, "          a candidate is proved by %d measurements in about %s, starts left out\n", p.Least, p.Proof)
	if b := time.Duration(s.File.Budget.Time); b > 0 && p.SearchShare < 2*p.TrialTime {
		fmt.Fprintf(w, "Warning:  the budget of %s leaves the search no trial of %s: raise --budget or shorten --window\n", b, p.TrialTime)
	}
	if s.ReadOnly != "" {
		fmt.Fprintf(w, "Commands: none: nothing would be changed, because %s\n", s.ReadOnly)
		return nil
	}
	fmt.Fprintln(w, "Commands: the default, then the first that the search asks for")
	for _, argv := range s.Rehearse(ctx, 8) {
		fmt.Fprintf(w, "  %s\n", report.Visible(pages.Command(argv)))
	}
	return nil
}

// pageInput is what the renderings of a study need.
func pageInput(s *live.Setup, r *tuner.Result) *pages.Input {
	in := &pages.Input{
		Study: s.Study, Result: r, Space: s.Space, Engine: s.Adapter.Title, Simulated: s.File.Simulate,
		Search: s.Strategy.Name(), Tool: version,
	}
	if s.Expected != nil {
		in.Prior = s.Expected()
	}
	if s.Control != nil {
		in.Deploy, in.Undo = s.Control.Command(r.Config), s.Control.Command(s.Study.Default)
	}
	return in
}

// tuneAnswer prints the answer.
func tuneAnswer(o *output, s *live.Setup, r *tuner.Result, page string) {
	if !o.quiet {
		ascii := false
		if f, ok := o.out.(*os.File); ok {
			ascii = report.OptionsFor(f, os.Getenv).ASCII
		}
		fmt.Fprintln(o.out)
		if err := pages.Terminal(o.out, pageInput(s, r), ascii); err != nil {
			o.log.Warn("the answer could not be printed", "err", err)
		}
	}
	if page != "" {
		fmt.Fprintf(o.out, "Page:     %s\n", page)
	}
}

func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
