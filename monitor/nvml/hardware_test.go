package nvml

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"
)

// hardwareEnv is set by scripts/gpu-check: there must be a GPU then.
const hardwareEnv = "INFERENCEBENCH_GPU"

// TestHardware reads the real GPUs of this machine and checks what must hold of any.
func TestHardware(t *testing.T) {
	gpus, note := Open()
	if len(gpus) == 0 {
		if os.Getenv(hardwareEnv) != "" {
			t.Fatalf("no GPU: %s", note)
		}
		t.Skip(note)
	}
	first := make([]map[string]float64, len(gpus))
	for i, g := range gpus {
		v, err := g.Read(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", g.Target(), err)
		}
		first[i] = v
	}
	// Long enough for the energy counter to move and for the performance monitor's two
	// samples.
	<-time.After(1500 * time.Millisecond)
	for i, g := range gpus {
		began := time.Now()
		v, err := g.Read(t.Context())
		took := time.Since(began)
		if err != nil {
			t.Fatalf("%s: %v", g.Target(), err)
		}
		t.Logf("%+v: read %d values in %v", g.GPU(), len(v), took)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			t.Logf("  %-28s %v", name, v[name])
		}
		for name, x := range v {
			if x < 0 || x > 1e18 {
				t.Errorf("%s: %s = %v", g.Target(), name, x)
			}
		}
		for _, name := range []string{"util_percent", "memory_busy_percent", "sm_active_percent", "sm_occupancy_percent", "tensor_active_percent", "dram_active_percent"} {
			if x, ok := v[name]; ok && x > 100 {
				t.Errorf("%s: %s = %v; want at most 100", g.Target(), name, x)
			}
		}
		if used, total := v["memory_used_bytes"], v["memory_total_bytes"]; used > total {
			t.Errorf("%s: %v of %v bytes used", g.Target(), used, total)
		}
		if e, ok := v["energy_joules_total"]; ok && e <= first[i]["energy_joules_total"] {
			t.Errorf("%s: energy stands still at %v J", g.Target(), e)
		}
		if watts, ok := v["power_watts"]; ok {
			mean := (v["energy_joules_total"] - first[i]["energy_joules_total"]) / 1.5
			t.Logf("  power now %v W, mean by energy %.1f W", watts, mean)
		}
		if took > 200*time.Millisecond {
			t.Errorf("%s: a reading took %v", g.Target(), took)
		}
	}
}
