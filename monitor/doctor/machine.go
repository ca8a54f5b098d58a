package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
)

// Limits of the checks of this machine.
const (
	filesPerStream = 2
	fewestFiles    = 4096
	fewestMemory   = 1 << 30 // bytes that should be free
	fewestPorts    = 10_000
)

// machine looks at what would disturb the load generator.
func (r *Report) machine(streams int) {
	need := max(fewestFiles, filesPerStream*streams)
	if n, ok := openFileLimit(); !ok {
		r.add("open_files", "client", Unknown, "the limit on open files is not known", "")
	} else if n < uint64(need) {
		r.add("open_files", "client", Warn, fmt.Sprintf("at most %d files may be open; %d are wanted", n, need), fmt.Sprintf("raise it: ulimit -n %d", need))
	} else {
		r.add("open_files", "client", OK, fmt.Sprintf("%d files may be open", n), "")
	}
	r.load()
	if m, err := mem.VirtualMemory(); err != nil {
		r.add("memory", "host", Unknown, "the free memory is not known", "")
	} else if m.Available < fewestMemory {
		r.add("memory", "host", Warn, fmt.Sprintf("%d MiB of memory are available", m.Available>>20), "end other programs")
	} else {
		r.add("memory", "host", OK, fmt.Sprintf("%d of %d MiB of memory are available", m.Available>>20, m.Total>>20), "")
	}
	if s, err := mem.SwapMemory(); err == nil && s.Used > 64<<20 {
		r.add("swap", "host", Warn, fmt.Sprintf("%d MiB are swapped out", s.Used>>20), "free memory, then swapoff -a && swapon -a")
	}
	r.linux("/proc", "/sys")
	r.clock()
}

func (r *Report) load() {
	l, err := load.Avg()
	if err != nil {
		r.add("load", "host", Unknown, "the load of this machine is not known", "")
		return
	}
	cores := float64(max(1, r.Host.Cores))
	text := fmt.Sprintf("load average %.2f on %d cores", l.Load1, r.Host.Cores)
	if l.Load1 > 0.5*cores {
		r.add("load", "host", Warn, text, "end other programs: they take processor time from the client")
		return
	}
	r.add("load", "host", OK, text, "")
}

// linux looks at what Linux tells by files; elsewhere they are not there.
func (r *Report) linux(proc, sys string) {
	if gov, ok := word(filepath.Join(sys, "devices/system/cpu/cpu0/cpufreq/scaling_governor")); ok {
		if gov == "performance" {
			r.add("governor", "host", OK, "the processor clock governor is performance", "")
		} else {
			r.add("governor", "host", Warn, "the processor clock governor is "+gov, "cpupower frequency-set -g performance")
		}
	}
	if text, ok := read(filepath.Join(proc, "sys/net/ipv4/ip_local_port_range")); ok {
		f := strings.Fields(text)
		if len(f) == 2 {
			lo, err1 := strconv.Atoi(f[0])
			hi, err2 := strconv.Atoi(f[1])
			if n := hi - lo + 1; err1 == nil && err2 == nil && n < fewestPorts {
				r.add("ports", "client", Warn, fmt.Sprintf("only %d local ports", n), `sysctl -w net.ipv4.ip_local_port_range="10240 65535"`)
			}
		}
	}
	if quota, ok := cpuQuota(sys); ok && quota < float64(r.Host.Cores) {
		r.add("cpu_quota", "client", Warn, fmt.Sprintf("this program may use %.2f of %d cores", quota, r.Host.Cores), "raise the processor limit of its container")
	}
	if text, ok := word(filepath.Join(sys, "kernel/mm/transparent_hugepage/enabled")); ok && strings.Contains(text, "[always]") {
		r.add("hugepages", "host", OK, "transparent huge pages are always used", "")
	}
}

// cpuQuota is how many cores the control group allows.
func cpuQuota(sys string) (float64, bool) {
	if text, ok := read(filepath.Join(sys, "fs/cgroup/cpu.max")); ok {
		f := strings.Fields(text)
		if len(f) == 2 && f[0] != "max" {
			q, err1 := strconv.ParseFloat(f[0], 64)
			p, err2 := strconv.ParseFloat(f[1], 64)
			return q / p, err1 == nil && err2 == nil && p > 0
		}
		return 0, false
	}
	q, ok1 := word(filepath.Join(sys, "fs/cgroup/cpu/cpu.cfs_quota_us"))
	p, ok2 := word(filepath.Join(sys, "fs/cgroup/cpu/cpu.cfs_period_us"))
	quota, err1 := strconv.ParseFloat(q, 64)
	period, err2 := strconv.ParseFloat(p, 64)
	return quota / period, ok1 && ok2 && err1 == nil && err2 == nil && quota > 0 && period > 0
}

func read(path string) (string, bool) {
	b, err := os.ReadFile(path)
	return string(b), err == nil
}

func word(path string) (string, bool) {
	s, ok := read(path)
	return strings.TrimSpace(s), ok
}

func (r *Report) clock() {
	synced, offset, ok := timeSync()
	switch {
	case !ok:
		r.add("time_sync", "host", Unknown, "whether the clock is kept in step is not known", "")
	case !synced:
		r.add("time_sync", "host", Warn, "the clock is not kept in step with others", "start chronyd or systemd-timesyncd: logs and spans of other machines will not line up")
	default:
		r.add("time_sync", "host", OK, fmt.Sprintf("the clock is kept in step (off by about %v)", offset), "")
	}
}
