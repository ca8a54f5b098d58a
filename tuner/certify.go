package tuner

import (
	"fmt"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/stats"
)

// Certification is what came of a challenger after clean relaunches, on the held-out
// workload, beside the default. It is the only source of a reported gain.
type Certification struct {
	Challenger Proposal `json:"challenger"`
	State      string   `json:"state"`
	Reason     string   `json:"reason"`
	// Gains is one figure for each arrival order, the logarithm of the ratio to the default
	// under the same order, signed so that more is better. Worst is the least of them; Mean,
	// Low and High their mean with its two-sided 95 % t interval.
	Gains []float64 `json:"gains"`
	Worst float64   `json:"worst"`
	Mean  float64   `json:"mean"`
	Low   float64   `json:"low"`
	High  float64   `json:"high"`
	// Default and Winner are the mean values of the objective, in its own unit.
	Default float64 `json:"default"`
	Winner  float64 `json:"winner"`
	Repair  bool    `json:"repair,omitempty"`
	Guards  Guards  `json:"guards"`
	Void    int     `json:"void,omitempty"`
}

// certifyOrder tells which side comes first in pair p, from 1: the winner in odd ones, the
// default in even ones, so that drift takes from both.
func certifyOrder(p int) [2]bool { return [2]bool{p%2 == 1, p%2 == 0} }

// pair is the two trials of one arrival order so far.
type pair struct {
	trials     []Trial
	order      uint64
	void, dead string
}

func (p *pair) complete() bool { return p.void != "" || p.dead != "" || len(p.trials) == 2 }

// pairs returns the certification pairs of a challenger in order.
func pairs(history []Trial, key string) []pair {
	var out []pair
	n := 0
	for i := range history {
		t := history[i]
		if t.Role != RoleCertify || t.For != key {
			continue
		}
		if t.Pair != n {
			out, n = append(out, pair{order: t.Load.Order}), t.Pair
		}
		p := &out[len(out)-1]
		winner := certifyOrder(t.Pair)[len(p.trials)%2]
		p.trials = append(p.trials, t)
		switch {
		case t.Outcome == OK:
		case t.Outcome == Invalid || !winner:
			p.void = fmt.Sprintf("trial %d: %s", t.N, because(&t))
		default:
			p.dead = fmt.Sprintf("trial %d: %s", t.N, because(&t))
		}
	}
	return out
}

// Certify judges a challenger by its certification trials.
func (s *Study) Certify(challenger Proposal, history []Trial, checks []Check) Certification {
	p := s.Protocol.Resolved()
	c := Certification{Challenger: challenger, State: StateOpen, Reason: "more orders are needed"}
	var base, cand []Trial
	for _, q := range pairs(history, challenger.Config.Key()) {
		switch {
		case q.dead != "":
			c.State, c.Reason = StateRejected, "it did not come back after a clean relaunch: "+q.dead
		case q.void != "":
			c.Void++
		case q.complete():
			d, w := q.trials[0], q.trials[1]
			if certifyOrder(w.Pair)[0] {
				d, w = w, d
			}
			base, cand = append(base, d), append(cand, w)
			c.Gains = append(c.Gains, s.Goal.Score(&w.Measurement).Or(0)-s.Goal.Score(&d.Measurement).Or(0))
		}
	}
	if c.Void > maxVoid && c.State == StateOpen {
		c.State, c.Reason = StateRejected, fmt.Sprintf("%d pairs could not be measured", c.Void)
	}
	n := len(c.Gains)
	if n == 0 {
		return c
	}
	c.Worst, c.Mean = slices.Min(c.Gains), stats.Mean(c.Gains)
	c.Low, c.High = c.Mean, c.Mean
	if lo, hi, ok := stats.MeanInterval(c.Gains, confidence, float64(n)); ok {
		c.Low, c.High = lo, hi
	}
	for i := range base {
		c.Default += base[i].Value.Or(0) / float64(n)
		c.Winner += cand[i].Value.Or(0) / float64(n)
	}
	if n < p.Orders || c.State != StateOpen {
		return c
	}
	for _, b := range s.bounds(base) {
		c.Repair = c.Repair || b.Mean > 0
	}
	c.Guards = s.guards(base, cand, nil, checks)
	s.conclude(&c, cand)
	return c
}

// conclude decides a challenger that has all its orders.
func (s *Study) conclude(c *Certification, cand []Trial) {
	reject := func(format string, args ...any) {
		c.State, c.Reason = StateRejected, fmt.Sprintf(format, args...)
	}
	if why := s.problems(&c.Guards, c.Challenger.Config); len(why) > 0 {
		reject("%s", why[0])
		return
	}
	for i := range cand {
		if !Feasible(&cand[i]) {
			reject("in arrival order %d it misses a constraint", cand[i].Load.Order)
			return
		}
	}
	switch {
	case c.Repair:
		c.State, c.Reason = StateCertified, "it holds what the default misses"
	case c.Worst <= 0:
		reject("in one arrival order it was not better than the default (%s)", percent(math.Expm1(c.Worst)))
	case c.Mean < math.Log1p(s.Goal.MinGain):
		reject("on the held-out workload its gain is below the margin of %s", percent(s.Goal.MinGain))
	default:
		c.State, c.Reason = StateCertified, "every arrival order confirms it"
	}
}
