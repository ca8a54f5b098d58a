package landscape

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tuner/play"
	"github.com/inferencebench/inferencebench/tuner/prior"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Prior is what somebody would expect of the landscape who has the simulator and the
// server's command line, but neither its constants nor its workload. It is mistaken on
// purpose, by as much as the simulator is about real servers or more:
//
//   - the bandwidth and arithmetic that kernels reach are each off by a factor drawn per
//     landscape from e^±0.2, host and frontend times from e^±0.5, prefill launches from e^±0.4;
//   - the memory that the runtime takes is off by up to 1.5 GB either way;
//   - the lengths of prompts and answers are spread evenly around a mean that is up to 15 %
//     off, instead of following their distribution; the rate is up to 10 % off;
//   - every drafted token is accepted with 0.7;
//   - nothing is known of traps: it expects 4-bit weights and the like to work.
//
// It plays 40 seconds, the truth 75 or more.
func (l *Landscape) Prior(ctx context.Context, workers int) (*prior.Table, error) {
	s := l.Spec
	x := uint64(0)
	for _, c := range s.Name {
		x = x*131 + uint64(c)
	}
	rng := rand.New(rand.NewPCG(x, 0x9170))
	off := func(width float64) float64 { return math.Exp(width * (2*rng.Float64() - 1)) }
	kernel := sim.Kernels{Weights: off(0.2), Matmul: off(0.2), Prefill: off(0.2), KVRead: off(0.2), PerToken: off(0.2)}
	host, front, launch := off(0.5), off(0.5), off(0.4)
	reserved := 1.5e9 * (2*rng.Float64() - 1)
	load := s.load()
	load.Seed, load.Time = 77, 40*time.Second
	if s.Time > 0 {
		load.Time = s.Time / 2
	}
	load.Rate *= off(0.1)
	load.Shape.Input, load.Shape.Output = even(s.Shape.Input, off(0.15)), even(s.Shape.Output, off(0.15))
	if s.Shape.Later != nil {
		load.Shape.Later = even(s.Shape.Later, off(0.15))
	}
	mistaken := func(k *sim.Kernels) {
		k.Weights, k.Matmul, k.Prefill, k.KVRead = min(k.Weights*kernel.Weights, 1), min(k.Matmul*kernel.Matmul, 1), min(k.Prefill*kernel.Prefill, 1), min(k.KVRead*kernel.KVRead, 1)
		k.PerToken *= kernel.PerToken
	}
	return prior.Rank(ctx, prior.Question{
		Space: l.space, Load: load, Workers: workers, Maximise: s.Goal().Maximise, Value: s.value,
		Server: func(a space.Assignment) (play.Server, error) {
			srv, err := s.Server(a)
			if err != nil {
				return srv, err
			}
			e := srv.Engine.Resolved()
			mistaken(&e.GPU.K16)
			mistaken(&e.GPU.K8)
			e.GPU.Reserved += reserved
			e.HostBase, e.HostPerSeq = time.Duration(float64(e.HostBase)*host), time.Duration(float64(e.HostPerSeq)*host)
			e.PrefillLaunch = time.Duration(float64(e.PrefillLaunch) * launch)
			if e.Speculative.Tokens > 0 {
				e.Speculative.Acceptance = 0.7
			}
			return play.Server{Engine: e, Replicas: srv.Replicas, Frontend: srv.Frontend.Times(front)}, nil
		},
		Slack: func(f, def play.Figures) []float64 {
			return s.slack(&Truth{TTFT: f.TTFT, TPOT: f.TPOT, Done: f.Done}, &Truth{TTFT: def.TTFT, TPOT: def.TPOT, Done: def.Done})
		},
	})
}

// even spreads lengths from 0.5 to 1.5 of their mean times a factor.
func even(l offline.Lengths, factor float64) offline.Lengths {
	const n = 2000
	rng := rand.New(rand.NewPCG(5, 6))
	sum := 0
	for range n {
		sum += l(rng)
	}
	mean := factor * float64(sum) / n
	return offline.Between(max(int(0.5*mean), 1), max(int(1.5*mean), 2))
}
