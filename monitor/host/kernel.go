package host

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// files are where Linux tells what gopsutil does not read; elsewhere they are not there,
// and nothing comes of it.
type files struct {
	proc, sys string
	rapl      map[string]*zone
}

// zone is one processor package's energy counter, which wraps.
type zone struct {
	last, total, wrap float64
	known             bool
}

func newFiles(proc, sys string) *files { return &files{proc: proc, sys: sys, rapl: map[string]*zone{}} }

// read adds pressure (time in which some task waited for the resource), context switches,
// page faults and processor energy.
func (f *files) read(v map[string]float64) {
	for _, what := range []string{"cpu", "memory", "io"} {
		if b, err := os.ReadFile(filepath.Join(f.proc, "pressure", what)); err == nil {
			if us, ok := pressure(b); ok {
				v["pressure_"+what+"_seconds_total"] = us / 1e6
			}
		}
	}
	f.counter("stat", "ctxt", "context_switches_total", v)
	f.counter("vmstat", "pgmajfault", "major_faults_total", v)
	f.counter("vmstat", "oom_kill", "oom_kills_total", v)
	f.energy(v)
}

// pressure takes the total, in microseconds, from the line "some".
func pressure(b []byte) (float64, bool) {
	for line := range bytes.Lines(b) {
		if rest, ok := strings.CutPrefix(string(line), "some "); ok {
			_, total, found := strings.Cut(rest, "total=")
			n, err := strconv.ParseFloat(strings.TrimSpace(total), 64)
			return n, found && err == nil && n >= 0
		}
	}
	return 0, false
}

// counter takes one line of a file of names and numbers.
func (f *files) counter(file, name, as string, v map[string]float64) {
	fd, err := os.Open(filepath.Join(f.proc, file))
	if err != nil {
		return
	}
	defer fd.Close()
	sc := bufio.NewScanner(fd)
	sc.Buffer(make([]byte, 0, 64<<10), 1<<20) // the line of interrupts is long
	for sc.Scan() {
		if num, ok := strings.CutPrefix(sc.Text(), name+" "); ok {
			if n, err := strconv.ParseFloat(strings.TrimSpace(num), 64); err == nil {
				v[as] = n
			}
			return
		}
	}
}

// energy adds up the processor packages' energy, where it may be read. The counters wrap at
// a number that stands beside them.
func (f *files) energy(v map[string]float64) {
	zones, err := filepath.Glob(filepath.Join(f.sys, "class/powercap/intel-rapl:*"))
	if err != nil {
		return
	}
	sum, found := 0.0, false
	for _, z := range zones {
		if strings.Count(filepath.Base(z), ":") != 1 {
			continue // a part of a package, which is in the package's number
		}
		uj, err := number(filepath.Join(z, "energy_uj"))
		if err != nil {
			continue
		}
		p := f.rapl[z]
		if p == nil {
			p = &zone{}
			p.wrap, _ = number(filepath.Join(z, "max_energy_range_uj"))
			f.rapl[z] = p
		}
		if p.known {
			d := uj - p.last
			if d < 0 {
				d += p.wrap
			}
			p.total += max(0, d)
		}
		p.last, p.known = uj, true
		sum, found = sum+p.total, true
	}
	if found {
		v["cpu_energy_joules_total"] = sum / 1e6
	}
}

func number(path string) (float64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
}
