package gpu

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferencebench/inferencebench/engines/expo"
)

type v = map[string]float64

func TestFromDCGM(t *testing.T) {
	tests := []struct {
		why, page string
		want      map[string]v
	}{
		{
			"B111 MIG: no utilisation, although 0 is printed; the engine's activity under its own name",
			`DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 0
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 0.83`,
			map[string]v{"GPU-a/gi-7": {"engine_active_percent": 83}},
		},
		{
			"two whole GPUs in the old spelling",
			`DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",modelName="H100"} 95
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b"} 0
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a"} 650.5
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a"} 9000000000
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a"} 1024
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a"} 3072
DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="0",UUID="GPU-a"} 4`,
			map[string]v{
				"GPU-a": {
					"util_percent": 95, "power_watts": 650.5, "energy_joules_total": 9e6, "memory_used_bytes": 1 << 30, "memory_total_bytes": 4 << 30,
					"clock_event_reasons": 4, "throttle_power": 1, "throttle_thermal": 0, "throttle_hardware": 0,
				},
				"GPU-b": {"util_percent": 0},
			},
		},
		{
			"the new spelling, where a share of 1 is 100 percent",
			`DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="0",UUID="GPU-a"} 0.95
DCGM_FI_DEV_BOARD_POWER_WATTS{gpu="0",UUID="GPU-a"} 650
DCGM_FI_PROF_TENSOR_UTIL_RATIO{gpu="0",UUID="GPU-a"} 0.5
DCGM_FI_DEV_GPU_TEMP_CELSIUS{gpu="0",UUID="GPU-a"} 61`,
			map[string]v{"GPU-a": {"util_percent": 95, "power_watts": 650, "tensor_active_percent": 50, "temperature_celsius": 61}},
		},
		{
			"both spellings are one fact",
			"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} 300\nDCGM_FI_DEV_BOARD_POWER_WATTS{gpu=\"0\",UUID=\"GPU-a\"} 300\n",
			map[string]v{"GPU-a": {"power_watts": 300}},
		},
		{
			"DCGM's blank is unknown",
			"DCGM_FI_DEV_MEMORY_TEMP{gpu=\"0\",UUID=\"GPU-a\"} 2147483632\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-a\"} 40\n",
			map[string]v{"GPU-a": {"temperature_celsius": 40}},
		},
	}
	for _, tt := range tests {
		got := map[string]v{}
		for _, r := range FromDCGM(expo.Parse([]byte(tt.page))) {
			got[r.Target()] = r.Values
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, d)
		}
	}
}

func TestFromAMD(t *testing.T) {
	for _, prefix := range []string{"", "amd_"} {
		page := strings.ReplaceAll(`P_gpu_gfx_activity{gpu_id="0",gpu_uuid="aa-1",card_model="MI300X"} 97
P_gpu_package_power{gpu_id="0",gpu_uuid="aa-1"} 700
P_gpu_energy_consumed{gpu_id="0",gpu_uuid="aa-1"} 5000000
P_gpu_used_vram{gpu_id="0",gpu_uuid="aa-1"} 1000
P_gpu_junction_temperature{gpu_id="0",gpu_uuid="aa-1"} 71
`, "P_", prefix)
		rs := FromAMD(expo.Parse([]byte(page)))
		want := []Reading{{Index: 0, UUID: "aa-1", Name: "MI300X", Values: v{
			"util_percent": 97, "power_watts": 700, "energy_joules_total": 5, "memory_used_bytes": 1e9, "temperature_celsius": 71,
		}}}
		if d := cmp.Diff(want, rs, cmpopts.EquateApprox(1e-12, 0)); d != "" {
			t.Errorf("prefix %q (-want +got):\n%s", prefix, d)
		}
	}
}

func TestFromCSV(t *testing.T) {
	tests := []struct {
		why, in string
		want    []v
		bad     bool
	}{
		{
			"B114 unified memory: memory is not told, utilisation is a real zero", "memory.total, memory.used, utilization.gpu, power.draw\n[N/A], [N/A], 0 %, 11.17 W\n",
			[]v{{"util_percent": 0, "power_watts": 11.17}}, false,
		},
		{
			"units in the header", "index, uuid, memory.used [MiB], utilization.gpu [%], power.draw [W], clocks_event_reasons.active\n0, GPU-a, 1024, 97, 300.5, 0x0000000000000040\n1, GPU-b, 0, 0, [Not Supported], 0x0000000000000001\n",
			[]v{
				{"memory_used_bytes": 1 << 30, "util_percent": 97, "power_watts": 300.5, "clock_event_reasons": 64, "throttle_thermal": 1, "throttle_power": 0, "throttle_hardware": 0},
				{"memory_used_bytes": 0, "util_percent": 0, "clock_event_reasons": 1, "throttle_thermal": 0, "throttle_power": 0, "throttle_hardware": 0},
			}, false,
		},
		{
			"amd-smi", "gpu,gfx_activity,umc_activity,socket_power,used_vram,hotspot\n0,98,12,703,2048,66\n1,N/A,N/A,120,10,40\n",
			[]v{
				{"util_percent": 98, "memory_busy_percent": 12, "power_watts": 703, "memory_used_bytes": 2 << 30, "temperature_celsius": 66},
				{"power_watts": 120, "memory_used_bytes": 10 << 20, "temperature_celsius": 40},
			}, false,
		},
		{"a row that does not fit costs itself alone", "index, utilization.gpu\n0, 5\n1\n2, 7\n", []v{{"util_percent": 5}, {"util_percent": 7}}, true},
		{"an error message instead of a table", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", nil, false},
		{"nothing", "", nil, true},
	}
	for _, tt := range tests {
		rs, err := FromCSV([]byte(tt.in))
		var got []v
		for _, r := range rs {
			got = append(got, r.Values)
		}
		if d := cmp.Diff(tt.want, got); d != "" || (err != nil) != tt.bad {
			t.Errorf("%s: error %v, want one: %v (-want +got):\n%s", tt.why, err, tt.bad, d)
		}
	}
}

// B113: what one card does not tell is unknown, and so is the sum.
func TestOneCardWithoutPowerSpoilsNothingElse(t *testing.T) {
	rs := []Reading{{Index: 0, Values: v{"power_watts": 300, "util_percent": 90}}, {Index: 1, Values: v{"util_percent": 90}}}
	if sum, known, of, ok := Sum(rs, "power_watts"); ok || known != 1 || of != 2 {
		t.Errorf("Sum = %v, %d of %d, %v; want unknown, 1 of 2", sum, known, of, ok)
	}
	if mean, known, ok := Mean(rs, "util_percent"); mean != 90 || known != 2 || !ok {
		t.Errorf("Mean of utilisation = %v, %d, %v; want 90 of 2", mean, known, ok)
	}
	if mean, known, ok := Mean(rs, "power_watts"); mean != 300 || known != 1 || !ok {
		t.Errorf("Mean of power = %v over %d, %v; want 300 over 1, never 150", mean, known, ok)
	}
	if _, _, ok := Mean(rs, "energy_joules_total"); ok {
		t.Error("Mean of what nobody tells is known")
	}
}

// B116: the GPUs that the server sees, by its environment.
func TestUsed(t *testing.T) {
	four := []Reading{
		{Index: 0, UUID: "GPU-aaaa", Values: v{"util_percent": 0, "power_watts": 60}},
		{Index: 1, UUID: "GPU-bbbb", Values: v{"util_percent": 0, "power_watts": 60}},
		{Index: 2, UUID: "GPU-cccc", Values: v{"util_percent": 95, "power_watts": 650}},
		{Index: 3, UUID: "GPU-dddd", Values: v{"util_percent": 97, "power_watts": 655}},
	}
	used := Used(four, "2,3")
	mean, _, _ := Mean(used, "util_percent")
	sum, _, _, ok := Sum(used, "power_watts")
	if len(used) != 2 || used[0].Index != 2 || mean != 96 || sum != 1305 || !ok {
		t.Errorf("Used(2,3) = %v; mean %v, sum %v; want GPUs 2 and 3, 96 %%, 1305 W", used, mean, sum)
	}
	tests := []struct {
		why, visible string
		want         []int
	}{
		{"not set: all", "", []int{0, 1, 2, 3}},
		{"UUIDs, cut short", "GPU-dd, GPU-aaaa", []int{0, 3}},
		{"the list ends at the first that does not exist", "1,9,2", []int{1}},
		{"none", "-1", nil},
		{"rubbish", "x", nil},
	}
	for _, tt := range tests {
		var got []int
		for _, r := range Used(four, tt.visible) {
			got = append(got, r.Index)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: Used(%q) (-want +got):\n%s", tt.why, tt.visible, d)
		}
	}

	// CUDA counts by bus address, whatever order the tool lists.
	mixed := []Reading{{Index: 0, UUID: "GPU-x", PCI: "00000000:C1:00.0"}, {Index: 1, UUID: "GPU-y", PCI: "0000:01:00.0"}}
	if got := Used(mixed, "0"); len(got) != 1 || got[0].UUID != "GPU-y" {
		t.Errorf("Used(0) = %v; want the first by bus address", got)
	}
	mig := []Reading{{Index: 0, UUID: "GPU-x"}, {Index: 0, UUID: "MIG-1", Instance: "1"}}
	if got := Used(mig, "MIG-1"); len(got) != 1 || got[0].UUID != "MIG-1" {
		t.Errorf("Used(MIG-1) = %v; want the instance", got)
	}
}

func FuzzFromCSV(f *testing.F) {
	f.Add([]byte("index, utilization.gpu, power.draw\n0, 5 %, [N/A]\n"))
	f.Add([]byte("\"a\nb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		rs, _ := FromCSV(b)
		for _, r := range rs {
			for name, x := range r.Values {
				if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
					t.Fatalf("%s = %v", name, x)
				}
			}
		}
	})
}
