package tuner

import (
	"fmt"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// Decision is the answer of a study.
type Decision string

// The decisions.
const (
	Change      Decision = "change"      // a configuration was certified
	Keep        Decision = "keep"        // nothing cleared the margin: leave the default
	NoBaseline  Decision = "no_baseline" // the default itself could not be measured
	Interrupted Decision = "interrupted" // not finished; the journal goes on from here
)

// Result is what a study found.
type Result struct {
	Decision Decision `json:"decision"`
	Reason   string   `json:"reason"` // one sentence
	// Config is what to run: the certified configuration, or the default.
	Config space.Assignment `json:"config"`
	// Certified is the certification of Config; nil unless the decision is to change. Gains
	// are reported from here only.
	Certified *Certification `json:"certified,omitempty"`
	// Candidates are the challengers that went into acceptance, in order, and
	// Certifications those of them that came as far.
	Candidates     []Acceptance    `json:"candidates,omitempty"`
	Certifications []Certification `json:"certifications,omitempty"`
	// LeftAlone is one sentence about knobs that were not tried, since nothing that this study
	// measures could prove them; "" where there are none.
	LeftAlone string `json:"left_alone,omitempty"`
	// Trials is the whole history.
	Trials []Trial `json:"-"`
	// Shifts are the changes of the machine that re-measured incumbents showed.
	Shifts []Shift       `json:"shifts,omitempty"`
	Spent  time.Duration `json:"spent_ns"`
	// USD is Spent in money; 0 where the price is not known.
	USD float64 `json:"usd,omitempty"`
}

// Gain is the certified gain that a study reports: the worst of the arrival orders, as a
// share, and the 95 % interval of their mean. It is false unless the decision is to change.
// A gain of 0.1 is 1.1 times the default where the goal is maximised, and the 1.1th part of it
// where it is minimised.
func (r *Result) Gain() (worst float64, interval Interval, ok bool) {
	if r.Certified == nil {
		return 0, Interval{}, false
	}
	c := r.Certified
	return math.Expm1(c.Worst), Interval{math.Expm1(c.Low), math.Expm1(c.High)}, true
}

// Judge says what a history means: the result of a study that stands there. It is what Run
// returns at the end, and can be asked of a journal at any time.
func Judge(s Study, strategy Strategy, history []Trial, o Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p := newPlanner(&s, strategy, o)
	step, why := p.next(history)
	res := p.result(history, why)
	if step != nil {
		res.Decision, res.Reason = Interrupted, "the study is not finished"
	}
	return res, nil
}

// result sums a history up.
func (p *planner) result(h []Trial, why string) *Result {
	r := &Result{Decision: Keep, Reason: why, Config: p.s.Default, Trials: h, Spent: Spent(h)}
	r.USD = r.Spent.Hours() * p.s.USDHour
	_, r.Shifts = Drift(p.s.Goal, h)
	if step, lost := p.baseline(h); step != nil || lost != "" {
		r.Decision = NoBaseline
		return r
	}
	r.LeftAlone = p.leftAlone(h)
	if len(searched(h)) == len(h) {
		return r
	}
	for _, c := range p.candidates(h) {
		a := p.accept(c, h)
		if len(a.Gains) == 0 && a.State == StateOpen {
			continue // not begun
		}
		r.Candidates = append(r.Candidates, a)
		if a.State != StateAccepted {
			continue
		}
		cert := p.certify(c, h)
		if len(cert.Gains) > 0 || cert.State != StateOpen {
			r.Certifications = append(r.Certifications, cert)
		}
		if cert.State == StateCertified {
			r.Decision, r.Config, r.Certified = Change, c.Config, &cert
			r.Reason = cert.Reason
			return r
		}
	}
	if n := len(r.Candidates); n > 0 && why != budgetEnded {
		r.Reason = fmt.Sprintf("none of %d candidates was proved better; of the best: %s", n, r.why(r.Candidates[0]))
	}
	return r
}

// why is the reason that a candidate was not certified for.
func (r *Result) why(a Acceptance) string {
	for i := range r.Certifications {
		if c := &r.Certifications[i]; c.Challenger.Config.Key() == a.Challenger.Config.Key() {
			return c.Reason
		}
	}
	return a.Reason
}
