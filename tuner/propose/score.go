package propose

import (
	"cmp"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// nominal is the share of cases in which a predicted interval should hold.
const nominal = 0.8

// Shares that a proposer's part of the turns stays within.
const (
	Floor   = 0.10
	Ceiling = 0.50
)

// Track is what became of one source's proposals.
type Track struct {
	Source string `json:"source"`
	// Trials are its proposals that were measured in the search, Improved those that beat
	// everything before them, Failed those that did not end well.
	Trials   int `json:"trials"`
	Improved int `json:"improved"`
	Failed   int `json:"failed"`
	// Predicted are measured proposals with an interval, Covered those whose gain was in it.
	// Coverage should be 0.8.
	Predicted int                  `json:"predicted"`
	Covered   int                  `json:"covered"`
	Coverage  archive.Opt[float64] `json:"coverage"`
	// Brier is the mean square of the error of the chance of a gain above the study's margin,
	// with the interval read as a normal distribution's 80 %: 0 is perfect, 0.25 a coin.
	Brier archive.Opt[float64] `json:"brier"`
	// Share is the part of the turns that the source would get next.
	Share float64 `json:"share"`
}

// outcome is one search trial as a lesson.
type lesson struct {
	source   string
	failed   bool
	improved bool
	gain     archive.Opt[float64] // over the default, a fraction
	said     *tuner.Interval
}

// lessons reads the search trials. A point that went on from a brief to a whole trial is
// one lesson, the last.
func lessons(goal tuner.Goal, history []tuner.Trial) []lesson {
	base := map[int][]float64{} // the default's scores by rung
	for i := range history {
		if t := &history[i]; t.Role == tuner.RoleDefault {
			if v, ok := goal.Score(&t.Measurement).Get(); ok {
				base[t.Load.Rung] = append(base[t.Load.Rung], v)
			}
		}
	}
	zero := func(rung int) (float64, bool) {
		v, ok := base[rung]
		if !ok { // the nearest there is
			near := math.MaxInt
			for r, w := range base {
				if d := max(r-rung, rung-r); d < near || d == near && r < rung {
					near, v = d, w
				}
			}
		}
		return stats.Mean(v), len(v) > 0
	}
	best := 0.0
	var out []lesson
	last := map[string]int{}
	for i := range history {
		t := &history[i]
		if t.Role != tuner.RoleSearch {
			continue
		}
		l := lesson{source: t.Source, failed: t.Outcome != tuner.OK, said: t.Predicted}
		v, ok := goal.Score(&t.Measurement).Get()
		if b, known := zero(t.Load.Rung); ok && known {
			l.gain = archive.Some(math.Exp(v-b) - 1)
			if l.improved = v-b > best && holds(t); l.improved {
				best = v - b
			}
		}
		key := t.Config.Key()
		if at, again := last[key]; again {
			l.improved = l.improved || out[at].improved
			if l.said == nil {
				l.said = out[at].said
			}
			out[at] = l
			continue
		}
		last[key] = len(out)
		out = append(out, l)
	}
	return out
}

// holds reports whether a trial is within all limits.
func holds(t *tuner.Trial) bool {
	for _, s := range t.Slack {
		if s > 0 {
			return false
		}
	}
	return true
}

// Score says how the sources of a study did, sorted by name.
func Score(goal tuner.Goal, history []tuner.Trial) []Track {
	ls := lessons(goal, history)
	tracks := map[string]*Track{}
	brier := map[string][]float64{}
	for _, l := range ls {
		t := tracks[l.source]
		if t == nil {
			t = &Track{Source: l.source}
			tracks[l.source] = t
		}
		t.Trials++
		if l.improved {
			t.Improved++
		}
		if l.failed {
			t.Failed++
		}
		g, ok := l.gain.Get()
		if l.said == nil || !ok {
			continue
		}
		t.Predicted++
		if g >= l.said.Low && g <= l.said.High {
			t.Covered++
		}
		happened := 0.0
		if g > goal.MinGain {
			happened = 1
		}
		e := chance(*l.said, goal.MinGain) - happened
		brier[l.source] = append(brier[l.source], e*e)
	}
	var out []Track
	for name, t := range tracks {
		if t.Predicted > 0 {
			t.Coverage = archive.Some(float64(t.Covered) / float64(t.Predicted))
			t.Brier = archive.Some(stats.Mean(brier[name]))
		}
		t.Share = share(ls, name)
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Track) int { return cmp.Compare(a.Source, b.Source) })
	return out
}

// chance is the probability of a gain above margin under an interval read as the 80 % of a
// normal distribution.
func chance(i tuner.Interval, margin float64) float64 {
	const z = 1.2815515655446004 // of 90 %
	mean, sd := (i.Low+i.High)/2, (i.High-i.Low)/(2*z)
	if sd <= 0 {
		if mean > margin {
			return 1
		}
		return 0
	}
	return 0.5 * math.Erfc((margin-mean)/(sd*math.Sqrt2))
}

// share is the part of the turns that a source has earned: its rate of improvements against
// that of all others, each with one success in two trials to begin with, between Floor and
// Ceiling.
func share(ls []lesson, source string) float64 {
	var mine, others, won, theirs float64
	for _, l := range ls {
		hit := 0.0
		if l.improved {
			hit = 1
		}
		if l.source == source {
			mine, won = mine+1, won+hit
		} else {
			others, theirs = others+1, theirs+hit
		}
	}
	a, b := (won+1)/(mine+2), (theirs+1)/(others+2)
	return min(max(a/(a+b), Floor), Ceiling)
}

// expectation is the interval that a source's next proposal deserves: the middle 80 % of the
// gains that it had, or what is usual of one knob as long as it had fewer than five.
func expectation(goal tuner.Goal, history []tuner.Trial, source string) (low, high float64) {
	var gains []float64
	for _, l := range lessons(goal, history) {
		if g, ok := l.gain.Get(); ok && l.source == source {
			gains = append(gains, g)
		}
	}
	if len(gains) < 5 {
		return -0.05, 0.15
	}
	gains = stats.Sorted(gains)
	return stats.Quantile(gains, (1-nominal)/2), stats.Quantile(gains, (1+nominal)/2)
}

// incumbent is the best configuration so far that holds all limits, or the default. ok is
// false as long as the default was not measured.
func incumbent(goal tuner.Goal, history []tuner.Trial) (space.Assignment, bool) {
	var at space.Assignment
	best, ok := math.Inf(-1), false
	for i := range history {
		t := &history[i]
		v, known := goal.Score(&t.Measurement).Get()
		switch {
		case !known:
		case t.Role == tuner.RoleDefault && !ok:
			at, best, ok = t.Config, v, true
		case t.Role == tuner.RoleSearch && t.Load.Rung >= 1 && v > best && holds(t):
			at, best = t.Config, v
		}
	}
	return clone(at), ok
}

func clone(a space.Assignment) space.Assignment {
	out := space.Assignment{}
	for k, v := range a {
		out[k] = v
	}
	return out
}

func tried(history []tuner.Trial) map[string]bool {
	out := map[string]bool{}
	for _, t := range history {
		out[t.Config.Key()] = true
	}
	return out
}
