package lessons

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Source is the record of one proposer.
type Source struct {
	Name string `json:"name"`
	// Proposed counts its configurations that were measured, Failed those that did not end
	// well, Missed those that broke a constraint, and Better those that looked better than the
	// default by more than the margin.
	Proposed, Failed, Missed, Better int
	// Best is ln of the best over the default, as the search saw it; not proved.
	Best float64 `json:"best"`
	// Predictions counts those that came with a predicted interval of the gain and were
	// measured whole, Inside those whose measured gain lay in it.
	Predictions, Inside int
}

// Sources returns the record of every proposer, in order of their first proposal.
func Sources(s *tuner.Study, trials []tuner.Trial) []Source {
	base, known := baseline(s, trials)
	rung := s.Protocol.Resolved().Rung
	offsets, _ := tuner.Drift(s.Goal, trials)
	var out []Source
	seen := map[string]bool{}
	for i := range trials {
		t := &trials[i]
		if t.Role != tuner.RoleSearch {
			continue
		}
		at := slices.IndexFunc(out, func(x Source) bool { return x.Name == t.Source })
		if at < 0 {
			at, out = len(out), append(out, Source{Name: t.Source, Best: math.Inf(-1)})
		}
		x := &out[at]
		if key := t.Config.Key(); !seen[key] {
			seen[key] = true
			x.Proposed++
		}
		if t.Outcome != tuner.OK {
			x.Failed++
			continue
		}
		if t.Load.Rung < rung {
			continue
		}
		if !tuner.Feasible(t) {
			x.Missed++
		}
		v, ok := s.Goal.Score(&t.Measurement).Get()
		if !ok || !known {
			continue
		}
		gain := v - offsets[i] - base
		if tuner.Feasible(t) {
			x.Best = max(x.Best, gain)
			if gain > math.Log1p(s.Goal.MinGain) {
				x.Better++
			}
		}
		if t.Predicted != nil {
			x.Predictions++
			if g := math.Expm1(gain); g >= t.Predicted.Low && g <= t.Predicted.High {
				x.Inside++
			}
		}
	}
	for i := range out {
		if math.IsInf(out[i].Best, 0) {
			out[i].Best = 0
		}
	}
	return out
}

// baseline is the mean score of the default's whole trials of the search.
func baseline(s *tuner.Study, trials []tuner.Trial) (float64, bool) {
	sum, n := 0.0, 0.0
	for i := range trials {
		t := &trials[i]
		if v, ok := s.Goal.Score(&t.Measurement).Get(); ok && t.Role == tuner.RoleDefault && t.Load.Rung >= s.Protocol.Resolved().Rung {
			sum, n = sum+v, n+1
		}
	}
	return sum / max(n, 1), n > 0
}

// Learned says in sentences what the trials showed beside the answer.
func Learned(s *tuner.Study, sp *space.Space, r *tuner.Result) []string {
	var out []string
	if r.LeftAlone != "" {
		out = append(out, r.LeftAlone+".")
	}
	ims, rest := Importances(s, sp, r.Trials)
	for _, im := range ims {
		if im.Share < 0.1 {
			break
		}
		best := slices.MaxFunc(im.Levels, func(a, b Level) int { return sign(a.Effect - b.Effect) })
		worst := slices.MinFunc(im.Levels, func(a, b Level) int { return sign(a.Effect - b.Effect) })
		out = append(out, fmt.Sprintf("%s explains %.0f %% of what the trials differ by: %s did best, %s worst (%.0f %% apart).",
			im.Knob, 100*im.Share, named(best.Value), named(worst.Value), 100*math.Expm1(best.Effect-worst.Effect)))
	}
	if len(ims) > 0 && rest > 0.5 {
		out = append(out, fmt.Sprintf("%.0f %% of the differences come from knobs acting together, or from noise.", 100*rest))
	}
	out = append(out, failures(r.Trials)...)
	for _, sh := range r.Shifts {
		if sh.Taken {
			out = append(out, fmt.Sprintf("The machine changed by %+.1f %% before trial %d, as a repeated measurement shows; trials after it were corrected in the search. Blocks and certification are not affected.", 100*math.Expm1(sh.By), sh.Trial))
		}
	}
	if c := r.Certified; c != nil {
		base, ok := baseline(s, r.Trials)
		best := math.Inf(-1)
		for i := range r.Trials {
			t := &r.Trials[i]
			if v, known := s.Goal.Score(&t.Measurement).Get(); known && t.Role == tuner.RoleSearch && t.Config.Key() == c.Challenger.Config.Key() && t.Load.Rung >= s.Protocol.Resolved().Rung {
				best = max(best, v-base)
			}
		}
		if ok && best > c.Worst {
			out = append(out, fmt.Sprintf("The search saw a gain of %.1f %%; the certification, which counts, %.1f %% at worst. The best of many noisy measurements flatters itself.", 100*math.Expm1(best), 100*math.Expm1(c.Worst)))
		}
	}
	return out
}

func sign(x float64) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func named(v string) string {
	if v == "" {
		return "leaving it as it is"
	}
	return v
}

// failures names the values with which nothing ever worked.
func failures(trials []tuner.Trial) []string {
	type record struct {
		bad, good int
		outcome   tuner.Outcome
	}
	by := map[string]*record{}
	for i := range trials {
		t := &trials[i]
		for k, v := range t.Config {
			key := k + " " + v
			if by[key] == nil {
				by[key] = &record{}
			}
			switch t.Outcome {
			case tuner.OOM, tuner.StartFailure, tuner.StartTimeout, tuner.Crash:
				by[key].bad++
				by[key].outcome = t.Outcome
			default:
				by[key].good++
			}
		}
	}
	var keys []string
	for k, r := range by {
		if r.bad >= 2 && r.good == 0 {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var out []string
	for _, k := range keys {
		out = append(out, fmt.Sprintf("%s never worked: %d of %d trials with it ended as %s.", k, by[k].bad, by[k].bad, Words(by[k].outcome)))
	}
	return out
}

// Words is an outcome for a reader.
func Words(o tuner.Outcome) string {
	switch o {
	case tuner.OOM:
		return "out of memory"
	case tuner.StartFailure:
		return "did not start"
	case tuner.StartTimeout:
		return "not ready in time"
	case tuner.QualityFail:
		return "worse answers"
	case tuner.Integrity:
		return "not the model's own speed"
	case tuner.Invalid:
		return "measurement not valid"
	}
	return strings.ReplaceAll(string(o), "_", " ")
}
