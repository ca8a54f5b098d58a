package faults

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/sim/server"
)

// Live is a condition ready to be met over HTTP: a server in that condition, the traffic
// that brings it out, and the truth. What lies in the client (F17, F18) is for whoever
// makes the load to set up.
type Live struct {
	Server      server.Config
	Truth       Truth
	Sessions    offline.Source // what to send, with lengths and pauses; without end
	Rate        float64        // sessions a second; 0 in a closed loop
	Concurrency int            // of a closed loop; 0 otherwise
	MaxConns    int            // open connections that the client allows itself; 0: no limit
	ClientCores float64        // processor cores that the client allows itself; 0: no limit
	Duration    time.Duration
}

// Prepare sets a condition up for HTTP. The windows of timed conditions count from the
// server's start.
func Prepare(ctx context.Context, id string, opt Options) (*Live, error) {
	cond, err := Lookup(id)
	if err != nil {
		return nil, err
	}
	s, err := prepare(ctx, cond, nil, opt)
	if err != nil {
		return nil, fmt.Errorf("fault %s: %w", cond.ID, err)
	}
	l := &Live{
		Server: server.Config{
			Sim: s.run.Engine, Frontend: s.run.Frontend, FrontendSlow: s.run.FrontendSlow, Replicas: s.run.Replicas, RoundRobin: s.run.RoundRobin,
			RTT: s.run.Network.RTT, Jitter: s.run.Network.Jitter, Hold: s.run.Proxy.Every,
		},
		Truth: truth(cond, s, opt), Sessions: s.run.Source, Rate: s.shape.Rate, Concurrency: s.run.Concurrency, Duration: s.run.Duration,
		MaxConns: s.run.Client.MaxConns,
	}
	if s.run.Client.PerToken > 0 {
		l.ClientCores = s.run.Client.Cores / 2
	}
	return l, nil
}

// truth is the label of a scenario.
func truth(cond Condition, s *scenario, opt Options) Truth {
	return Truth{
		Condition: cond.ID, Name: cond.Name, Cause: cond.Cause, Accept: append(slices.Clone(cond.Accept), s.accept...), Secondary: cond.Secondary, Chain: cond.Chain, Signals: cond.Signals,
		Severity: opt.Severity.String(), Seed: opt.Seed, Knob: s.knob, From: offline.Instant(s.from), To: offline.Instant(s.to),
		Distract: opt.Distract, Withhold: opt.Withhold, TTFT: s.obj.TTFT, TPOT: s.obj.TPOT, RateAsked: s.shape.Rate, Concurrent: s.run.Concurrency,
	}
}
