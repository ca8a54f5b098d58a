package tuner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// Step is what a study measures next.
type Step struct {
	Role     string
	Proposal Proposal
	Load     Load
	For      string
	Pair     int
	// Relaunch asks for a fresh server before the measurement.
	Relaunch bool
}

// Ranker is a strategy that orders the configurations of a history by how much it would bet
// on them, best first. Without it they come in order of their scores.
type Ranker interface {
	Rank(history []Trial) []Proposal
}

// asks is how often a strategy is asked again when everything that it proposed may not be
// launched; batch is how many proposals it is asked for at once.
const (
	asks  = 8
	batch = 4
)

const budgetEnded = "the budget ended before a candidate was decided"

// planner decides. Everything that it decides is a function of the study, the strategy and
// the history; what it remembers only saves computing the same again.
type planner struct {
	s        *Study
	p        Protocol
	strategy Strategy
	checks   []Check
	allow    func(space.Assignment) error

	ranked   map[int][]Proposal // by the number of search trials
	accepted map[string]judged[Acceptance]
	proven   map[string]judged[Certification]
}

// judged is a judgement and the length of the history that it was made at.
type judged[T any] struct {
	at int
	v  T
}

func newPlanner(s *Study, strategy Strategy, o Options) *planner {
	return &planner{
		s: s, p: s.Protocol.Resolved(), strategy: strategy, checks: o.Checks, allow: o.Allow,
		ranked: map[int][]Proposal{}, accepted: map[string]judged[Acceptance]{}, proven: map[string]judged[Certification]{},
	}
}

// next returns what to measure, or nil and why there is nothing left to do.
func (p *planner) next(h []Trial) (*Step, string) {
	if step, why := p.baseline(h); step != nil || why != "" {
		return step, why
	}
	why := "every candidate was decided"
	if len(searched(h)) == len(h) {
		step, stop := p.search(h)
		if step == nil {
			step = p.simplify(h)
		}
		if step != nil {
			return step, ""
		}
		why = stop
	}
	for _, c := range p.candidates(h) {
		a := p.accept(c, h)
		switch a.State {
		case StateOpen:
			if step := p.block(c, h); step != nil {
				return step, ""
			}
			return nil, budgetEnded
		case StateRejected:
			continue
		}
		cert := p.certify(c, h)
		if cert.State == StateOpen {
			return p.certification(c, h), ""
		}
		if cert.State == StateCertified {
			return nil, "a configuration was certified"
		}
	}
	return nil, why
}

// baseline measures the default first.
func (p *planner) baseline(h []Trial) (*Step, string) {
	tried, invalid := map[int]bool{}, 0
	for i := range h {
		if t := &h[i]; t.Role == RoleDefault {
			switch {
			case t.Outcome == Invalid && invalid < maxVoid:
				invalid++
			case t.Outcome != OK && t.Load.Rung == p.p.DefaultRungs[0]:
				return nil, "the default could not be measured: " + because(t)
			default:
				tried[t.Load.Rung] = true
			}
		}
	}
	for _, r := range p.p.DefaultRungs {
		if !tried[r] {
			return &Step{
				Role: RoleDefault, Load: Load{Rung: r},
				Proposal: Proposal{Config: p.s.Default, Source: "default", Rung: r},
			}, ""
		}
	}
	return nil, ""
}

// search asks the strategy while the budget has room for one more trial and for the proof of
// what it may find.
func (p *planner) search(h []Trial) (*Step, string) {
	if slices.ContainsFunc(h, func(t Trial) bool { return t.Source == SourceSimplify }) {
		return nil, "the search had ended, and its best was simplified"
	}
	need := estimate(h, p.p.Rung, 1, 1).plus(p.s.proof(h))
	if at, ok := p.s.Best(h); ok && p.p.Simplify && len(h[at].Config) > 1 {
		n := len(h[at].Config) + 1
		need = need.plus(estimate(h, p.p.Rung, n, n))
	}
	if !p.s.left(h, need) {
		return nil, "the budget left is what proving a candidate takes"
	}
	since := 0
	for i := len(h) - 1; i >= 0 && h[i].Role != RoleIncumbent; i-- {
		if h[i].Role == RoleSearch {
			since++
		}
	}
	if since >= p.p.Remeasure {
		if at, ok := p.s.Best(h); ok {
			again := h[at].Proposal
			return &Step{Role: RoleIncumbent, Proposal: again, Load: h[at].Load}, ""
		}
	}
	for try := range asks {
		rng := rand.New(rand.NewPCG(p.s.Seed, uint64(len(h))<<8|uint64(try)))
		all := p.strategy.Ask(rng, h, batch)
		if len(all) == 0 {
			return nil, "the search found nothing else that is worth a trial"
		}
		for _, q := range all {
			if q, ok := p.provable(h, q); ok && p.launchable(h, &q) == nil {
				return &Step{Role: RoleSearch, Proposal: q, Load: Load{Rung: q.Rung}}, ""
			}
		}
	}
	why := "nothing that the search proposes may be launched"
	if alone := p.leftAlone(h); alone != "" {
		why += "; " + alone
	}
	return nil, why
}

// launchable returns why a proposal must not be measured, or nil.
func (p *planner) launchable(h []Trial, q *Proposal) error {
	key := q.Config.Key()
	for i := range h {
		if t := &h[i]; t.Role == RoleSearch && t.Load.Rung == q.Rung && t.Config.Key() == key {
			return fmt.Errorf("measured already, in trial %d", t.N)
		}
	}
	if v, tripped := Tripped(h, q.Config, p.p.Breaker); tripped {
		return fmt.Errorf("%s crashed %d times in a row", v, p.p.Breaker)
	}
	if p.allow != nil {
		return p.allow(q.Config)
	}
	return nil
}

// candidates are the best of the search, in the order in which they are tried: the best
// without the knobs that it does not need first.
func (p *planner) candidates(h []Trial) []Proposal {
	all := p.rank(h)
	if best, ok := p.simplest(h); ok {
		all = append([]Proposal{best}, all...)
	}
	var out []Proposal
	for _, c := range all {
		same := func(q Proposal) bool { return q.Config.Key() == c.Config.Key() }
		if !slices.ContainsFunc(out, same) && len(out) < p.p.Candidates {
			out = append(out, c)
		}
	}
	return out
}

// rank orders the configurations that the search measured, best first.
func (p *planner) rank(h []Trial) []Proposal {
	s := searched(h)
	if all, ok := p.ranked[len(s)]; ok {
		return all
	}
	var all []Proposal
	if r, ok := p.strategy.(Ranker); ok {
		all = r.Rank(s)
	} else {
		all = p.s.byScore(s)
	}
	all = slices.DeleteFunc(all, func(q Proposal) bool { return q.Config.Key() == p.s.Default.Key() })
	p.ranked[len(s)] = all
	return all
}

// byScore orders the feasible whole trials by their score, drift corrected, and keeps those
// that look better than the default; all of them where the default misses a constraint.
func (s *Study) byScore(h []Trial) []Proposal {
	offsets, _ := Drift(s.Goal, h)
	rung := s.Protocol.Resolved().Rung
	type scored struct {
		p Proposal
		v float64
	}
	var all []scored
	least := math.Inf(-1)
	for i := range h {
		t := &h[i]
		v, ok := s.Goal.Score(&t.Measurement).Get()
		if !ok || t.Load.Rung < rung || !Feasible(t) {
			continue
		}
		if t.Role == RoleDefault {
			least = max(least, v-offsets[i])
		}
		if t.Role == RoleSearch {
			all = append(all, scored{t.Proposal, v - offsets[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.v > b.v:
			return -1
		case a.v < b.v:
			return 1
		}
		return 0
	})
	var out []Proposal
	for _, x := range all {
		if x.v > least {
			out = append(out, x.p)
		}
	}
	return out
}

func (p *planner) accept(c Proposal, h []Trial) Acceptance {
	key := c.Config.Key()
	at := lastOf(h, RoleBlock, key)
	if j, ok := p.accepted[key]; ok && j.at == at {
		return j.v
	}
	a := p.s.Accept(c, h[:max(at, len(searched(h)))], p.checks)
	p.accepted[key] = judged[Acceptance]{at, a}
	return a
}

func (p *planner) certify(c Proposal, h []Trial) Certification {
	key := c.Config.Key()
	at := lastOf(h, RoleCertify, key)
	if j, ok := p.proven[key]; ok && j.at == at {
		return j.v
	}
	v := p.s.Certify(c, h, p.checks)
	p.proven[key] = judged[Certification]{at, v}
	return v
}

// lastOf is one more than the place of the last trial of a role about a challenger; 0 where
// there is none.
func lastOf(h []Trial, role, key string) int {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].Role == role && h[i].For == key {
			return i + 1
		}
	}
	return 0
}

// block is the next trial of an acceptance, or nil where the budget does not allow it.
func (p *planner) block(c Proposal, h []Trial) *Step {
	bs := blocks(h, c.Config.Key())
	need := p.s.proof(h)
	if len(bs) > 0 {
		need = estimate(h, p.p.BlockRung, 4, 2).plus(p.s.certification(h))
	}
	at, n := len(bs), 0
	if at > 0 && !bs[at-1].complete() {
		n = len(bs[at-1].trials)
	} else {
		at++
		if !p.s.left(h, need) {
			return nil
		}
	}
	return p.side(Step{Role: RoleBlock, Load: Load{Rung: p.p.BlockRung}, For: c.Config.Key(), Pair: at}, c, abba[n])
}

// certification is the next trial of a certification. It may overrun the budget: it was
// set aside before, and an accepted challenger is worth the rest.
func (p *planner) certification(c Proposal, h []Trial) *Step {
	ps := pairs(h, c.Config.Key())
	at, n, good := len(ps), 0, 0
	for i := range ps {
		if ps[i].complete() && ps[i].void == "" {
			good++
		}
	}
	if at > 0 && !ps[at-1].complete() {
		n = len(ps[at-1].trials)
	} else {
		at++
	}
	load := Load{HeldOut: true, Order: uint64(good + 1), Rung: p.p.CertifyRung}
	step := p.side(Step{Role: RoleCertify, Load: load, For: c.Config.Key(), Pair: at}, c, certifyOrder(at)[n])
	last := &h[len(h)-1]
	step.Relaunch = last.Role != RoleCertify || last.Config.Key() != step.Proposal.Config.Key()
	return step
}

// side fills in whose turn it is.
func (p *planner) side(step Step, c Proposal, challenger bool) *Step {
	if challenger {
		step.Proposal = c
	} else {
		step.Proposal = Proposal{Config: p.s.Default, Source: "default"}
	}
	step.Proposal.Rung = step.Load.Rung
	return &step
}
