package sim

import (
	"math"
	"time"
)

// Telemetry is what the device's driver would report. Cumulative fields only grow.
type Telemetry struct {
	UtilPercent     float64 // share of the last second in which a kernel ran, 0 to 100
	PowerWatts      float64 // mean of the last second
	PowerLimitWatts float64
	EnergyJoules    float64 // cumulative
	SMClockMHz      float64
	SMClockMaxMHz   float64
	Temperature     float64 // °C
	MemoryUsed      float64 // bytes
	MemoryTotal     float64 // bytes
	ThrottleThermal bool
	ThrottlePower   bool
	BusySeconds     float64 // cumulative: time with a kernel running
	MemoryActive    float64 // cumulative: seconds of memory-bus time
	ComputeActive   float64 // cumulative: seconds of arithmetic-unit time
}

// gpuMeter integrates power, heat and activity over the steps.
//
// Power is idle + (TDP − idle)·(0.45·busy + 0.30·memory + 0.45·compute) while a kernel
// runs, at most the TDP, times (clock)^1.5 for what is above idle. A host gap costs idle
// power plus a tenth, since clocks stay up. Temperature follows power with a time constant
// of 20 s towards 30 °C + 50 °C·power/TDP.
type gpuMeter struct {
	gpu        GPU
	used       float64
	at         time.Duration
	t          Telemetry
	utilWindow float64 // exponentially weighted with 1 s
}

func (g *gpuMeter) init(cfg Config, mem Memory) {
	g.gpu = cfg.GPU
	g.used = mem.Weights + mem.KV + mem.Reserved
	g.t = Telemetry{
		PowerWatts: cfg.GPU.Idle, PowerLimitWatts: cfg.GPU.TDP, SMClockMHz: cfg.GPU.ClockMHz, SMClockMaxMHz: cfg.GPU.ClockMHz,
		Temperature: 34, MemoryUsed: g.used, MemoryTotal: cfg.GPU.Memory,
	}
}

// advance adds dt seconds at a constant power and activity.
func (g *gpuMeter) advance(dt, power, busy float64) {
	if dt <= 0 {
		return
	}
	g.t.EnergyJoules += power * dt
	a := -math.Expm1(-dt)
	g.t.PowerWatts += a * (power - g.t.PowerWatts)
	g.utilWindow += a * (busy - g.utilWindow)
	b := dt / (20 + dt) // close to 1 − e^(−dt/20) for the short steps that matter
	g.t.Temperature += b * (30 + 50*power/g.gpu.TDP - g.t.Temperature)
}

// idleUntil accounts for a gap without work.
func (g *gpuMeter) idleUntil(now time.Duration, cond Conditions) {
	if dt := (now - g.at).Seconds(); dt > 0 {
		g.advance(dt, g.gpu.Idle, 0)
		g.at = now
	}
	g.clocks(cond)
}

func (g *gpuMeter) clocks(cond Conditions) {
	g.t.SMClockMHz = math.Round(g.gpu.ClockMHz * (1 - cond.ClockLoss))
	g.t.ThrottleThermal = cond.ClockLoss > 0 && cond.Thermal
	g.t.ThrottlePower = cond.ClockLoss > 0 && !cond.Thermal
	if g.t.ThrottleThermal { // a device that throttles for heat sits at its limit
		g.t.Temperature = max(g.t.Temperature, 83+8*cond.ClockLoss)
	}
}

func (g *gpuMeter) step(s Step, c stepCost, cond Conditions) {
	g.idleUntil(s.Start, cond)
	busy := s.GPU.Seconds()
	mem, cmp := 0.0, 0.0
	if c.total > 0 {
		mem, cmp = min(c.memory/c.total, 1), min(c.compute/c.total, 1)
	}
	f := min(0.45+0.30*mem+0.45*cmp, 1) * math.Pow(1-cond.ClockLoss, 1.5)
	if cond.Slowdown > 0 { // the other process keeps the units busy too
		f = min(f+0.2*cond.Slowdown, 1)
	}
	g.advance(busy, g.gpu.Idle+(g.gpu.TDP-g.gpu.Idle)*f, 1)
	gap := (s.End - s.Start).Seconds() - busy
	g.advance(gap, g.gpu.Idle+0.1*(g.gpu.TDP-g.gpu.Idle), 0)
	g.t.BusySeconds += busy
	g.t.MemoryActive += busy * mem
	g.t.ComputeActive += busy * cmp
	g.at = max(g.at, s.End)
}

// GPU returns what the driver would report at an instant. Time that passed since the last
// step counts as idle.
func (e *Engine) GPU(now time.Duration) Telemetry {
	if !e.open && e.Idle() && now > e.gpu.at {
		var cond Conditions
		if e.cfg.Conditions != nil {
			cond = e.cfg.Conditions(now)
		}
		e.gpu.idleUntil(now, cond)
	}
	t := e.gpu.t
	t.UtilPercent = math.Round(100 * e.gpu.utilWindow)
	return t
}
