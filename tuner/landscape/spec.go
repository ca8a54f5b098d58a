package landscape

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/play"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Objective is what a landscape is tuned for.
type Objective int

// The objectives.
const (
	// Throughput is output tokens a second with a fixed number of users.
	Throughput Objective = iota
	// Goodput is requests a second that meet both limits, at a fixed rate of arrivals.
	Goodput
	// Latency is the mean time of a request, at a fixed rate of arrivals; less is better.
	Latency
)

// Spec describes a landscape.
type Spec struct {
	Name  string
	About string // one sentence: what limits the default
	// Scenario is the kind of traffic: "chat", "documents", "agents" or "batch".
	Scenario string
	// Cause is what an analyst would find, as attribution names it; "" is nothing.
	Cause   string
	GPU     string
	Devices int // GPUs, shared out as replicas of --tensor-parallel-size; 0: 1
	Model   string
	Flags   []string // of every launch

	Shape     offline.Shape // without rate and seed
	Rate      float64       // sessions a second; 0 in a closed loop
	Users     int           // of a closed loop
	Objective Objective
	Time      time.Duration // that is played for the truth; 0: that of package play
	// TTFT and TPOT are limits on the 95th percentiles as multiples of what the default has; 0
	// means no limit. For Goodput they are limits on each request, in seconds.
	TTFT, TPOT float64
	// Longest and Mean are the tokens of the longest and of a mean request under way.
	Longest int
	Mean    float64

	Dims []space.Dim // knobs that the simulator knows
	// Quirks are knobs that it does not know: they act by a table of effects, which follows
	// from the landscape's name, and no prior has an idea of them.
	Quirks []space.Dim
	Traps  []Trap
	// Drift is how much slower the machine becomes at some time during a study, as a share.
	Drift float64
	// Still says that nothing is worth changing.
	Still bool
}

// Trap is what the simulator does not know: an outcome of all assignments with these values.
type Trap struct {
	// When lists the values of knobs that all must hold; "" is unset.
	When    map[string][]string
	Outcome tuner.Outcome
	Reason  string
}

func (t *Trap) springs(a space.Assignment) bool {
	for k, values := range t.When {
		if !slices.Contains(values, a[k]) {
			return false
		}
	}
	return true
}

// Goal is the objective as a study states it.
func (s *Spec) Goal() tuner.Goal {
	g := tuner.Goal{Maximise: true, MinGain: 0.02}
	switch s.Objective {
	case Throughput:
		g.Metric = "output_throughput"
	case Goodput:
		g.Metric = "goodput"
	case Latency:
		g.Metric, g.Maximise = "e2e_mean", false
	}
	return g
}

// args is the launch command of an assignment, quirks left out.
func (s *Spec) args(a space.Assignment) []string {
	args := append([]string{s.Model, "--sim-gpu=" + s.GPU}, s.Flags...)
	for _, d := range s.Dims {
		if v, ok := a[d.Name]; ok {
			args = append(args, d.Name+"="+v)
		}
	}
	return args
}

// Server is what an assignment launches, or why it would be refused.
func (s *Spec) Server(a space.Assignment) (play.Server, error) {
	l, err := sim.ParseFlags(s.args(a))
	if err != nil {
		return play.Server{}, err
	}
	out := play.Server{Engine: l.Config, Replicas: l.Replicas, Frontend: sim.DefaultFrontend.Times(1 / float64(l.APIServers))}
	if s.Devices > 0 {
		tp := max(l.Config.TensorParallel, 1)
		if s.Devices%tp != 0 {
			return play.Server{}, fmt.Errorf("--tensor-parallel-size %d: %d GPUs cannot be shared out", tp, s.Devices)
		}
		out.Replicas = s.Devices / tp
	}
	return out, nil
}

// Same identifies what the simulator would run: it is equal for assignments that differ in
// quirks only.
func (s *Spec) Same(a space.Assignment) string { return strings.Join(s.args(a), " ") }

// Space returns the knobs with what arithmetic rules out, as a study would see them: the
// sums of the memory are believed within five per cent of it.
func (s *Spec) Space() *space.Space {
	sp := &space.Space{Dims: slices.Concat(s.Dims, s.Quirks)}
	if vllm, ok := engines.Lookup("vllm"); ok {
		for i := range sp.Dims {
			at := slices.IndexFunc(vllm.Knobs, func(k engines.Knob) bool { return k.Name == sp.Dims[i].Name })
			if at >= 0 {
				sp.Dims[i].Relieves = vllm.Knobs[at].Relieves
			}
		}
	}
	sp.Constraints = []space.Constraint{
		space.AtLeast(sp.Value, "--max-num-batched-tokens", "--max-num-seqs"),
		space.KVBudget(space.Budget{
			LongestRequest: s.Longest, MeanRequest: s.Mean, Running: s.running(), Margin: 0.05,
			Config: s.engines(),
		}),
	}
	return sp
}

// engines returns what assignments launch, and remembers it: most differ in quirks only.
func (s *Spec) engines() func(space.Assignment) (sim.Config, error) {
	type launched struct {
		engine sim.Config
		err    error
	}
	var mu sync.Mutex
	known := map[string]launched{}
	return func(a space.Assignment) (sim.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		k := s.Same(a)
		l, ok := known[k]
		if !ok {
			srv, err := s.Server(a)
			l = launched{srv.Engine, err}
			known[k] = l
		}
		return l.engine, l.err
	}
}

// running is how many requests are surely under way at once.
func (s *Spec) running() float64 { return min(float64(s.Users), 8) }

// The virtual lengths of the trials, by rung, and of a part.
var rungs = []time.Duration{30 * time.Second, 90 * time.Second, 180 * time.Second, 360 * time.Second}

// Part is the length of one of the parts that a trial is divided into.
const Part = 15 * time.Second

// TrialTime is how long a trial measures at a rung, start-up not included.
func TrialTime(rung int) time.Duration { return rungs[min(max(rung, 0), len(rungs)-1)] }
