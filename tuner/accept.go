package tuner

import (
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/analyst/stats"
)

// The states of a challenger.
const (
	StateAccepted  = "accepted"  // blocks showed the gain, and nothing speaks against it
	StateCertified = "certified" // and it came back on the held-out workload
	StateRejected  = "rejected"
	StateOpen      = "open" // not decided: more has to be measured, or the budget ended
)

// Acceptance is what the ABBA blocks of a challenger say. Gains are logarithms of ratios,
// signed so that more is better.
type Acceptance struct {
	Challenger Proposal `json:"challenger"`
	State      string   `json:"state"`
	Reason     string   `json:"reason"` // one sentence
	// Gains is one figure a block: the mean of the two challengers over that of the two
	// defaults. Mean, Low and High are their mean with its two-sided 95 % t interval.
	Gains []float64 `json:"gains"`
	Mean  float64   `json:"mean"`
	Low   float64   `json:"low"`
	High  float64   `json:"high"`
	// Repair says that the default itself misses a constraint, so that holding it is the gain.
	Repair bool   `json:"repair,omitempty"`
	Guards Guards `json:"guards"`
	// Void counts blocks that could not be used.
	Void int `json:"void,omitempty"`
}

// maxVoid is how many blocks, or certification pairs, may be measured in vain.
const maxVoid = 2

// abba is the order of a block: false is the default, true the challenger.
var abba = [4]bool{false, true, true, false}

// block is the trials of one ABBA block so far.
type block struct {
	trials []Trial
	// void says why the block cannot be used; dead why the challenger is out.
	void, dead string
}

func (b *block) complete() bool { return b.void != "" || b.dead != "" || len(b.trials) == len(abba) }

// blocks returns the blocks of a challenger in order.
func blocks(history []Trial, key string) []block {
	var out []block
	pair := 0
	for i := range history {
		t := history[i]
		if t.Role != RoleBlock || t.For != key {
			continue
		}
		if t.Pair != pair {
			out, pair = append(out, block{}), t.Pair
		}
		b := &out[len(out)-1]
		challenger := abba[len(b.trials)%len(abba)]
		b.trials = append(b.trials, t)
		switch {
		case t.Outcome == OK:
		case t.Outcome == Invalid || !challenger:
			b.void = fmt.Sprintf("trial %d: %s", t.N, because(&t))
		default:
			b.dead = fmt.Sprintf("trial %d: %s", t.N, because(&t))
		}
	}
	return out
}

func because(t *Trial) string {
	if t.Reason != "" {
		return t.Reason
	}
	return string(t.Outcome)
}

// sides splits blocks into the trials of the default and those of the challenger.
func sides(bs []block) (base, cand []Trial) {
	for _, b := range bs {
		for i, t := range b.trials {
			if abba[i%len(abba)] {
				cand = append(cand, t)
			} else {
				base = append(base, t)
			}
		}
	}
	return base, cand
}

// Accept judges a challenger by its blocks. It is a function of the history alone, the
// checks' own reading of run directories aside.
func (s *Study) Accept(challenger Proposal, history []Trial, checks []Check) Acceptance {
	p := s.Protocol.Resolved()
	a := Acceptance{Challenger: challenger, State: StateOpen, Reason: "more blocks are needed"}
	var good []block
	for _, b := range blocks(history, challenger.Config.Key()) {
		switch {
		case b.dead != "":
			a.State, a.Reason = StateRejected, b.dead
		case b.void != "":
			a.Void++
		case b.complete():
			good = append(good, b)
			a.Gains = append(a.Gains, s.blockGain(b))
		}
	}
	if a.Void > maxVoid && a.State == StateOpen {
		a.State, a.Reason = StateRejected, fmt.Sprintf("%d blocks could not be measured", a.Void)
	}
	n := len(a.Gains)
	if n == 0 {
		return a
	}
	a.Mean = stats.Mean(a.Gains)
	a.Low, a.High = math.Inf(-1), math.Inf(1)
	if lo, hi, ok := stats.MeanInterval(a.Gains, confidence, float64(n)); ok {
		a.Low, a.High = lo, hi
	}
	if a.State != StateOpen {
		a.finite()
		return a
	}
	base, cand := sides(good)
	for _, b := range s.bounds(base) {
		a.Repair = a.Repair || b.Mean > 0
	}
	if n < p.Blocks {
		if !a.Repair && futile(a.Gains, good, s) {
			a.State, a.Reason = StateRejected, "it is not faster by the margin: given up early"
		}
		a.finite()
		return a
	}
	a.Guards = s.guards(base, cand, searched(history), checks)
	s.settle(&a, n >= p.MaxBlocks)
	a.finite()
	return a
}

// settle decides a challenger that has blocks enough; last says that there will be no more.
func (s *Study) settle(a *Acceptance, last bool) {
	least := math.Log1p(s.Goal.MinGain)
	holds, broken, which := a.Guards.holds()
	reject := func(format string, args ...any) {
		a.State, a.Reason = StateRejected, fmt.Sprintf(format, args...)
	}
	switch why := s.problems(&a.Guards, a.Challenger.Config); {
	case len(why) > 0:
		reject("%s", why[0])
	case broken:
		reject("it misses %s", which)
	case !a.Repair && a.High < least:
		reject("its gain is below the margin of %s", percent(s.Goal.MinGain))
	case !holds && last:
		reject("%s may be missed", which)
	case !a.Repair && a.Low <= least && last:
		reject("a gain of more than %s was not shown", percent(s.Goal.MinGain))
	case holds && (a.Repair || a.Low > least):
		a.State, a.Reason = StateAccepted, "every block rule holds"
		if a.Repair {
			a.Reason = "it holds what the default misses"
		}
	}
}

// finite replaces the bounds of a single block, which has none, by its gain.
func (a *Acceptance) finite() {
	if math.IsInf(a.Low, 0) || math.IsInf(a.High, 0) {
		a.Low, a.High = a.Mean, a.Mean
	}
}

// blockGain is the gain that one block shows.
func (s *Study) blockGain(b block) float64 {
	v := 0.0
	for i := range b.trials {
		x := s.Goal.Score(&b.trials[i].Measurement).Or(0) / 2
		if abba[i] {
			v += x
		} else {
			v -= x
		}
	}
	return v
}

// futile reports whether two blocks or more make a gain of the margin unlikely enough to
// stop: every block is below it, and so is the upper bound over the pairs of parts.
// Giving up early never accepts anything.
func futile(gains []float64, bs []block, s *Study) bool {
	least := math.Log1p(s.Goal.MinGain)
	if len(gains) < 2 {
		return false
	}
	for _, g := range gains {
		if g >= least {
			return false
		}
	}
	var d []float64
	sign := 1.0
	if !s.Goal.Maximise {
		sign = -1
	}
	for _, b := range bs {
		for _, pair := range [2][2]int{{0, 1}, {3, 2}} {
			x, y := b.trials[pair[0]].Blocks, b.trials[pair[1]].Blocks
			for i := range min(len(x), len(y)) {
				if x[i] > 0 && y[i] > 0 {
					d = append(d, sign*math.Log(y[i]/x[i]))
				}
			}
		}
	}
	_, hi, ok := stats.MeanInterval(d, confidence, float64(len(d)))
	return ok && hi < least
}

// searched are the trials before acceptance and certification.
func searched(history []Trial) []Trial {
	for i := range history {
		if r := history[i].Role; r == RoleBlock || r == RoleCertify {
			return history[:i]
		}
	}
	return history
}

// percent is a share as text, such as "2 %".
func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }
