//go:build cgo && linux

package nvml

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
)

// fakeLibrary builds the stand-in for the driver's library and returns where it is.
func fakeLibrary(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler")
	}
	lib := filepath.Join(t.TempDir(), "libfakenvml.so")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-w", "-o", lib, "testdata/fakenvml.c").CombinedOutput(); err != nil {
		t.Skipf("the stand-in does not build here: %v\n%s", err, out)
	}
	return lib
}

// TestLibrary reads GPUs through the real binding and a library of an older driver, which
// lacks functions that newer ones have. Calling one of those would end the process.
func TestLibrary(t *testing.T) {
	lib := fakeLibrary(t)

	t.Setenv("FAKE_NVML", "broken")
	if gpus, _, note := open(nvml.New(nvml.WithLibraryPath(lib))); len(gpus) != 0 || !strings.Contains(note, "Driver Not Loaded") {
		t.Errorf("a driver that does not start: %d GPUs, note %q", len(gpus), note)
	}

	t.Setenv("FAKE_NVML", "")
	gpus, xid, note := open(nvml.New(nvml.WithLibraryPath(lib)))
	if note != "" || len(gpus) != 3 {
		t.Fatalf("open = %d GPUs, note %q; want two and a MIG instance", len(gpus), note)
	}
	type v = map[string]float64
	want := []struct {
		uuid   string
		mb     int64
		values v
	}{
		{"GPU-fake-0", 40960, v{
			"util_percent": 97, "memory_busy_percent": 40, "memory_used_bytes": 4 << 30, "memory_total_bytes": 40 << 30,
			"power_watts": 300.5, "power_limit_watts": 400, "energy_joules_total": 5000, "sm_clock_mhz": 1410, "sm_clock_max_mhz": 1410, "memory_clock_mhz": 1215,
			"temperature_celsius": 65, "throttle_power": 1, "throttle_thermal": 0, "throttle_hardware": 0, "clock_event_reasons": 4, "ecc_uncorrected_total": 0,
		}},
		{"GPU-fake-1", 40960, v{ // MIG: no utilisation; and no power sensor
			"memory_used_bytes": 4 << 30, "memory_total_bytes": 40 << 30,
			"power_limit_watts": 400, "energy_joules_total": 5000, "sm_clock_mhz": 1410, "sm_clock_max_mhz": 1410, "memory_clock_mhz": 1215,
			"temperature_celsius": 65, "throttle_power": 1, "throttle_thermal": 0, "throttle_hardware": 0, "clock_event_reasons": 4, "ecc_uncorrected_total": 0,
		}},
		{"MIG-fake", 10240, v{"memory_used_bytes": 4 << 30, "memory_total_bytes": 10 << 30}},
	}
	for i, g := range gpus {
		if g.Target() != want[i].uuid || g.GPU().MemoryMB != want[i].mb || g.GPU().Driver != "450.00" {
			t.Errorf("GPU %d is %+v; want %s with %d MB", i, g.GPU(), want[i].uuid, want[i].mb)
		}
		got, err := g.Read(t.Context())
		if d := cmp.Diff(want[i].values, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", want[i].uuid, err, d)
		}
	}

	if pids, ok := gpus[1].Processes(); !ok || len(pids) != 1 || pids[0] != 4001 {
		t.Errorf("Processes = %v, %v; want 4001", pids, ok)
	}
	if pids, ok := gpus[2].Processes(); ok {
		t.Errorf("Processes of a MIG instance = %v; want unknown", pids)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	var events []archive.Event
	if err := xid.Watch(ctx, archive.NewRunClock(), func(e archive.Event) {
		events = append(events, e)
		cancel()
	}); err != nil || len(events) != 1 || events[0].Fields["target"] != "GPU-fake-0" || events[0].Fields["xid"] != uint64(79) {
		t.Errorf("errors of the driver: %v, %+v; want Xid 79 of the first GPU", err, events)
	}
	cancel()

	t.Setenv("FAKE_NVML", "lost")
	if got, err := gpus[0].Read(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("lost mid-run: %v, %v; want ErrLost", got, err)
	}
	t.Setenv("FAKE_NVML", "")
	if _, err := gpus[0].Read(t.Context()); err != nil {
		t.Errorf("back again: %v", err)
	}
}
