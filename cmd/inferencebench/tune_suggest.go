package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/report"
	pages "github.com/inferencebench/inferencebench/report/study"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/propose"
	"github.com/inferencebench/inferencebench/tuner/search"
)

// suggestionsFile is the answer of a study that only looks, in its folder.
const suggestionsFile = "suggestions.json"

// suggestions are what a server that is only looked at could be changed to.
type suggestions struct {
	ReadOnly    string            `json:"read_only"` // why nothing was changed
	URL         string            `json:"url"`
	Engine      string            `json:"engine"`
	Load        string            `json:"load"`
	Measured    tuner.Measurement `json:"measured"`
	Findings    []archive.Finding `json:"findings,omitempty"`
	Prior       string            `json:"prior"`
	Suggestions []tuner.Proposal  `json:"suggestions"`
}

// The most that is suggested, by rules and by what the simulator expects; the users of a load
// on a server that others depend on, unless more were asked for.
const (
	mostRules     = 6
	mostExpected  = 3
	fewUsers      = 2
	worthMention  = 0.02 // gain that the simulator must expect
	secondsToLook = 20 * time.Second
)

// readOnly reports whether a study of a file only looks.
func readOnly(f *live.File) bool {
	return !f.Simulate && (f.Target.Production || len(f.Command) == 0 && f.Launcher.Kind != live.LaunchKubernetes)
}

// lookOnly makes a file one that only looks: no items are scored, since there is nothing to
// compare them with, and a server that users depend on gets a small load where none was named.
func lookOnly(f *live.File) {
	f.Checkpoints.Enabled = false
	if d := live.Default().Load; f.Target.Production && f.Load.Rate == 0 && f.Load.Concurrency == d.Concurrency {
		f.Load.Concurrency = fewUsers
	}
}

// recognise asks a server that is only looked at what it is, and which of its settings it tells,
// by the names of its knobs. It generates nothing.
func recognise(ctx context.Context, f *live.File, getenv func(string) string) (map[string]string, error) {
	client, base, header, err := f.Target.Side(f.Target.URL, getenv)
	if err != nil {
		return nil, withCode(exitUsage, err)
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, secondsToLook)
	defer cancel()
	id, err := engines.Probe(ctx, client, base, header)
	if err != nil {
		te := &campaign.TargetError{Kind: campaign.TargetUnreachable, URL: engines.Redact(base), Message: err.Error(), Err: err}
		if pe, ok := errors.AsType[*engines.ProbeError](err); ok {
			te.Message, te.Hint = pe.Message, pe.Hint
			if pe.Kind == engines.Auth {
				te.Kind, te.Hint = campaign.TargetAuth, "put the key into an environment variable and name it with --key-env"
			}
		}
		return nil, te
	}
	if f.Engine == "" && len(id.Adapter.Knobs) > 0 {
		f.Engine = id.Adapter.Name
	}
	if f.Target.Model == "" {
		if m, err := id.Choose(""); err == nil {
			f.Target.Model = m.ID
		}
	}
	told := map[string]string{}
	for i := range id.Adapter.Knobs {
		k := &id.Adapter.Knobs[i]
		name := strings.ReplaceAll(strings.TrimPrefix(k.Name, "--"), "-", "_")
		v, ok := id.Settings[name]
		if !ok && name == "kv_cache_dtype" {
			v, ok = id.Settings["cache_dtype"]
		}
		if low := strings.ToLower(v); low == "true" || low == "false" {
			v = low
		}
		if ok && k.Allows(v) == nil {
			told[k.Name] = v
		}
	}
	return told, nil
}

// suggest measures a server as it is, once, and proposes changes with reasons. Nothing is
// started, stopped or changed.
func suggest(ctx context.Context, s *live.Setup, dir string, o *output) error {
	if !o.quiet {
		fmt.Fprintf(o.msg, "Looking:  nothing is changed, because %s; the server is measured as it is, %s for %s\n",
			s.ReadOnly, loadWords(s.File), time.Duration(s.File.Load.Window+s.File.Load.Warmup))
	}
	m, err := s.Bench.Measure(ctx, nil, tuner.Load{Rung: tuner.DefaultRung})
	if ctx.Err() != nil {
		return withCode(exitInterrupted, fmt.Errorf("stopped before the server was measured (%w); nothing was changed", context.Cause(ctx)))
	}
	if err != nil {
		return err
	}
	if m.Outcome != tuner.OK {
		return withCode(exitUndecided, fmt.Errorf("the server could not be measured as it is: %s; nothing was changed", m.Reason))
	}
	history := []tuner.Trial{{N: 1, Role: tuner.RoleDefault, Load: tuner.Load{Rung: tuner.DefaultRung}, Proposal: tuner.Proposal{Source: "default"}, Measurement: m}}
	findings := propose.FromRuns(s.Study.Goal)
	out := suggestions{
		ReadOnly: s.ReadOnly, URL: engines.Redact(s.File.Target.URL), Engine: s.Adapter.Name, Load: loadWords(s.File), Measured: m, Findings: findings(history),
		Suggestions: propose.NewRules(s.Space, s.Study.Goal, findings).Ask(nil, history, mostRules),
	}
	expect(s, history, &out)
	if err := writeJSON(filepath.Join(dir, suggestionsFile), out); err != nil {
		return err
	}
	if o.json {
		return encodeJSON(o.out, out)
	}
	_, err = io.WriteString(o.out, report.Visible(out.text(s, dir)))
	return err
}

// expect adds what the simulator expects: to the suggestions of the rules, and suggestions of
// its own.
func expect(s *live.Setup, history []tuner.Trial, out *suggestions) {
	out.Prior = "none"
	var o *search.Opinion
	if s.Expect != nil {
		o = s.Expect(history)
	}
	if s.Expected != nil {
		out.Prior = s.Expected()
	}
	if o == nil {
		return
	}
	say := func(g search.Guess) string {
		return "The simulator expects " + pages.Change(s.Study.Goal, g.Gain) + "."
	}
	seen := map[string]bool{}
	for i := range out.Suggestions {
		p := &out.Suggestions[i]
		seen[p.Config.Key()] = true
		if g, ok := o.Guess(p.Config); ok {
			p.Hypothesis += " " + say(g)
		} else {
			p.Hypothesis += " The simulator expects that it does not start."
		}
	}
	configs, guesses := o.Liked(mostExpected)
	for i, a := range configs {
		if g := guesses[i]; g.Gain > worthMention && !seen[a.Key()] {
			out.Suggestions = append(out.Suggestions, tuner.Proposal{
				Config: a, Source: "prior", Rung: tuner.DefaultRung, Hypothesis: say(g), Predicted: &tuner.Interval{Low: math.Expm1(g.Gain / 2), High: math.Expm1(g.Gain * 3 / 2)},
				Falsifier: "No gain over the default.",
			})
		}
	}
}

// text is the answer for a terminal.
func (out *suggestions) text(s *live.Setup, dir string) string {
	var b strings.Builder
	line := func(label, format string, a ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", label, fmt.Sprintf(format, a...))
	}
	measure := pages.MeasureOf(s.Study.Goal.Metric)
	line("Measured:", "%s %s, once, with %s; nothing was changed", measure.Label, measure.Value(out.Measured.Value.Or(0)), out.Load)
	for i, e := range s.Study.Constraints {
		if i < len(out.Measured.Slack) && out.Measured.Slack[i] > 0 {
			line("", "it misses %s", e)
		}
	}
	limits := 0
	for _, f := range out.Findings {
		if f.Role == "primary" || f.Role == "contributing" {
			line(map[bool]string{true: "Limits:"}[limits == 0], "%s (score %.2f)", f.Title, f.Score)
			limits++
		}
	}
	if limits == 0 {
		line("Limits:", "nothing was found to limit the server at this load")
	}
	line("Prior:", "%s", out.Prior)
	if len(out.Suggestions) == 0 {
		line("Suggest:", "nothing: no knob that may be changed relieves what was found")
	} else {
		line("Suggest:", "none of these was tried; a study proves one before it recommends it")
	}
	for i, p := range out.Suggestions {
		fmt.Fprintf(&b, "  %d. %s\n     why:      %s\n", i+1, pages.Config(p.Config), p.Hypothesis)
		if p.Predicted != nil {
			fmt.Fprintf(&b, "     expected: %s\n", interval(s.Study.Goal, *p.Predicted))
		}
		if p.Falsifier != "" {
			fmt.Fprintf(&b, "     wrong if: %s\n", p.Falsifier)
		}
	}
	line("Records:", "%s", dir)
	if s.File.Target.Production {
		line("Next:", "prove one on a copy of the server: inferencebench tune --url COPY -- LAUNCH COMMAND")
	} else {
		line("Next:", "prove one: inferencebench tune --url %s -- LAUNCH COMMAND", out.URL)
	}
	return b.String()
}

// interval is a predicted gain as the change of the goal's value.
func interval(g tuner.Goal, p tuner.Interval) string {
	lo, hi := pages.Change(g, math.Log1p(p.Low)), pages.Change(g, math.Log1p(p.High))
	if !g.Maximise {
		lo, hi = hi, lo
	}
	return lo + " to " + hi
}
