package offline

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/sim"
)

// Config is one run.
type Config struct {
	Engine   sim.Config // of every replica; the seed is varied by replica
	Replicas int        // 0: 1
	// RoundRobin spreads requests over the replicas in turn. Otherwise a session stays with
	// the replica that its first turn went to, the one with the fewest open requests.
	RoundRobin bool
	Frontend   sim.FrontendCost // zero: the default
	// FrontendSlow multiplies the frontend's cost at an instant; nil means 1.
	FrontendSlow func(at time.Duration) float64
	Network      Network
	Proxy        Proxy
	Client       Client

	Source Source
	// Concurrency is the number of sessions that run at any time; 0: sessions start at their
	// own instants.
	Concurrency int
	Duration    time.Duration // no session or turn starts after it
	Warmup      time.Duration // requests sent before it are warm-up
	Drain       time.Duration // what is open this long after Duration is cancelled; 0: 30 s
	MaxRequests int           // stop sending after so many; 0: no limit

	Sampling Sampling
	Seed     uint64
	// Records keeps one archive record a request, with the instant of every chunk.
	Records bool
	// Ended is called for each request that ended well, in order; nil: nobody wants to know.
	// It costs far less than Records.
	Ended func(Ended)
}

// Ended is what the client saw of one request, in simulated time.
type Ended struct {
	Intended, First, Done time.Duration
	Prompt, Output        int // tokens
}

// Network is the path between client and server.
type Network struct {
	RTT    time.Duration
	Jitter time.Duration // standard deviation of one way, added as a positive delay
}

// Proxy holds streamed tokens back and passes them on together.
type Proxy struct {
	Every time.Duration // how long a response is held; 0: no proxy
}

// Client is the machine that makes the load.
type Client struct {
	MaxConns int           // open requests; 0: no limit
	PerSend  time.Duration // CPU time of a send
	PerToken time.Duration // CPU time of a received token
	Cores    float64       // of the machine; 0: 4
}

// Sampling is the telemetry of the run.
type Sampling struct {
	Every  time.Duration // 0: no samples
	Jitter float64       // share of Every by which a sample is early or late
	// Host and Alter let a scenario shape what is seen: Host adds values to the host sample at
	// an instant; Alter may change or drop (by returning false) any sample.
	Host  func(at time.Duration, values map[string]float64)
	Alter func(at time.Duration, source string, values map[string]float64) bool
}

func (c Config) withDefaults() (Config, error) {
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.Frontend == (sim.FrontendCost{}) {
		c.Frontend = sim.DefaultFrontend
	}
	if c.Drain == 0 {
		c.Drain = 30 * time.Second
	}
	if c.Client.Cores == 0 {
		c.Client.Cores = 4
	}
	switch {
	case c.Source == nil:
		return c, fmt.Errorf("offline run: no source of sessions")
	case c.Duration <= 0 && c.MaxRequests <= 0:
		return c, fmt.Errorf("offline run: give a duration or a number of requests")
	case c.Replicas < 0 || c.Concurrency < 0 || c.MaxRequests < 0 || c.Warmup < 0 || c.Drain < 0 || c.Client.MaxConns < 0 || c.Network.RTT < 0 || c.Network.Jitter < 0:
		return c, fmt.Errorf("offline run: no setting may be negative")
	}
	if c.Duration <= 0 {
		c.Duration = 1 << 62
	}
	return c, nil
}

// delay draws one way through the network.
func (n Network) delay(rng *rand.Rand) time.Duration {
	d := n.RTT / 2
	if n.Jitter > 0 {
		j := rng.NormFloat64() * float64(n.Jitter)
		d += time.Duration(max(j, -float64(d)*0.5))
	}
	return d
}
