package roofline

import (
	"slices"
	"strings"
)

// AsOf is the month of the device table.
const AsOf = "2026-11"

// Device is one accelerator's dense peaks and what kernels reach of them.
type Device struct {
	Name   string
	BF16   float64 // FLOP/s, dense, 16-bit
	FP8    float64 // FLOP/s, dense, 8-bit floating point; 0 where there is none
	Int8   float64 // operations/s, dense, 8-bit integer; 0 where unknown
	Memory float64 // bytes
	BW     float64 // bytes/s
	TDP    float64 // watts
	// Matmul and Stream are the measured shares of the peaks that large products and
	// weight streaming reach; typical values where nobody measured.
	Matmul, Stream float64
	// Measured says whether Matmul and Stream were measured on this device.
	Measured bool
	Source   string
	match    []string // lower-case parts of a driver's name, all of which must occur
}

const (
	tera = 1e12
	giga = 1e9
	// Typical reached shares where none were measured.
	typicalMatmul, typicalStream = 0.65, 0.75
)

// Devices returns the table, the more specific names first.
func Devices() []Device {
	d := func(name string, bf16, fp8, int8, mem, bw, tdp, matmul, stream float64, source string, match ...string) Device {
		x := Device{Name: name, BF16: bf16 * tera, FP8: fp8 * tera, Int8: int8 * tera, Memory: mem * giga, BW: bw * giga, TDP: tdp,
			Matmul: matmul, Stream: stream, Measured: matmul > 0, Source: source, match: match}
		if !x.Measured {
			x.Matmul, x.Stream = typicalMatmul, typicalStream
		}
		return x
	}
	const sheet, kernels = "vendor data sheet", "vendor data sheet; shares fitted to public kernel timings"
	return []Device{
		d("H100 NVL", 835, 1671, 1671, 100.9, 3938, 400, 0, 0, sheet, "h100", "nvl"),
		d("H100 PCIe", 756, 1513, 1513, 85.9, 2000, 350, 0, 0, sheet, "h100", "pcie"),
		d("H100 SXM", 989, 1979, 1979, 85.9, 3350, 700, .793, .760, kernels, "h100"),
		d("H200 SXM", 989, 1979, 1979, 141, 4800, 700, .777, .715, kernels, "h200"),
		d("GB200", 2500, 5000, 5000, 186, 8000, 1200, 0, 0, sheet, "gb200"),
		d("B200 SXM", 2250, 4500, 4500, 180, 7700, 1000, .705, .673, kernels, "b200"),
		d("GB300", 2500, 5000, 165, 278, 8000, 1400, 0, 0, sheet, "gb300"),
		d("B300", 2250, 4500, 154, 268, 7750, 1100, 0, 0, sheet, "b300"),
		d("A100-40 SXM", 312, 0, 624, 42.9, 1555, 400, .868, .731, kernels, "a100", "40gb"),
		d("A100-80 PCIe", 312, 0, 624, 85.9, 1935, 300, .868, .731, kernels, "a100", "pcie"),
		d("A100-80 SXM", 312, 0, 624, 85.9, 2039, 400, .868, .731, kernels, "a100"),
		d("L40S", 362, 733, 733, 48.3, 864, 350, .627, .752, kernels, "l40s"),
		d("L4", 121, 242, 242, 25.8, 300, 72, 0, 0, sheet, "l4"),
		d("A10G", 70, 0, 140, 25.8, 600, 300, 0, 0, "sources conflict, measure", "a10g"),
		d("A10", 125, 0, 250, 24, 600, 150, 0, 0, sheet, "a10"),
		d("T4", 65, 0, 130, 16, 320, 70, 0, 0, "vendor data sheet; fp16, no bf16", "t4"),
		d("RTX 4090", 165, 330, 661, 24, 1008, 450, 0, 0, sheet, "4090"),
		d("RTX 5090", 210, 419, 838, 32, 1792, 575, 0, 0, sheet, "5090"),
		d("RTX PRO 6000", 468, 936, 936, 96, 1792, 600, 0, 0, sheet, "pro", "6000"),
		d("MI250", 362, 0, 362, 128, 3277, 560, 0, 0, sheet, "mi250"),
		d("MI300X", 1307, 2615, 2615, 192, 5300, 750, 0, 0, sheet, "mi300x"),
		d("MI325X", 1307, 2615, 2615, 256, 6000, 1000, 0, 0, sheet, "mi325x"),
		d("Intel B60", 98, 0, 197, 24, 456, 200, 0, 0, sheet, "b60"),
	}
}

// FindDevice returns the device of a driver's or a user's name, such as "NVIDIA H100 80GB
// HBM3", "h100_sxm" or "L4". ok is false when none matches.
func FindDevice(name string) (Device, bool) {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	for _, d := range Devices() {
		all := true
		for _, m := range d.match {
			all = all && slices.ContainsFunc(words, func(w string) bool {
				return w == m || m == "40gb" && w == "40"
			})
		}
		if all {
			return d, true
		}
	}
	return Device{}, false
}
