package faults

import (
	"math"
	"time"

	"github.com/inferencebench/inferencebench/sim"
)

// deviceConditions are made on the machine: processor time, clocks, links, neighbours.
func deviceConditions() []Condition {
	return []Condition{
		{ID: "F08", Name: "server's CPU is throttled", Cause: "host", Accept: []string{"frontend"}, Secondary: []string{"frontend"}, Timed: true,
			Chain:   []string{"a quota on the server's processor time", "all its threads stop for the rest of each period", "the device idles, tokens come in bursts", "steal or throttled time on the host"},
			Signals: []string{"itl_sum", "steal_percent"},
			build: func(s *scenario) error {
				if err := s.at(0.4); err != nil {
					return err
				}
				quota := pick(s.sev, 0.5, 0.38, 0.28)
				period := max(100*time.Millisecond, s.steps(4))
				s.disturb = append(s.disturb, func(at time.Duration, _ float64, c *sim.Conditions) {
					if phase := at % period; phase > time.Duration(quota*float64(period)) {
						c.HostExtra += period - phase
					}
				})
				s.slowFE = append(s.slowFE, func(time.Duration) float64 { return 1 / quota })
				s.run.Sampling.Host = func(at time.Duration, v map[string]float64) {
					if at >= s.from && at < s.to {
						v["steal_percent"] = 100 * (1 - quota) * 0.7
						v["cgroup_throttled_seconds_total"] = (1 - quota) * (at - s.from).Seconds()
						v["cpu_percent"] = 97
					}
				}
				s.knob = "CPU quota of the whole server"
				return nil
			}},
		{ID: "F19", Name: "power cap", Cause: "throttle", Timed: true,
			Chain:   []string{"a lower power limit", "lower clocks from one instant on", "steps longer at the same batch", "the device reports the reason"},
			Signals: []string{"sm_clock_mhz"},
			build: func(s *scenario) error {
				if err := s.at(0.6); err != nil {
					return err
				}
				loss := pick(s.sev, 0.25, 0.4, 0.55)
				s.disturb = append(s.disturb, func(_ time.Duration, _ float64, c *sim.Conditions) { c.ClockLoss = loss })
				s.knob = "share of the clock lost to the power limit"
				return nil
			}},
		{ID: "F20", Name: "thermal ramp", Cause: "throttle", Timed: true,
			Chain:   []string{"the device heats up", "clocks fall steadily", "steps grow steadily at the same batch", "the device reports the reason"},
			Signals: []string{"sm_clock_mhz"},
			build: func(s *scenario) error {
				if err := s.at(0.55); err != nil {
					return err
				}
				most := pick(s.sev, 0.4, 0.5, 0.6)
				s.disturb = append(s.disturb, func(_ time.Duration, p float64, c *sim.Conditions) {
					c.ClockLoss, c.Thermal = most*p, true
				})
				s.knob = "share of the clock lost to heat, growing linearly"
				return nil
			}},
		{ID: "F21", Name: "tensor parallelism over a slow link", Cause: "communication", Timed: true,
			Chain:   []string{"all-reduces over a slow link", "time added to every step on the device", "steps far above their roofline while the device looks busy"},
			Signals: []string{"itl_sum", "util_percent"},
			build: func(s *scenario) error {
				if s.run.Engine.TensorParallel < 2 {
					s.run.Engine.TensorParallel = 2
				}
				base, err := stepTime(s.run.Engine)
				if err != nil {
					return err
				}
				if err := s.at(0.45); err != nil {
					return err
				}
				extra := time.Duration(pick(s.sev, 1.0, 1.8, 2.8) * float64(base))
				s.disturb = append(s.disturb, func(_ time.Duration, _ float64, c *sim.Conditions) { c.CommExtra += extra })
				s.knob = "communication time added to every step"
				return nil
			}},
		{ID: "F24", Name: "noisy neighbour", Cause: "external", Accept: []string{"decode", "throttle"}, Secondary: []string{"decode", "prefill"}, Timed: true,
			Chain:   []string{"another process uses the device", "a changing share of it is missing", "steps vary in time at the same batch", "the engine's own counters do not"},
			Signals: []string{"itl_sum", "sm_clock_mhz"},
			build: func(s *scenario) error {
				if err := s.at(0.5); err != nil {
					return err
				}
				most := pick(s.sev, 0.35, 0.5, 0.65)
				// Three slow waves with unrelated periods: different at every instant, the same in every
				// run of one seed.
				a, b, d := 3+4*s.rng.Float64(), 7+6*s.rng.Float64(), 1.3+s.rng.Float64()
				s.disturb = append(s.disturb, func(at time.Duration, _ float64, c *sim.Conditions) {
					t := at.Seconds()
					w := (math.Sin(2*math.Pi*t/a) + math.Sin(2*math.Pi*t/b) + math.Sin(2*math.Pi*t/d) + 3) / 6
					c.Slowdown = most * w
				})
				s.knob = "share of the device that another process takes"
				return nil
			}},
	}
}
