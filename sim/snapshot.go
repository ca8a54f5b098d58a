package sim

import "time"

// Snapshot is one engine's state at an instant: what a metrics page is written from.
type Snapshot struct {
	At       time.Duration
	Config   Config
	Memory   Memory
	Load     Load
	Counters Counters
	GPU      Telemetry
}

// Snapshot copies the engine's state at an instant.
func (e *Engine) Snapshot(now time.Duration) Snapshot {
	return Snapshot{At: now, Config: e.cfg, Memory: e.mem, Load: e.Load(), Counters: e.count.Clone(), GPU: e.GPU(now)}
}
