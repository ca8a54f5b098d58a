package nvml

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
)

// fake is a Device that tells what its map holds; what is not in it is unsupported.
type fake struct {
	values map[Field]float64
	fails  map[Field]error
	lost   bool
	asked  map[Field]int
}

func (f *fake) GPU() archive.GPU { return archive.GPU{UUID: "GPU-x", Name: "fake"} }

func (f *fake) Read(field Field) (float64, error) {
	if f.asked == nil {
		f.asked = map[Field]int{}
	}
	f.asked[field]++
	if f.lost {
		return 0, ErrLost
	}
	if err := f.fails[field]; err != nil {
		return 0, err
	}
	if v, ok := f.values[field]; ok {
		return v, nil
	}
	return 0, ErrUnsupported
}

func TestGPURead(t *testing.T) {
	tests := []struct {
		why  string
		dev  *fake
		want map[string]float64
	}{
		{
			"a busy GPU at its power limit", &fake{values: map[Field]float64{Util: 97, Power: 655, Energy: 1e6, SMClock: 1400, Reasons: ReasonPowerCap}},
			map[string]float64{
				"util_percent": 97, "power_watts": 655, "energy_joules_total": 1e6, "sm_clock_mhz": 1400,
				"throttle_thermal": 0, "throttle_power": 1, "throttle_hardware": 0, "clock_event_reasons": 4,
			},
		},
		{
			"MIG is on: no utilisation, and that is not zero", &fake{values: map[Field]float64{MemoryUsed: 5, Power: 300}},
			map[string]float64{"memory_used_bytes": 5, "power_watts": 300},
		},
		{
			"unified memory: no memory, a real zero of utilisation", &fake{values: map[Field]float64{Util: 0, Power: 11.17}},
			map[string]float64{"util_percent": 0, "power_watts": 11.17},
		},
		{
			"one field fails for now", &fake{values: map[Field]float64{Util: 90}, fails: map[Field]error{Power: errors.New("timeout")}},
			map[string]float64{"util_percent": 90},
		},
		{
			"hot", &fake{values: map[Field]float64{Reasons: ReasonSWThermal | ReasonSlowdown}},
			map[string]float64{"throttle_thermal": 1, "throttle_power": 0, "throttle_hardware": 1, "clock_event_reasons": 0x28},
		},
	}
	for _, tt := range tests {
		got, err := NewGPU(tt.dev).Read(t.Context())
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, d)
		}
	}
}

func TestUnsupportedIsAskedOnce(t *testing.T) {
	dev := &fake{values: map[Field]float64{Util: 1}, fails: map[Field]error{Energy: errors.New("busy")}}
	g := NewGPU(dev)
	for range 3 {
		if _, err := g.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if dev.asked[Power] != 1 || dev.asked[Util] != 3 || dev.asked[Energy] != 3 {
		t.Errorf("asked %v; want an unsupported field once, a passing failure each time", dev.asked)
	}
}

func TestLostMidRun(t *testing.T) {
	dev := &fake{values: map[Field]float64{Util: 50}}
	g := NewGPU(dev)
	if _, err := g.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	dev.lost = true
	if v, err := g.Read(t.Context()); !errors.Is(err, ErrLost) || v != nil {
		t.Errorf("Read = %v, %v; want ErrLost and no values", v, err)
	}
	dev.lost = false
	if v, err := g.Read(t.Context()); err != nil || v["util_percent"] != 50 {
		t.Errorf("Read after it came back = %v, %v", v, err)
	}
}

func TestNothingReadable(t *testing.T) {
	if v, err := NewGPU(&fake{}).Read(t.Context()); err == nil {
		t.Errorf("Read = %v; want an error where no field is supported", v)
	}
}

func TestEveryFieldHasAName(t *testing.T) {
	seen := map[string]Field{}
	for f := range numFields {
		n := valueName(f)
		if (n == "") != (f == Reasons) {
			t.Errorf("field %d has name %q", f, n)
		}
		if other, dup := seen[n]; dup {
			t.Errorf("fields %d and %d share the name %q", f, other, n)
		}
		seen[n] = f
	}
}

func TestOpenHere(t *testing.T) {
	gpus, note := Open()
	if len(gpus) == 0 && note == "" {
		t.Error("Open finds nothing and does not say why")
	}
	t.Logf("%d GPUs; %s", len(gpus), note)
}
