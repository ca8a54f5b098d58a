package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rule is what a gate demands of one statistic.
type Rule struct {
	Metric, Stat string
	// Tolerance is the degradation that is of no interest, such as 0.01 for 1 %.
	Tolerance float64
}

// Rules returns the default rules: few, because every further one costs sensitivity.
func Rules() []Rule {
	return []Rule{{"ttft", "p50", 0.02}, {"tpot", "mean", 0.01}, {"e2e", "mean", 0.01}, {"output_rate", "value", 0.01}}
}

// maxRules bounds the rules of one gate.
const maxRules = 20

// ParseRules reads rules such as "ttft_p99:5%, tpot_mean:2%, output_rate:3%". Known
// statistics are those of Stats.
func ParseRules(s string) ([]Rule, error) {
	var out []Rule
	for part := range strings.SplitSeq(s, ",") {
		name, tol, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			return nil, fmt.Errorf("gate %q: write a statistic and a tolerance, such as tpot_mean:2%%", part)
		}
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(tol), "%"), 64)
		if err != nil || !strings.HasSuffix(strings.TrimSpace(tol), "%") || v < 0 || v > 1000 {
			return nil, fmt.Errorf("gate %q: %q is not a tolerance in percent, such as 2%%", part, tol)
		}
		metric, stat := strings.TrimSpace(name), "value"
		if i := strings.LastIndexByte(metric, '_'); i > 0 && metric != "output_rate" {
			metric, stat = metric[:i], metric[i+1:]
		}
		if !slices.Contains(Stats(), Stat{metric, stat}) {
			var known []string
			for _, k := range Stats() {
				known = append(known, strings.TrimSuffix(k.Metric+"_"+k.Stat, "_value"))
			}
			return nil, fmt.Errorf("gate %q: %s cannot be compared; known are %s", part, name, strings.Join(known, ", "))
		}
		out = append(out, Rule{metric, stat, v / 100})
	}
	if len(out) > maxRules {
		return nil, fmt.Errorf("gate: %d rules are more than %d", len(out), maxRules)
	}
	return out, nil
}

// The states of a gate.
const (
	Pass      = "pass"
	Fail      = "fail"
	Undecided = "undecided"
)

// Options are the statistical settings of a gate. The zero value has the defaults.
type Options struct {
	// Alpha is the chance of an alarm over all rules where nothing is worse; 0 is 0.01.
	Alpha float64
	// Noise is the standard deviation of ln(Head/Base) between runs of one machine that
	// differ in nothing, as A/A runs show it; 0 is DefaultNoise.
	Noise float64
	// NoiseOf is that noise for single statistics, where it is known; it replaces Noise.
	NoiseOf map[Stat]float64
	// MaxErrors is by how much the share of failed requests may grow; 0 is 0.01.
	MaxErrors float64
}

// DefaultNoise is a low noise between runs, of a machine that does nothing else.
const DefaultNoise = 0.004

// Check is one rule and what the runs say of it.
type Check struct {
	Rule       Rule
	Difference *Difference // nil when it could not be computed
	P          float64     // chance of so large a degradation at the tolerance
	Alarm      bool
	Message    string // one sentence
}

// Outcome is what a gate says.
type Outcome struct {
	State  string
	Stages int // pairs of runs that were compared
	Checks []Check
	Reason string // one sentence
}

// Gate compares two runs under rules. The alarms are corrected by Holm's method for the
// number of rules. State is Fail with an alarm, and Undecided when a rule cannot be checked
// or only a noise between runs above DefaultNoise keeps it from an alarm.
func Gate(base, head *Sample, rules []Rule, o Options) Outcome {
	if o.Alpha <= 0 {
		o.Alpha = 0.01
	}
	if o.Noise <= 0 {
		o.Noise = DefaultNoise
	}
	if o.MaxErrors <= 0 {
		o.MaxErrors = 0.01
	}
	out := Outcome{State: Pass, Stages: 1, Reason: "no rule is broken"}
	diffs := Compare(base, head)
	for _, r := range rules {
		c := Check{Rule: r, P: 1}
		if i := slices.IndexFunc(diffs, func(d Difference) bool { return d.Metric == r.Metric && d.Stat == r.Stat }); i >= 0 {
			c.Difference = &diffs[i]
			noise := o.Noise
			if n, ok := o.NoiseOf[Stat{r.Metric, r.Stat}]; ok && n > 0 {
				noise = n
			}
			c.P = diffs[i].pWorse(r.Tolerance, noise)
			c.Message = diffs[i].String()
		} else {
			c.Message = fmt.Sprintf("%s %s cannot be compared: too few requests in one of the runs", r.Metric, r.Stat)
			out.State, out.Reason = Undecided, c.Message
		}
		out.Checks = append(out.Checks, c)
	}
	order := make([]int, len(out.Checks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(out.Checks[a].P, out.Checks[b].P) })
	for k, i := range order {
		if out.Checks[i].P > o.Alpha/float64(len(order)-k) {
			break
		}
		out.Checks[i].Alarm = true
		if out.State != Fail {
			out.State, out.Reason = Fail, "worse beyond the tolerance: "+out.Checks[i].Message
		}
	}
	for _, c := range out.Checks {
		if out.State == Pass && c.Difference != nil && !c.Alarm && c.Difference.pWorse(c.Rule.Tolerance, min(o.Noise, DefaultNoise)) <= o.Alpha/float64(len(out.Checks)) {
			out.State, out.Reason = Undecided, "worse beyond the tolerance, but not by more than runs of this machine differ among themselves: "+c.Message
		}
	}
	if grow := head.errorShare() - base.errorShare(); grow > o.MaxErrors {
		out.State, out.Reason = Fail, fmt.Sprintf("the share of failed requests grew by %.1f points", 100*grow)
	}
	return out
}

func (s *Sample) errorShare() float64 {
	if s.sent == 0 {
		return 1
	}
	return float64(s.failed) / float64(s.sent)
}

// Rerun makes a second pair of runs, interleaved on the same machine.
type Rerun func(ctx context.Context) (base, head *Sample, err error)

// TwoStage gates, and on an alarm gates a second pair of runs: it fails only where both
// pairs raise an alarm for the same rule, so that a chance alarm of one in a hundred
// becomes one in ten thousand. Without rerun the first stage decides.
func TwoStage(ctx context.Context, base, head *Sample, rules []Rule, o Options, rerun Rerun) (Outcome, error) {
	first := Gate(base, head, rules, o)
	if first.State != Fail || rerun == nil {
		return first, nil
	}
	b, h, err := rerun(ctx)
	if err != nil {
		return first, fmt.Errorf("gate: second pair of runs: %w", err)
	}
	second := Gate(b, h, rules, o)
	second.Stages = 2
	if second.State != Fail {
		second.Reason = "an alarm of the first pair of runs did not repeat: " + first.Reason
		return second, nil
	}
	repeated := !slices.ContainsFunc(first.Checks, func(c Check) bool { return c.Alarm }) // failed for errors
	for i := range second.Checks {
		repeated = repeated || second.Checks[i].Alarm && first.Checks[i].Alarm
	}
	if !repeated {
		second.State, second.Reason = Undecided, "both pairs of runs raise an alarm, but for different rules"
	}
	return second, nil
}
