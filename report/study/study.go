// Package study renders a tuning study: in a terminal and as one self-contained page. The
// answer comes first: what to change, the certified gain with its interval, the command to
// deploy and the one that undoes it.
package study

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/report/quantity"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Input is what there is to show of a study.
type Input struct {
	Study  tuner.Study
	Result *tuner.Result
	Space  *space.Space
	Engine string // title of the adapter
	// Simulated says that nothing real was measured.
	Simulated bool
	// Deploy is the launch command of the result's configuration, Undo that of before. Both
	// are empty where the server was not started by the study.
	Deploy, Undo []string
	// Search names the strategy. Tool is the program's version. Prior says what the search
	// expected beforehand, or why nothing; "" says nothing.
	Search, Tool, Prior string
}

// Measure is how the goal's values are shown.
type Measure struct {
	Unit  string
	Scale float64 // from the measured value to Unit
	Label string
}

// MeasureOf is how values of a goal's metric are shown.
func MeasureOf(metric string) Measure {
	switch metric {
	case "cost_per_mtok", "cost_blended":
		return Measure{"USD/Mtok", 1, "cost"}
	case "joules_per_token", "energy_per_token":
		return Measure{"J/token", 1, "energy per token"}
	}
	key, seconds, err := slo.Name(metric)
	label := strings.ReplaceAll(metric, "_", " ")
	switch {
	case err != nil:
		return Measure{"", 1, label}
	case seconds:
		name, stat, _ := strings.Cut(key, "_")
		return Measure{"ms", 1000, strings.ToUpper(name) + " " + strings.ToUpper(stat)}
	case key == "request_rate" || key == "goodput":
		return Measure{"req/s", 1, label}
	case strings.HasSuffix(key, "_rate") && key != "error_rate":
		return Measure{"tok/s", 1, label}
	}
	return Measure{"", 1, label}
}

// Value writes a measured value of the goal.
func (m Measure) Value(v float64) string { return quantity.Format(v*m.Scale, m.Unit) }

// Change writes a gain, given as the logarithm of a ratio that is larger for better, as the
// change of the goal's value: "+12 %" of a rate, "−11 %" of a latency.
func Change(goal tuner.Goal, gain float64) string {
	if !goal.Maximise {
		gain = -gain
	}
	p := 100 * math.Expm1(gain)
	if p >= 200 {
		return "×" + quantity.Digits(math.Exp(gain), 3)
	}
	text := fmt.Sprintf("%+.1f %%", p)
	if math.Abs(p) >= 20 {
		text = fmt.Sprintf("%+.0f %%", p)
	}
	return strings.Replace(text, "-", "−", 1)
}

// Config writes an assignment as flags, sorted; "as it is" for none.
func Config(a space.Assignment) string {
	if len(a) == 0 {
		return "as it is"
	}
	var parts []string
	for k, v := range a {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// Command writes an argument vector as a shell would take it.
func Command(argv []string) string {
	out := make([]string, len(argv))
	for i, s := range argv {
		out[i] = s
		if s == "" || strings.ContainsFunc(s, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+", r)
		}) {
			out[i] = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// Headline is the answer in one sentence.
func (in *Input) Headline() string {
	r, m := in.Result, MeasureOf(in.Study.Goal.Metric)
	switch r.Decision {
	case tuner.Change:
		c := r.Certified
		if c.Repair {
			return fmt.Sprintf("Change to %s: it holds the objectives that the default misses, with %s at %s.", Config(r.Config), m.Label, m.Value(c.Winner))
		}
		return fmt.Sprintf("Change to %s: %s %s, certified.", Config(r.Config), m.Label, Change(in.Study.Goal, c.Worst))
	case tuner.Keep:
		margin := fmt.Sprintf("%.3g %%.", 100*in.Study.Goal.MinGain)
		switch tried, worked := in.tried(); {
		case tried == 0:
			return "Keep the default: nothing was tried."
		case worked == 0:
			return fmt.Sprintf("Keep the default: %s tried, and none could be measured.", counted(tried, "other configuration was", "other configurations were"))
		case len(in.Result.Candidates) == 0:
			return fmt.Sprintf("Keep the default: of %s tried, none looked better by more than %s", counted(tried, "other configuration", "other configurations"), margin)
		}
		return "Keep the default: nothing was proved better by more than " + margin
	case tuner.NoBaseline:
		return "No answer: the default itself could not be measured."
	}
	return "Not finished."
}

// tried is how many configurations other than the default were launched, and how many of them
// could be measured.
func (in *Input) tried() (tried, worked int) {
	ended := map[string]bool{}
	for i := range in.Result.Trials {
		t := &in.Result.Trials[i]
		if key := t.Config.Key(); key != in.Study.Default.Key() {
			ended[key] = ended[key] || t.Outcome == tuner.OK
		}
	}
	for _, ok := range ended {
		if ok {
			worked++
		}
	}
	return len(ended), worked
}

// counted is a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Detail says what the headline rests on, one sentence each.
func (in *Input) Detail() []string {
	r, m := in.Result, MeasureOf(in.Study.Goal.Metric)
	if r.Decision != tuner.Change {
		return []string{sentence(r.Reason)}
	}
	c := r.Certified
	out := []string{fmt.Sprintf("On a workload that no search has seen, after clean relaunches, in %d arrival orders: %s, against %s at the default.",
		len(c.Gains), m.Value(c.Winner), m.Value(c.Default))}
	lo, hi := c.Low, c.High
	if !in.Study.Goal.Maximise {
		lo, hi = hi, lo
	}
	return append(out, fmt.Sprintf("The figure above is the worst order; the mean is %s, with a 95 %% interval of %s to %s.",
		Change(in.Study.Goal, c.Mean), Change(in.Study.Goal, lo), Change(in.Study.Goal, hi)))
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// Spent says what the study took.
func (in *Input) Spent() string {
	r := in.Result
	s := fmt.Sprintf("%d measurements in %s", len(r.Trials), r.Spent.Round(time.Second))
	if b := in.Study.Budget.Time; b > 0 {
		s += " of " + b.String()
	}
	if r.USD > 0 {
		s += fmt.Sprintf(", $%.2f", r.USD)
	}
	return s
}

// curve is the best-so-far of the search: minutes spent, and the gain over the default in
// percent of the goal's value.
func (in *Input) curve() (minutes, best []float64, all []point) {
	s := &in.Study
	offsets, _ := tuner.Drift(s.Goal, in.Result.Trials)
	base, known := 0.0, false
	top := 0.0
	var spent time.Duration
	for i := range in.Result.Trials {
		t := &in.Result.Trials[i]
		spent += t.Took
		if t.Role == tuner.RoleBlock || t.Role == tuner.RoleCertify {
			continue
		}
		v, ok := s.Goal.Score(&t.Measurement).Get()
		if !ok || t.Load.Rung < s.Protocol.Resolved().Rung {
			continue
		}
		if !known {
			base, known = v, true
		}
		gain := v - offsets[i] - base
		p := point{x: spent.Minutes(), y: in.percentOf(gain), trial: t, feasible: tuner.Feasible(t)}
		all = append(all, p)
		if p.feasible && gain > top {
			top = gain
		}
		minutes, best = append(minutes, p.x), append(best, in.percentOf(top))
	}
	return minutes, best, all
}

// percentOf is a gain as the improvement of the goal's value in percent: how much more, or
// for a goal that is minimised how much less.
func (in *Input) percentOf(gain float64) float64 {
	if in.Study.Goal.Maximise {
		return 100 * math.Expm1(gain)
	}
	return -100 * math.Expm1(-gain)
}

type point struct {
	x, y     float64
	trial    *tuner.Trial
	feasible bool
}
