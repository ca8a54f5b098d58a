package offline

import (
	"fmt"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim"
)

// clientCounters is what the client counts, and its CPU time at the last sample.
type clientCounters struct {
	tokens, ok int64
	busy       time.Duration
	front      time.Duration
	at         time.Duration
	steps      int64
}

// hostCores is the size of the simulated server machine.
const hostCores = 16

// sample reads every source once and plans the next reading.
func (w *world) sample() {
	s := w.cfg.Sampling
	every := float64(s.Every)
	next := every * (1 + s.Jitter*(2*w.rng.Float64()-1))
	w.sampleAt = w.now + time.Duration(max(next, every/10))
	var snaps []sim.Snapshot
	for _, r := range w.replicas {
		snaps = append(snaps, r.eng.Snapshot(w.now))
	}
	took := int64(2e6 + 1e6*w.rng.Float64())
	w.put(archive.SourceEngine, "", sim.Signals(snaps), took)
	for i := range snaps {
		for g := range snaps[i].Config.TensorParallel {
			t := snaps[i].GPU
			w.put(archive.SourceGPU, fmt.Sprintf("GPU-%d", i*snaps[i].Config.TensorParallel+g), map[string]float64{
				"util_percent": t.UtilPercent, "memory_used_bytes": t.MemoryUsed, "memory_total_bytes": t.MemoryTotal,
				"power_watts": math.Round(t.PowerWatts*1000) / 1000, "power_limit_watts": t.PowerLimitWatts, "energy_joules_total": math.Round(t.EnergyJoules*1000) / 1000,
				"sm_clock_mhz": t.SMClockMHz, "sm_clock_max_mhz": t.SMClockMaxMHz, "temperature_celsius": math.Round(t.Temperature),
				"throttle_thermal": flag(t.ThrottleThermal), "throttle_power": flag(t.ThrottlePower),
			}, 3e5)
		}
	}
	dt := (w.now - w.seen.at).Seconds()
	if dt <= 0 {
		dt = every / 1e9
	}
	// The load generator itself: what the station worked, plus 8 µs a token of reading.
	cores := (w.client.busy-w.seen.busy).Seconds()/dt + 0.01
	if w.cfg.Client.PerToken == 0 {
		cores += 8e-6 * float64(w.seen.tokens-w.seen.steps) / dt
	}
	w.put(archive.SourceClient, "", map[string]float64{
		"cpu_cores": math.Min(cores, w.cfg.Client.Cores), "rss_bytes": 60e6 + 2e4*float64(w.open), "goroutines": 12 + 2*float64(w.open),
		"gc_pause_seconds_total": 1e-4 * w.now.Seconds(), "gc_pause_max_seconds": 1e-4, "sched_latency_p99_seconds": 1e-4,
		"in_flight": float64(w.open), "requests_ok_total": float64(w.seen.ok), "requests_failed_total": 0,
		"output_tokens_total": float64(w.seen.tokens), "open_fds": 20 + float64(w.open),
	}, 1e5)
	host := map[string]float64{
		"cpu_percent": 100 * (w.engineCPU(snaps) + w.frontCPU(dt)) / hostCores, "steal_percent": 0, "load1": 1.5, "memory_used_bytes": 40e9, "memory_available_bytes": 200e9,
		"net_rx_bytes_total": 500 * float64(w.res.Planned), "net_tx_bytes_total": 250 * float64(w.seen.tokens), "tcp_retransmits_total": 0,
	}
	if s.Host != nil {
		s.Host(w.now, host)
	}
	w.put(archive.SourceHost, "", host, 2e5)
	w.seen.at, w.seen.busy, w.seen.steps = w.now, w.client.busy, w.seen.tokens
}

// engineCPU is the cores that the engines' own processes use: each busy engine spins one.
func (w *world) engineCPU(snaps []sim.Snapshot) (cores float64) {
	for i := range snaps {
		if snaps[i].Load.Running > 0 {
			cores += 1.1 * float64(snaps[i].Config.TensorParallel)
		}
	}
	return cores
}

// frontCPU is the cores that the API servers used since the last sample.
func (w *world) frontCPU(dt float64) float64 {
	total := time.Duration(0)
	for _, r := range w.replicas {
		total += r.front.Busy()
	}
	used := (total - w.seen.front).Seconds() / dt
	w.seen.front = total
	return math.Min(used, float64(len(w.replicas)))
}

func (w *world) put(source, target string, values map[string]float64, took int64) {
	if alter := w.cfg.Sampling.Alter; alter != nil && !alter(w.now, source, values) {
		return
	}
	w.res.Samples = append(w.res.Samples, archive.Sample{T: Instant(w.now), Source: source, Target: target, Values: values, Took: took})
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
