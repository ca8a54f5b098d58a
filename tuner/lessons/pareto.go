package lessons

import (
	"math"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Aim is one of several quantities that a user may want at once.
type Aim struct {
	Key   string // in Measurement.Metrics, or "quality"
	Label string
	Unit  string
	Up    bool // more is better
	Scale float64
}

// Aims are the quantities of the Pareto answer: throughput, latency, cost and quality.
func Aims() []Aim {
	return []Aim{
		{"output_rate", "Output", "tok/s", true, 1},
		{"ttft_p99", "TTFT P99", "ms", false, 1000},
		{"tpot_p95", "TPOT P95", "ms", false, 1000},
		{"cost_blended", "Cost", "USD/Mtok", false, 1},
		{"energy_per_token", "Energy", "J/token", false, 1},
		{"quality", "Right answers", "%", true, 100},
	}
}

// Choice is one configuration with what was measured of it.
type Choice struct {
	Config space.Assignment
	Trial  int // N of the trial that the figures come from
	Role   string
	// Values are in the order of the aims; NaN where a value is not known.
	Values []float64
	// Front is set where no other choice is better in one aim and as good in all others.
	Front bool
	// Feasible is set where the study's constraints hold.
	Feasible bool
}

// closeBy is the relative difference that counts as none.
const closeBy = 0.01

// Pareto returns the measured configurations and marks those that no other one beats in
// everything. aims are those of which anything is known. Quality counts only where it was
// shown to differ: a few items more or less right are chance.
func Pareto(s *tuner.Study, trials []tuner.Trial) (choices []Choice, aims []Aim) {
	for _, a := range Aims() {
		for i := range trials {
			if v := valueOf(&trials[i], a); !math.IsNaN(v) {
				aims = append(aims, a)
				break
			}
		}
	}
	rung := s.Protocol.Resolved().Rung
	last := map[string]int{}
	for i := range trials {
		t := &trials[i]
		if t.Outcome != tuner.OK || t.Load.HeldOut || t.Load.Rung < rung || (t.Role != tuner.RoleDefault && t.Role != tuner.RoleSearch) {
			continue
		}
		c := Choice{Config: t.Config, Trial: t.N, Role: t.Role, Feasible: tuner.Feasible(t)}
		for _, a := range aims {
			c.Values = append(c.Values, valueOf(t, a))
		}
		if k, ok := last[t.Config.Key()]; ok {
			choices[k] = c
			continue
		}
		last[t.Config.Key()] = len(choices)
		choices = append(choices, c)
	}
	for i := range choices {
		choices[i].Front = choices[i].Feasible
		for j := range choices {
			if i != j && choices[j].Feasible && dominates(&choices[j], &choices[i], aims) {
				choices[i].Front = false
			}
		}
	}
	return choices, aims
}

// dominates reports whether a is better than b in an aim and no worse in any.
func dominates(a, b *Choice, aims []Aim) bool {
	better := false
	for k, aim := range aims {
		x, y := a.Values[k], b.Values[k]
		if aim.Key == "quality" || math.IsNaN(x) || math.IsNaN(y) {
			continue
		}
		if !aim.Up {
			x, y = y, x
		}
		switch d := (x - y) / math.Max(math.Abs(x), math.Abs(y)); {
		case d < -closeBy:
			return false
		case d > closeBy:
			better = true
		}
	}
	return better
}

func valueOf(t *tuner.Trial, a Aim) float64 {
	if a.Key != "quality" {
		if v, ok := t.Metrics[a.Key]; ok {
			return v * a.Scale
		}
		return math.NaN()
	}
	sum, n := 0.0, 0.0
	for i := range t.Quality {
		if v, ok := t.Quality[i].Score.Get(); ok {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return a.Scale * sum / n
}
