package tuner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// Study is the question: what to optimise, within which limits, by which rules. Equal
// studies with equal strategies and equal measurements come to equal results.
type Study struct {
	Name string `json:"name"`
	// Seed drives every random choice of the search.
	Seed uint64 `json:"seed"`
	Goal Goal   `json:"goal"`
	// Constraints are the objectives that a configuration must hold, as the user wrote them,
	// in the order of Measurement.Slack.
	Constraints []string `json:"constraints,omitempty"`
	Budget      Budget   `json:"budget"`
	// USDHour is what the machine costs in US dollars an hour, all devices together; 0 is
	// unknown.
	USDHour  float64  `json:"usd_hour,omitempty"`
	Protocol Protocol `json:"protocol"`
	// Default is the configuration that every other is held against: the server as it is.
	Default space.Assignment `json:"default,omitempty"`
	// QualityKnobs may change the answers. A configuration that sets one is accepted only
	// where the items show that quality did not fall.
	QualityKnobs []string `json:"quality_knobs,omitempty"`
	// About identifies what else the measurements depend on, such as the hash of the frozen
	// workload and the launch command.
	About map[string]string `json:"about,omitempty"`
}

// Budget bounds a study; a zero field is no limit.
type Budget struct {
	// Time is the sum of Measurement.Took over all trials.
	Time time.Duration `json:"time_ns,omitempty"`
	// Trials counts every measurement, those of acceptance and certification included.
	Trials int `json:"trials,omitempty"`
	// USD is Time in money, by Study.USDHour.
	USD float64 `json:"usd,omitempty"`
}

// Protocol is the rules of a study. Zero fields take the defaults of [Protocol.Resolved].
type Protocol struct {
	// Rung is the fidelity of a whole search trial: a result counts as best so far from there.
	Rung int `json:"rung"`
	// DefaultRungs are the fidelities at which the default is measured first.
	DefaultRungs []int `json:"default_rungs"`
	// Remeasure is after how many search trials the best so far is measured again.
	Remeasure int `json:"remeasure"`
	// BlockRung and CertifyRung are the fidelities of acceptance and of certification.
	BlockRung   int `json:"block_rung"`
	CertifyRung int `json:"certify_rung"`
	// Blocks is how many ABBA blocks an acceptance needs at least, MaxBlocks at most.
	Blocks    int `json:"blocks"`
	MaxBlocks int `json:"max_blocks"`
	// Orders is in how many arrival orders a winner is certified.
	Orders int `json:"orders"`
	// Candidates is how many of the search's best may be tried, one after the other.
	Candidates int `json:"candidates"`
	// QualityMargin is the loss of accuracy that does not matter; 0.02 is 2 points.
	QualityMargin float64 `json:"quality_margin"`
	// Simplify measures the best candidate without each of its knobs before its acceptance, and
	// goes on without those that are not missed.
	Simplify bool `json:"simplify,omitempty"`
	// Breaker is after how many crashes in a row a value of a knob is left alone.
	Breaker int `json:"breaker"`
}

// Defaults of a Protocol.
const (
	DefaultRung          = 1
	DefaultRemeasure     = 8
	DefaultBlocks        = 3
	DefaultMaxBlocks     = 6
	DefaultOrders        = 3
	DefaultCandidates    = 3
	DefaultQualityMargin = 0.02
	DefaultBreaker       = 2
	DefaultMinGain       = 0.02
)

// Resolved returns the protocol with every default filled in. Rung 0 cannot be asked for
// where a whole trial is meant: it is a glance.
func (p Protocol) Resolved() Protocol {
	or := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	or(&p.Rung, DefaultRung)
	or(&p.BlockRung, p.Rung)
	or(&p.CertifyRung, p.BlockRung)
	or(&p.Remeasure, DefaultRemeasure)
	or(&p.Blocks, DefaultBlocks)
	or(&p.MaxBlocks, max(DefaultMaxBlocks, p.Blocks))
	or(&p.Orders, DefaultOrders)
	or(&p.Candidates, DefaultCandidates)
	or(&p.Breaker, DefaultBreaker)
	if p.QualityMargin == 0 {
		p.QualityMargin = DefaultQualityMargin
	}
	if len(p.DefaultRungs) == 0 {
		p.DefaultRungs = []int{p.Rung}
	}
	return p
}

// Validate reports everything that makes the study impossible, joined.
func (s *Study) Validate() error {
	var errs []error
	bad := func(wrong bool, format string, a ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	p := s.Protocol.Resolved()
	bad(s.Goal.Metric == "", "goal: no metric to optimise")
	bad(s.Goal.MinGain < 0 || s.Goal.MinGain >= 1, "goal: a smallest gain of %g is not between 0 and 1 (0.02 is 2 %%)", s.Goal.MinGain)
	bad(s.Budget.Time < 0 || s.Budget.Trials < 0 || s.Budget.USD < 0, "budget: less than nothing")
	bad(s.Budget == Budget{}, "budget: give a time, a number of trials or an amount of money")
	bad(s.Budget.USD > 0 && s.USDHour <= 0, "budget: money needs to know what an hour costs (--price)")
	bad(p.Blocks < 3, "protocol: %d ABBA blocks prove nothing; use 3 or more", p.Blocks)
	bad(p.MaxBlocks < p.Blocks, "protocol: at most %d blocks are fewer than at least %d", p.MaxBlocks, p.Blocks)
	bad(p.Orders < 1, "protocol: certification needs an arrival order")
	bad(p.Rung < 0 || p.BlockRung < 0 || p.CertifyRung < 0, "protocol: a rung below 0")
	bad(p.QualityMargin < 0 || p.QualityMargin >= 1, "protocol: a quality margin of %g is not between 0 and 1", p.QualityMargin)
	return errors.Join(errs...)
}

// Hash identifies the study: two with the same hash ask the same question.
func (s *Study) Hash() (string, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("hash the study: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
