package offline

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/sim"
)

// Turn is one request of a session, as planned.
type Turn struct {
	Prompt int           // new tokens of the user's message
	Output int           // tokens that the model will answer
	Think  time.Duration // between the last reply and this request; unused for the first turn
}

// Session is one conversation, as planned.
type Session struct {
	At     time.Duration // when its first turn is due; unused in a closed loop
	Shared sim.Span      // tokens that other sessions start with too
	Task   string
	Turns  []Turn
}

// Source yields sessions in the order of their instants. It is used by one goroutine.
type Source interface {
	// Next returns the next session, or false when the plan is over.
	Next() (Session, bool)
}

// SourceFunc makes a function a Source.
type SourceFunc func() (Session, bool)

// Next calls f.
func (f SourceFunc) Next() (Session, bool) { return f() }

// Lengths draws token counts.
type Lengths func(rng *rand.Rand) int

// Between draws uniformly from lo to hi, both included.
func Between(lo, hi int) Lengths {
	return func(rng *rand.Rand) int { return lo + rng.IntN(hi-lo+1) }
}

// quantiles draws by piecewise linear inversion in log space of the values at the
// probabilities.
func quantiles(p []float64, v []float64) Lengths {
	logs := make([]float64, len(v))
	for i, x := range v {
		logs[i] = math.Log(x)
	}
	return func(rng *rand.Rand) int {
		u := rng.Float64()
		if u <= p[0] {
			return int(v[0])
		}
		for i := 1; i < len(p); i++ {
			if u <= p[i] {
				f := (u - p[i-1]) / (p[i] - p[i-1])
				return int(math.Exp(logs[i-1] + f*(logs[i]-logs[i-1])))
			}
		}
		return int(v[len(v)-1])
	}
}

// The token quantiles of the public Azure 2023 conversation trace.
var (
	azureP   = []float64{.01, .05, .10, .20, .30, .40, .50, .60, .70, .80, .90, .95, .99, .999}
	azureIn  = []float64{29, 181, 207, 387, 403, 703, 1020, 1071, 1130, 1315, 2734, 4083, 4142, 6179}
	azureOut = []float64{16, 41, 54, 77, 91, 103, 129, 177, 384, 400, 424, 451, 601, 954}
)

// ChatInput and ChatOutput draw the lengths of the Azure 2023 conversation trace, mean
// 1,155 and 211 tokens.
func ChatInput() Lengths { return quantiles(azureP, azureIn) }

// ChatOutput is described at ChatInput.
func ChatOutput() Lengths { return quantiles(azureP, azureOut) }

// Shape is a generated workload.
type Shape struct {
	Task   string
	Rate   float64 // sessions a second; 0 for a closed loop
	CV     float64 // coefficient of variation of the gaps; 0 means 1, Poisson
	Input  Lengths // of the first turn, shared part excluded
	Output Lengths
	// Shared is tokens at the start of every session; Groups is how many different such
	// starts there are, 0 meaning 1.
	Shared, Groups int
	// Turns draws the number of turns; nil means 1. Later turns draw their length from
	// Later, nil meaning Input, and their pause from Think.
	Turns Lengths
	Later Lengths
	Think func(rng *rand.Rand) time.Duration
	Seed  uint64
}

// Chat is the preset of single-turn chat: the lengths above, a system prompt of 200 tokens
// that all share, nearly Poisson arrivals.
func Chat(rate float64, seed uint64) Shape {
	return Shape{Task: "chat", Rate: rate, CV: 1.05, Input: ChatInput(), Output: ChatOutput(), Shared: 200, Seed: seed}
}

// sharedIDs keeps the span ids of shared starts apart from those of sessions.
const sharedIDs = 1 << 40

// Source returns the workload's sessions, without end.
func (s Shape) Source() Source {
	rng := rand.New(rand.NewPCG(s.Seed, 0x50))
	at := 0.0
	shape := 1.0
	if s.CV > 0 {
		shape = 1 / (s.CV * s.CV)
	}
	groups := max(s.Groups, 1)
	var turns []Turn
	return SourceFunc(func() (Session, bool) {
		if s.Rate > 0 {
			at += gamma(rng, shape) / shape / s.Rate
		}
		n := 1
		if s.Turns != nil {
			n = max(s.Turns(rng), 1)
		}
		if cap(turns)-len(turns) < n { // a chunk of turns is one allocation
			turns = make([]Turn, 0, max(256, n))
		}
		from := len(turns)
		for i := range n {
			t := Turn{Prompt: s.Input(rng), Output: max(s.Output(rng), 1)}
			if i > 0 {
				if s.Later != nil {
					t.Prompt = s.Later(rng)
				}
				if s.Think != nil {
					t.Think = s.Think(rng)
				}
			}
			turns = append(turns, t)
		}
		out := Session{At: time.Duration(at * 1e9), Task: s.Task, Turns: turns[from:len(turns):len(turns)]}
		if s.Shared > 0 {
			out.Shared = sim.Span{ID: sharedIDs + uint64(rng.IntN(groups)), Tokens: s.Shared}
		}
		return out, true
	})
}

// gamma draws from the Gamma distribution with that shape and scale 1 (Marsaglia and Tsang;
// below shape 1 by the power of a uniform).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape == 1 {
		return rng.ExpFloat64()
	}
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(rng.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if u := rng.Float64(); math.Log(u) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return boost * d * v
		}
	}
}
