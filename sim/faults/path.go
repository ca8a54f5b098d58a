package faults

import (
	"time"

	"github.com/inferencebench/inferencebench/sim/offline"
)

// pathConditions are made on the way between client and engine, or in the client.
func pathConditions() []Condition {
	return []Condition{
		{ID: "F09", Name: "API server and tokeniser", Cause: "frontend", Accept: []string{"host"}, Secondary: []string{"host"}, Timed: true,
			Chain:   []string{"more CPU time a streamed token", "the API server's thread is saturated", "tokens wait in it after the engine made them", "the client sees more latency than the engine does"},
			Signals: []string{"ttft_sum", "itl_sum"},
			build: func(s *scenario) error {
				if err := s.at(0.5); err != nil {
					return err
				}
				m, err := s.measure()
				if err != nil {
					return err
				}
				k := pick(s.sev, 0.80, 0.90, 0.97) / m.frontend
				s.slowFE = append(s.slowFE, func(time.Duration) float64 { return k })
				s.knob = "CPU time of the frontend multiplied"
				return nil
			}},
		{ID: "F15", Name: "network latency and jitter", Cause: "network",
			Chain:   []string{"a long round trip", "a constant offset on the first token", "the engine's own latencies unchanged"},
			Signals: []string{"ttft_sum", "t.send", "t.first"},
			build: func(s *scenario) error {
				ms := time.Millisecond
				s.run.Network = offline.Network{RTT: pick(s.sev, 80*ms, 160*ms, 300*ms), Jitter: pick(s.sev, 5*ms, 10*ms, 20*ms)}
				s.knob = "round-trip time"
				// The load of the server as such: the path does not change what it can do.
				path := s.run.Network
				s.run.Network = offline.Network{}
				err := s.at(0.4)
				s.run.Network = path
				return err
			}},
		{ID: "F16", Name: "proxy buffers the stream", Cause: "network", Accept: []string{"frontend"}, Secondary: []string{"frontend"},
			Chain:   []string{"a proxy holds events back", "several tokens a chunk, in bursts", "gaps between chunks long, time a token unchanged"},
			Signals: []string{"chunks.t", "usage.completion"},
			build: func(s *scenario) error {
				if err := s.at(0.4); err != nil {
					return err
				}
				ms := time.Millisecond
				s.run.Proxy.Every = pick(s.sev, 80*ms, 150*ms, 300*ms)
				s.knob = "proxy hold time"
				return nil
			}},
		{ID: "F17", Name: "client short of CPU", Cause: "client",
			Chain:   []string{"reading a token costs the client more", "its one core is saturated", "sends and stamps are late", "latency grows without the engine seeing any"},
			Signals: []string{"cpu_cores", "t.int", "t.send"},
			build: func(s *scenario) error {
				if err := s.at(0.5); err != nil {
					return err
				}
				m, err := s.measure()
				if err != nil {
					return err
				}
				cost := pick(s.sev, 0.93, 1.0, 1.1) / (m.tokens + 40*s.load)
				s.run.Client.PerToken = time.Duration(cost * 1e9)
				s.run.Client.PerSend = 40 * s.run.Client.PerToken
				s.run.Client.Cores = 1
				s.knob = "CPU time of the client's reads and sends"
				return nil
			}},
		{ID: "F18", Name: "client connection limit", Cause: "client",
			Chain:   []string{"a cap on open connections", "requests in flight stand at the cap", "requests wait in the client", "the server is not loaded as asked"},
			Signals: []string{"t.int", "t.send", "conn.wait_ns"},
			build: func(s *scenario) error {
				if err := s.at(0.7); err != nil {
					return err
				}
				m, err := s.measure()
				if err != nil {
					return err
				}
				s.run.Client.MaxConns = max(int(pick(s.sev, 0.75, 0.6, 0.45)*m.inFlight), 2)
				s.knob = "connection limit of the client"
				return nil
			}},
	}
}
