package sim

import (
	"fmt"
	"sort"
	"strings"
)

// Kernels are the constants of the step-time formula for one GPU and one arithmetic type.
// They were fitted to public timings of single kernels, not to servers.
type Kernels struct {
	Weights  float64 // η_b: reached share of peak bandwidth when streaming weights
	Matmul   float64 // η_f: reached share of peak FLOP/s in large matrix products
	Blend    float64 // p: how sharply the two limits above meet
	Product  float64 // t_g: seconds a matrix product costs beside its bytes
	Prefill  float64 // η_a: reached share of peak FLOP/s in prefill attention
	KVRead   float64 // η_k: reached share of peak bandwidth when reading the KV cache
	PerToken float64 // e_w: seconds a token and layer of elementwise work, at hidden size 4096
}

// GPU is one accelerator: dense peaks, memory, power and kernel constants.
type GPU struct {
	Name     string  // such as "h100_sxm"
	Label    string  // what a driver would call it
	BF16     float64 // peak FLOP/s, dense, 16-bit
	FP8      float64 // peak FLOP/s, dense, 8-bit; 0 where the device has none
	Memory   float64 // bytes
	BW       float64 // peak memory bandwidth, bytes/s
	TDP      float64 // watts
	Idle     float64 // watts when nothing runs
	ClockMHz float64 // highest SM clock
	Reserved float64 // bytes that weights and KV cannot use: runtime, activations, graphs
	Link     string  // key of the all-reduce table
	K16, K8  Kernels // constants for 16-bit and 8-bit weights
}

const (
	tera = 1e12
	giga = 1e9
	gib  = 1 << 30
)

// gpuTable holds the devices with kernel constants. Those of 8-bit weights are measured on
// Hopper and scaled by the 16-bit constants elsewhere; H100 PCIe, GB200, L4 and A10G are
// scaled throughout.
var gpuTable = []GPU{
	{Name: "h100_sxm", Label: "NVIDIA H100 80GB HBM3", BF16: 989 * tera, FP8: 1979 * tera, Memory: 80 * gib, BW: 3350 * giga,
		TDP: 700, Idle: 110, ClockMHz: 1980, Reserved: 3.5 * giga, Link: "h100",
		K16: Kernels{.845, .793, 2.39, 4.3e-6, .60, .95, .088e-6},
		K8:  Kernels{.80, .56, 2.39, 7.8e-6, .60, .95, .088e-6}},
	{Name: "h200_sxm", Label: "NVIDIA H200", BF16: 989 * tera, FP8: 1979 * tera, Memory: 141 * giga, BW: 4800 * giga,
		TDP: 700, Idle: 115, ClockMHz: 1980, Reserved: 3.5 * giga, Link: "h100",
		K16: Kernels{.827, .777, 2.15, 4.3e-6, .60, .92, .061e-6},
		K8:  Kernels{.75, .55, 2.15, 7.8e-6, .60, .92, .061e-6}},
	{Name: "h100_pcie", Label: "NVIDIA H100 PCIe", BF16: 756 * tera, FP8: 1513 * tera, Memory: 80 * gib, BW: 2000 * giga,
		TDP: 350, Idle: 70, ClockMHz: 1755, Reserved: 3.5 * giga, Link: "pcie",
		K16: Kernels{.808, .793, 2.39, 4.3e-6, .60, .95, .147e-6},
		K8:  Kernels{.80, .56, 2.39, 7.8e-6, .60, .95, .147e-6}},
	{Name: "a100_80_sxm", Label: "NVIDIA A100-SXM4-80GB", BF16: 312 * tera, Memory: 80 * gib, BW: 2039 * giga,
		TDP: 400, Idle: 60, ClockMHz: 1410, Reserved: 3.5 * giga, Link: "a100",
		K16: Kernels{.769, .868, 1.55, 4.3e-6, .55, .83, .177e-6}},
	{Name: "a100_40_sxm", Label: "NVIDIA A100-SXM4-40GB", BF16: 312 * tera, Memory: 40 * gib, BW: 1555 * giga,
		TDP: 400, Idle: 55, ClockMHz: 1410, Reserved: 3.5 * giga, Link: "a100",
		K16: Kernels{.759, .868, 1.55, 4.3e-6, .55, .83, .232e-6}},
	{Name: "l40s", Label: "NVIDIA L40S", BF16: 362 * tera, FP8: 733 * tera, Memory: 46068 * (1 << 20), BW: 864 * giga,
		TDP: 350, Idle: 35, ClockMHz: 2520, Reserved: 3.0 * giga, Link: "pcie",
		K16: Kernels{.772, .627, 2.02, 4.3e-6, .50, .85, .25e-6},
		K8:  Kernels{.79, .49, 2.02, 7.8e-6, .50, .85, .25e-6}},
	{Name: "b200_sxm", Label: "NVIDIA B200", BF16: 2250 * tera, FP8: 4500 * tera, Memory: 180 * giga, BW: 7700 * giga,
		TDP: 1000, Idle: 140, ClockMHz: 1965, Reserved: 4.0 * giga, Link: "b200",
		K16: Kernels{.846, .705, 1.78, 4.3e-6, .48, .90, .038e-6},
		K8:  Kernels{.70, .48, 1.78, 7.8e-6, .48, .90, .038e-6}},
	{Name: "gb200", Label: "NVIDIA GB200", BF16: 2500 * tera, FP8: 5000 * tera, Memory: 185 * giga, BW: 8000 * giga,
		TDP: 1200, Idle: 160, ClockMHz: 2062, Reserved: 4.0 * giga, Link: "b200",
		K16: Kernels{.854, .705, 1.78, 4.3e-6, .48, .90, .037e-6},
		K8:  Kernels{.70, .48, 1.78, 7.8e-6, .48, .90, .037e-6}},
	{Name: "l4", Label: "NVIDIA L4", BF16: 121 * tera, FP8: 242 * tera, Memory: 24 * gib, BW: 300 * giga,
		TDP: 72, Idle: 13, ClockMHz: 2040, Reserved: 2.0 * giga, Link: "pcie",
		K16: Kernels{.808, .55, 2.0, 4.3e-6, .45, .85, .75e-6},
		K8:  Kernels{.84, .43, 2.0, 7.8e-6, .45, .85, .75e-6}},
	{Name: "a10g", Label: "NVIDIA A10G", BF16: 70 * tera, Memory: 24 * gib, BW: 600 * giga,
		TDP: 300, Idle: 20, ClockMHz: 1710, Reserved: 2.0 * giga, Link: "pcie",
		K16: Kernels{.815, .65, 2.0, 4.3e-6, .50, .85, .36e-6}},
}

// LookupGPU returns the GPU of that name; case, spaces and dashes do not matter.
// The error lists the names that exist.
func LookupGPU(name string) (GPU, error) {
	key := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(name))
	if key == "a100" || key == "a100_sxm" {
		key = "a100_80_sxm"
	}
	for _, g := range gpuTable {
		if g.Name == key || g.Name+"_sxm" == key || strings.TrimSuffix(g.Name, "_sxm") == key {
			return g, nil
		}
	}
	return GPU{}, fmt.Errorf("unknown GPU %q: known are %s", name, strings.Join(GPUNames(), ", "))
}

// GPUNames lists the GPUs with constants, sorted.
func GPUNames() []string {
	names := make([]string, len(gpuTable))
	for i, g := range gpuTable {
		names[i] = g.Name
	}
	sort.Strings(names)
	return names
}
