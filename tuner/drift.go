package tuner

import (
	"math"

	"github.com/inferencebench/inferencebench/analyst/stats"
)

// Shift is a change of the machine that a repeated measurement shows.
type Shift struct {
	Trial int     `json:"trial"` // N of the repeat
	By    float64 `json:"by"`    // ln of the repeat over the first, signed so that more is better
	Sd    float64 `json:"sd"`    // of By by chance
	// Taken says that it is more than two of Sd, so that trials after it are corrected.
	Taken bool `json:"taken"`
}

// The noise of a repeat: the least that is ever assumed, and what is assumed where a trial
// has no parts.
const (
	leastNoise  = 0.005
	usualNoise  = 0.015
	driftFactor = 2
)

// Drift follows how the machine changes by the re-measured incumbents. offsets[i] is to be
// taken off the score of trial i to compare it with the first trials.
func Drift(goal Goal, history []Trial) (offsets []float64, shifts []Shift) {
	type repeat struct {
		config string
		load   Load
	}
	first := map[repeat]int{}
	offsets = make([]float64, len(history))
	now := 0.0
	for i := range history {
		t := &history[i]
		offsets[i] = now
		score, ok := goal.Score(&t.Measurement).Get()
		if !ok {
			continue
		}
		key := repeat{t.Config.Key(), t.Load}
		j, again := first[key]
		if !again {
			first[key] = i
			continue
		}
		if t.Role != RoleIncumbent {
			continue
		}
		was := goal.Score(&history[j].Measurement).Or(0) - offsets[j]
		s := Shift{Trial: t.N, By: score - was, Sd: repeatNoise(&history[j], t)}
		s.Taken = math.Abs(s.By) > driftFactor*s.Sd
		now = 0
		if s.Taken {
			now = s.By
		}
		offsets[i] = now
		shifts = append(shifts, s)
	}
	return offsets, shifts
}

// repeatNoise is the standard deviation of the difference of two trials under equal load, by
// the differences of their parts.
func repeatNoise(a, b *Trial) float64 {
	n := min(len(a.Blocks), len(b.Blocks))
	if n < 3 {
		return usualNoise
	}
	var d []float64
	for i := range n {
		if a.Blocks[i] > 0 && b.Blocks[i] > 0 {
			d = append(d, math.Log(b.Blocks[i]/a.Blocks[i]))
		}
	}
	sd, ok := stats.Std(d)
	if !ok {
		return usualNoise
	}
	return max(leastNoise, sd/math.Sqrt(float64(len(d))))
}

// Feasible reports whether a trial ended well and held every constraint.
func Feasible(t *Trial) bool {
	if t.Outcome != OK {
		return false
	}
	for _, s := range t.Slack {
		if s > 0 {
			return false
		}
	}
	return true
}

// Best is the place of the best feasible whole trial of the search, drift corrected, and
// whether there is one.
func (s *Study) Best(history []Trial) (at int, ok bool) {
	offsets, _ := Drift(s.Goal, history)
	rung, best := s.Protocol.Resolved().Rung, math.Inf(-1)
	for i := range history {
		t := &history[i]
		if t.Load.Rung < rung || t.Load.HeldOut || t.Role == RoleBlock || !Feasible(t) {
			continue
		}
		if v, known := s.Goal.Score(&t.Measurement).Get(); known && v-offsets[i] > best {
			best, at, ok = v-offsets[i], i, true
		}
	}
	return at, ok
}
