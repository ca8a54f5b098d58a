// Package tunertest holds a bench with known truths on a virtual clock, and a strategy that
// goes through a list: what tests of a study's protocol need.
package tunertest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Truth is what a configuration does.
type Truth struct {
	// Gain is ln of its value over 100.
	Gain float64
	// HeldOut is added to Gain on the held-out workload.
	HeldOut float64
	// Slack is its true ln(metric/limit) of each constraint.
	Slack []float64
	// Outcome is how every trial of it ends; "" is well.
	Outcome tuner.Outcome
	// Errors are failed requests of each trial.
	Errors map[string]int
	// Wrong is how many of Bench.Items it answers wrongly.
	Wrong int
}

// Bench measures by looking the truth up and adding noise. Measurements depend on the seed,
// the configuration and how many there were before, so that a study that was killed and one
// that was not see the same.
type Bench struct {
	Seed   uint64
	Truths map[string]Truth // by key; a missing one has no gain
	// Noise is the standard deviation of a whole trial in logarithms, and Parts how many
	// parts it reports.
	Noise float64
	Parts int
	// Drift is added to the gain of every trial from trial number After on.
	Drift float64
	After int
	// Items is how many scored items a trial carries.
	Items int
	// StartUp and Each are the times of a start and of a trial of rung 0; each further rung
	// doubles it.
	StartUp, Each time.Duration
	// Stop is called before each measurement with its number, from 1; an error ends the study.
	Stop func(n int) error

	Measured  int // measurements made, those of the journal included
	Launches  int
	Relaunchs int
	Restored  int
	Log       []string // configurations in the order in which they were measured

	running string
	up      bool
}

// Resume implements tuner.Resumer.
func (b *Bench) Resume(history []tuner.Trial) {
	b.Measured = len(history)
	if n := len(history); n > 0 {
		b.running, b.up = history[n-1].Config.Key(), true
	}
}

// Measure implements tuner.Bench.
func (b *Bench) Measure(ctx context.Context, config space.Assignment, load tuner.Load) (tuner.Measurement, error) {
	if err := ctx.Err(); err != nil {
		return tuner.Measurement{}, err
	}
	b.Measured++
	if b.Stop != nil {
		if err := b.Stop(b.Measured); err != nil {
			return tuner.Measurement{}, err
		}
	}
	key := config.Key()
	b.Log = append(b.Log, key)
	truth := b.Truths[key]
	m := tuner.Measurement{Outcome: tuner.OK, Took: b.Each << load.Rung}
	if !b.up || b.running != key {
		b.Launches++
		b.up, b.running = true, key
		m.StartUp = b.StartUp
		m.Took += b.StartUp
	}
	if truth.Outcome != "" && truth.Outcome != tuner.OK {
		m.Outcome, m.Reason = truth.Outcome, fmt.Sprintf("it ends as %s", truth.Outcome)
		return m, nil
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", b.Seed, key, b.Measured)
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	gain := truth.Gain
	if load.HeldOut {
		gain += truth.HeldOut
	}
	if b.After > 0 && b.Measured >= b.After {
		gain += b.Drift
	}
	trial := gain + b.Noise*rng.NormFloat64()
	for range b.Parts {
		m.Blocks = append(m.Blocks, 100*math.Exp(trial+b.Noise*rng.NormFloat64()))
	}
	m.Value = archive.Some(100 * math.Exp(trial))
	for _, s := range truth.Slack {
		m.Slack = append(m.Slack, s+b.Noise*rng.NormFloat64())
	}
	m.Errors = truth.Errors
	for i := range b.Items {
		score := 1.0
		if i < truth.Wrong {
			score = 0
		}
		m.Quality = append(m.Quality, archive.Checkpoint{Kind: "maths", Set: "test/1", Item: fmt.Sprint(i), Prompt: "p", Reply: "r", Score: archive.Some(score)})
	}
	return m, nil
}

// Relaunch implements tuner.Bench.
func (b *Bench) Relaunch(context.Context) error { b.Relaunchs++; b.up = false; return nil }

// Restore implements tuner.Bench.
func (b *Bench) Restore(context.Context) error { b.Restored++; return nil }

// List is a strategy that proposes its configurations in order, at a rung.
type List struct {
	Configs []space.Assignment
	Rung    int
}

// Name is "list".
func (List) Name() string { return "list" }

// Ask proposes what was not measured yet.
func (l List) Ask(_ *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	var out []tuner.Proposal
	for _, c := range l.Configs {
		seen := false
		for i := range history {
			seen = seen || (history[i].Role == tuner.RoleSearch && history[i].Config.Key() == c.Key())
		}
		if !seen && len(out) < n {
			out = append(out, tuner.Proposal{Config: c, Source: "list", Rung: l.Rung})
		}
	}
	return out
}

// ErrKilled is what [KillAt] ends a study with.
var ErrKilled = errors.New("killed")

// KillAt is a Bench.Stop that ends the study before measurement n.
func KillAt(n int) func(int) error {
	return func(at int) error {
		if at == n {
			return ErrKilled
		}
		return nil
	}
}
