package landscape

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// The standard deviations of the noise: of the workload, of what it does to one
// configuration more than to another and of the machine, each in a part of a trial; of a
// launch; of the difference that the held-out workload makes to a configuration; of a brief
// trial's bias; of a latency percentile of a trial of 90 seconds.
const (
	workloadSD = 0.05
	crossSD    = 0.016
	machineSD  = 0.014
	launchSD   = 0.006
	heldOutSD  = 0.008
	briefSD    = 0.015
	latencySD  = 0.03
)

// teardown is the time that stopping a server takes.
const teardown = 5 * time.Second

// Bench measures the configurations of a landscape on a virtual clock. It implements
// tuner.Bench and is not safe for concurrent use.
type Bench struct {
	land  *Landscape
	seed  uint64
	rng   *rand.Rand
	now   time.Duration
	up    bool
	key   string // of the running configuration
	start float64
	turn  time.Duration // when the machine becomes slower
}

// Bench returns a bench whose noise the seed chooses.
func (l *Landscape) Bench(seed uint64) *Bench {
	rng := rand.New(rand.NewPCG(seed, 0xbe7c4))
	return &Bench{land: l, seed: seed, rng: rng, turn: time.Duration((0.2 + 0.6*rng.Float64()) * float64(2*time.Hour))}
}

// Elapsed is the virtual time since the study began.
func (b *Bench) Elapsed() time.Duration { return b.now }

// Measure implements tuner.Bench.
func (b *Bench) Measure(ctx context.Context, config space.Assignment, load tuner.Load) (tuner.Measurement, error) {
	if err := ctx.Err(); err != nil {
		return tuner.Measurement{}, fmt.Errorf("measure: %w", context.Cause(ctx))
	}
	from := b.now
	t := b.land.Truth(config)
	m := tuner.Measurement{Outcome: t.Outcome, Reason: t.Reason}
	if t.Outcome == "" {
		m.Outcome, m.Reason = tuner.StartFailure, "arithmetic rules this configuration out"
	}
	key := b.land.Spec.Same(config) + "|" + config.Key()
	if !b.up || b.key != key {
		if b.up {
			b.now += teardown
		}
		b.up, b.key = true, key
		b.start = launchSD * b.rng.NormFloat64()
		m.StartUp = time.Duration(float64(t.StartUp) * math.Exp(0.05*b.rng.NormFloat64()))
		b.now += m.StartUp
	}
	switch m.Outcome {
	case tuner.OK:
		b.measure(&m, t, key, load)
	case tuner.QualityFail: // known only after the answers were scored
		b.now += TrialTime(max(load.Rung, 0))
	case tuner.Crash:
		b.now += 20 * time.Second
		b.up = false
	default:
		b.up = false
	}
	m.Took = b.now - from
	return m, nil
}

func (b *Bench) measure(m *tuner.Measurement, t Truth, key string, load tuner.Load) {
	spec := b.land.Spec
	long := TrialTime(load.Rung)
	parts := int(long / Part)
	sign := 1.0
	if !spec.Goal().Maximise {
		sign = -1
	}
	better := b.start
	if load.HeldOut {
		better += heldOutSD * normalOf(key, "held out")
	}
	if load.Rung == 0 {
		better += briefSD * normalOf(key, "brief")
	}
	sum, mean := 0.0, 0.0
	for i := range parts {
		e := better + machineSD*b.rng.NormFloat64() +
			workloadSD*normalOf(spec.Name, "workload", load.HeldOut, load.Order, i) +
			crossSD*normalOf(key, "cross", load.HeldOut, load.Order, i)
		if b.now+time.Duration(i)*Part > b.turn {
			e += math.Log1p(-spec.Drift)
		}
		v := t.Value * math.Exp(sign*e)
		m.Blocks = append(m.Blocks, v)
		sum += v
		mean += e
	}
	m.Value = archive.Some(sum / float64(parts))
	mean /= float64(parts)
	sd := latencySD * math.Sqrt(float64(TrialTime(1))/float64(long))
	for j, s := range spec.slack(&t, &b.land.def) {
		if j < spec.percentiles() { // whether requests end at all is no matter of luck
			shared := normalOf(spec.Name, "latency", load.HeldOut, load.Order, j) * latencySD
			s += shared*0.5 + sd*b.rng.NormFloat64() - 0.3*mean
		}
		m.Slack = append(m.Slack, s)
	}
	m.Metrics = map[string]float64{"ttft_p95_s": t.TTFT, "tpot_p95_s": t.TPOT}
	b.now += long
}

// Relaunch implements tuner.Bench.
func (b *Bench) Relaunch(context.Context) error {
	if b.up {
		b.now += teardown
	}
	b.up = false
	return nil
}

// Restore implements tuner.Bench: it starts the default again.
func (b *Bench) Restore(context.Context) error {
	b.now += teardown + b.land.def.StartUp
	b.up, b.key = true, b.land.Spec.Same(nil)+"|"
	return nil
}

// normalOf is a standard normal number that follows from its arguments.
func normalOf(parts ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, parts...)
	rng := rand.New(rand.NewPCG(mix(h.Sum64()), 0x5eed))
	return rng.NormFloat64()
}

// mix is the finaliser of SplitMix64: equal bits in, unlike bits out.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
