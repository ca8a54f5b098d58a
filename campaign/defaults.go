package campaign

import (
	"time"

	"github.com/inferencebench/inferencebench/evals"
)

// Defaults that a Config starts from.
const (
	DefaultOut         = "runs"
	DefaultEndpoint    = "chat"
	DefaultKeyEnv      = "OPENAI_API_KEY"
	DefaultISL         = "512"
	DefaultOSL         = "128"
	DefaultTurns       = "uniform(1,3)"
	DefaultThink       = "lognormal(500ms,0.6)"
	DefaultEvery       = 10
	DefaultInterval    = Duration(time.Second)
	DefaultConnect     = Duration(10 * time.Second)
	DefaultConcurrency = 8
	DefaultDuration    = Duration(60 * time.Second)
	DefaultDrain       = Duration(30 * time.Second)
	DefaultArrival     = "poisson"
)

// Default returns the campaign against a server that the user names: one phase at a
// modest concurrency.
func Default() *Config {
	c := base()
	c.Name = "run"
	c.Phases = []Phase{{
		Name: "main", Concurrency: DefaultConcurrency, Duration: DefaultDuration,
		Warmup: Warmup{Duration: 5 * time.Second}, Drain: DefaultDrain,
	}}
	return c
}

// Demo returns the built-in campaign against the simulated engine: a closed loop that the
// engine serves with ease, then an open one that it cannot keep up with.
func Demo() *Config {
	c := base()
	c.Name = "demo"
	c.Phases = []Phase{
		{
			Name: "steady", Concurrency: 8, Duration: Duration(12 * time.Second),
			Warmup: Warmup{Duration: 2 * time.Second}, Drain: DefaultDrain,
		},
		{
			Name: "rush", Rate: 8, Arrival: DefaultArrival, Duration: Duration(16 * time.Second),
			Warmup: Warmup{Duration: 2 * time.Second}, Drain: DefaultDrain,
		},
	}
	return c
}

// Eval returns the campaign that sends nothing but scored items, each once.
func Eval() *Config {
	c := base()
	c.Name = "eval"
	c.Checkpoints.Only = true
	c.Phases = []Phase{{Name: "eval", Concurrency: DefaultConcurrency, Drain: DefaultDrain}}
	return c
}

func base() *Config {
	return &Config{
		Seed: 1, SearchPhases: defaultPhases,
		Out: DefaultOut,
		Target: Target{
			Endpoint: DefaultEndpoint, KeyEnv: DefaultKeyEnv,
			Timeouts: Timeouts{Connect: DefaultConnect},
		},
		Workload:    Workload{ISL: DefaultISL, OSL: DefaultOSL, Turns: DefaultTurns, Think: DefaultThink},
		Checkpoints: Checkpoints{Enabled: true, Every: DefaultEvery, Kinds: []string{evals.KindMaths}},
		Monitor:     Monitor{Interval: DefaultInterval, GPU: true},
	}
}
