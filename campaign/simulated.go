package campaign

import (
	"context"
	"fmt"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim/server"
)

const (
	simulatedModel    = "simulated/Llama-3.1-8B-Instruct"
	simulatedAccuracy = 0.9
	// SimulatedSeqs is the embedded engine's --max-num-seqs: set too low on purpose, so that the
	// demonstration has something to find.
	SimulatedSeqs = 12
)

// simulated is the embedded engine with the device that it pretends to run on.
type simulated struct {
	server *server.Server
	gpu    archive.GPU
}

// startSimulated starts the embedded engine on a loopback port and returns its URL. It
// knows the answers of the items, and gives the right one most of the time.
func startSimulated(seed uint64, items *checkpoints, o Options) (*simulated, string, error) {
	cfg := server.Config{Accuracy: simulatedAccuracy}
	if cfg.Sim.Seed, cfg.Sim.MaxNumSeqs = seed, SimulatedSeqs; o.SimulatedSeqs > 0 {
		cfg.Sim.MaxNumSeqs = o.SimulatedSeqs
	}
	if o.Simulated != nil {
		cfg = *o.Simulated
	}
	cfg.ModelName = simulatedModel
	if items != nil {
		cfg.Answers = items.sets.Answer
	}
	s, err := server.New(cfg)
	if err != nil {
		return nil, "", fmt.Errorf("simulated engine: %w", err)
	}
	u, err := s.Start("127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("simulated engine: %w", err)
	}
	c, _ := s.Engine()
	return &simulated{server: s, gpu: archive.GPU{
		UUID: "simulated", Name: c.GPU.Label, MemoryMB: int64(c.GPU.Memory) >> 20,
		PowerW: archive.Some(c.GPU.TDP), Driver: "simulated",
	}}, u, nil
}

// settings are the engine's effective settings, under the names that a server shows.
func (s *simulated) settings() map[string]string {
	c, mem := s.server.Engine()
	return c.Settings(mem)
}

// Kind, Target and Read make the pretended device a telemetry source.
func (s *simulated) Kind() string { return archive.SourceGPU }

// Target is the device's name in the series.
func (s *simulated) Target() string { return s.gpu.UUID }

// Read returns the device's state now.
func (s *simulated) Read(context.Context) (map[string]float64, error) {
	t := s.server.Telemetry()
	return map[string]float64{
		"util_percent": t.UtilPercent, "power_watts": t.PowerWatts, "power_limit_watts": t.PowerLimitWatts,
		"energy_joules_total": t.EnergyJoules, "sm_clock_mhz": t.SMClockMHz, "sm_clock_max_mhz": t.SMClockMaxMHz,
		"temperature_celsius": t.Temperature, "memory_used_bytes": t.MemoryUsed, "memory_total_bytes": t.MemoryTotal,
		"throttle_thermal": flag(t.ThrottleThermal), "throttle_power": flag(t.ThrottlePower),
	}, nil
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
