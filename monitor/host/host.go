// Package host reads the machine: processor, memory and network, by gopsutil, and what
// only Linux tells by its own files.
package host

import (
	"context"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"

	"github.com/inferencebench/inferencebench/archive"
)

// Source reads the machine. It is used by one goroutine at a time.
type Source struct {
	last  cpu.TimesStat
	known bool
	files *files
}

// New reads this machine.
func New() *Source { return &Source{files: newFiles("/proc", "/sys")} }

// Kind is archive.SourceHost.
func (s *Source) Kind() string { return archive.SourceHost }

// Target is "": there is one.
func (s *Source) Target() string { return "" }

// Read takes one reading. What the system does not tell is absent, and so are shares of
// time from the first reading.
func (s *Source) Read(ctx context.Context) (map[string]float64, error) {
	v := make(map[string]float64, 16)
	if t, err := cpu.TimesWithContext(ctx, false); err == nil && len(t) == 1 {
		if s.known {
			shares(s.last, t[0], v)
		}
		s.last, s.known = t[0], true
	}
	if l, err := load.AvgWithContext(ctx); err == nil {
		v["load1"] = l.Load1
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		v["memory_used_bytes"] = float64(m.Used)
		v["memory_available_bytes"] = float64(m.Available)
	}
	if n, err := net.IOCountersWithContext(ctx, true); err == nil {
		rx, tx := uint64(0), uint64(0)
		for _, i := range n {
			// The loopback is in: a server on this machine is reached through it.
			rx, tx = rx+i.BytesRecv, tx+i.BytesSent
		}
		v["net_rx_bytes_total"], v["net_tx_bytes_total"] = float64(rx), float64(tx)
	}
	if p, err := net.ProtoCountersWithContext(ctx, []string{"tcp"}); err == nil && len(p) == 1 {
		if n, ok := p[0].Stats["RetransSegs"]; ok && n >= 0 {
			v["tcp_retransmits_total"] = float64(n)
		}
	}
	s.files.read(v)
	return v, ctx.Err()
}

// shares are the parts of processor time between two readings, in percent of all cores.
func shares(a, b cpu.TimesStat, v map[string]float64) {
	// Guest time is in user time already.
	total := func(t cpu.TimesStat) float64 {
		return t.User + t.System + t.Idle + t.Nice + t.Iowait + t.Irq + t.Softirq + t.Steal
	}
	d := total(b) - total(a)
	if d <= 0 {
		return
	}
	idle := b.Idle + b.Iowait - a.Idle - a.Iowait
	percent := func(x float64) float64 { return min(100, max(0, 100*x/d)) }
	v["cpu_percent"] = percent(d - idle)
	v["steal_percent"] = percent(b.Steal - a.Steal)
	v["iowait_percent"] = percent(b.Iowait - a.Iowait)
}

// Describe says what this machine is. What cannot be told is left empty.
func Describe() archive.Host {
	h := archive.Host{OS: runtime.GOOS, Cores: runtime.NumCPU()}
	if i, err := host.Info(); err == nil {
		if i.Platform != "" {
			h.OS = i.Platform + " " + i.PlatformVersion
		}
		h.Kernel = i.KernelVersion
	}
	if c, err := cpu.Info(); err == nil && len(c) > 0 {
		h.CPU = c[0].ModelName
	}
	if m, err := mem.VirtualMemory(); err == nil {
		h.MemoryMB = int64(m.Total >> 20)
	}
	return h
}
