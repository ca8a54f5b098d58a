package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shirou/gopsutil/v4/cpu"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestKernelFiles(t *testing.T) {
	d := t.TempDir()
	f := newFiles(filepath.Join(d, "proc"), filepath.Join(d, "sys"))
	empty := map[string]float64{}
	f.read(empty)
	if len(empty) != 0 {
		t.Errorf("values %v of files that are not there; want none", empty)
	}
	write(t, filepath.Join(d, "proc/pressure/cpu"), "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 total=9\n")
	write(t, filepath.Join(d, "proc/stat"), "cpu  1 2 3\nctxt 777\nbtime 5\n")
	write(t, filepath.Join(d, "proc/vmstat"), "nr_free_pages 1\npgmajfault 12\noom_kill 1\n")
	zone := filepath.Join(d, "sys/class/powercap/intel-rapl:0")
	write(t, filepath.Join(zone, "max_energy_range_uj"), "10000000\n")
	write(t, filepath.Join(d, "sys/class/powercap/intel-rapl:0:0/energy_uj"), "5\n")
	want := map[string]float64{"pressure_cpu_seconds_total": 2.5, "context_switches_total": 777, "major_faults_total": 12, "oom_kills_total": 1}
	for _, step := range []struct {
		why    string
		uj     string
		joules float64
	}{
		{"the first reading is the start", "9000000", 0},
		{"growth", "9500000", 0.5},
		{"the counter wrapped", "1000000", 2},
	} {
		write(t, filepath.Join(zone, "energy_uj"), step.uj+"\n")
		got := map[string]float64{}
		f.read(got)
		want["cpu_energy_joules_total"] = step.joules
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", step.why, d)
		}
	}
}

func TestShares(t *testing.T) {
	a := cpu.TimesStat{User: 10, System: 5, Idle: 80, Steal: 5}
	b := cpu.TimesStat{User: 16, System: 7, Idle: 90, Steal: 7}
	got := map[string]float64{}
	shares(a, b, got)
	want := map[string]float64{"cpu_percent": 50, "steal_percent": 10, "iowait_percent": 0}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("shares (-want +got):\n%s", d)
	}
	got = map[string]float64{}
	if shares(b, b, got); len(got) != 0 {
		t.Errorf("no time passed: %v; want nothing", got)
	}
}

func TestReadTwice(t *testing.T) {
	s := New()
	first, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := first["cpu_percent"]; ok {
		t.Error("a share of time is known from the first reading")
	}
	if _, err := s.Read(t.Context()); err != nil {
		t.Error(err)
	}
}
