package gpu

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/inferencebench/inferencebench/engines/expo"
)

// field is one value and the names that exporters give it, newest spelling last: both are
// the same fact, and the first that a page has counts.
type field struct {
	value string
	names []string
	scale float64
	// percent is set for shares whose newer spelling may be 0 to 1 where the older is 0 to
	// 100.
	share bool
}

// dcgmFields are the DCGM exporter's. DCGM 4.6 renamed many of them.
func dcgmFields() []field {
	return []field{
		{"util_percent", []string{"DCGM_FI_DEV_GPU_UTIL"}, 1, false},
		{"util_percent", []string{"DCGM_FI_DEV_GPU_UTIL_RATIO"}, 1, true},
		{"memory_busy_percent", []string{"DCGM_FI_DEV_MEM_COPY_UTIL"}, 1, false},
		{"engine_active_percent", []string{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO"}, 100, false},
		{"sm_active_percent", []string{"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO"}, 100, false},
		{"sm_occupancy_percent", []string{"DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_SM_OCCUPANCY_RATIO"}, 100, false},
		{"tensor_active_percent", []string{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO"}, 100, false},
		{"dram_active_percent", []string{"DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO"}, 100, false},
		{"memory_used_bytes", []string{"DCGM_FI_DEV_FB_USED"}, 1 << 20, false},
		{"memory_free_bytes", []string{"DCGM_FI_DEV_FB_FREE"}, 1 << 20, false},
		{"memory_total_bytes", []string{"DCGM_FI_DEV_FB_TOTAL"}, 1 << 20, false},
		{"power_watts", []string{"DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS"}, 1, false},
		{"power_limit_watts", []string{"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_POWER_MGMT_LIMIT"}, 1, false},
		{"energy_joules_total", []string{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"}, 0.001, false},
		{"temperature_celsius", []string{"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS"}, 1, false},
		{"memory_temperature_celsius", []string{"DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS"}, 1, false},
		{"sm_clock_mhz", []string{"DCGM_FI_DEV_SM_CLOCK"}, 1, false},
		{"memory_clock_mhz", []string{"DCGM_FI_DEV_MEM_CLOCK"}, 1, false},
		{"clock_event_reasons", []string{"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"}, 1, false},
		{"pcie_tx_bytes_per_second", []string{"DCGM_FI_PROF_PCIE_TX_BYTES"}, 1, false},
		{"pcie_rx_bytes_per_second", []string{"DCGM_FI_PROF_PCIE_RX_BYTES"}, 1, false},
		{"nvlink_tx_bytes_per_second", []string{"DCGM_FI_PROF_NVLINK_TX_BYTES"}, 1, false},
		{"nvlink_rx_bytes_per_second", []string{"DCGM_FI_PROF_NVLINK_RX_BYTES"}, 1, false},
		{"last_xid", []string{"DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR"}, 1, false},
	}
}

// amdFields are those of AMD's device metrics exporter, and of the older one that ended.
// With the newer one every name may have the prefix amd_.
func amdFields() []field {
	return []field{
		{"util_percent", []string{"gpu_gfx_activity", "gpu_use_percent"}, 1, false},
		{"memory_busy_percent", []string{"gpu_umc_activity", "gpu_memory_use_percent"}, 1, false},
		{"power_watts", []string{"gpu_package_power", "gpu_average_package_power", "gpu_power_usage"}, 1, false},
		{"power_watts", []string{"gpu_power"}, 1e-6, false},
		{"energy_joules_total", []string{"gpu_energy_consumed"}, 1e-6, false},
		{"memory_used_bytes", []string{"gpu_used_vram"}, 1e6, false},
		{"memory_total_bytes", []string{"gpu_total_vram"}, 1e6, false},
		{"temperature_celsius", []string{"gpu_junction_temperature", "gpu_edge_temperature"}, 1, false},
		{"memory_temperature_celsius", []string{"gpu_memory_temperature"}, 1, false},
		{"sm_clock_mhz", []string{"gpu_clock"}, 1, false},
		{"sm_active_percent", []string{"gpu_prof_sm_active"}, 1, false},
	}
}

// The names of labels, by what they tell, in the exporters' spellings.
var (
	labelIndex    = []string{"gpu", "gpu_id", "productname_index"}
	labelUUID     = []string{"UUID", "uuid", "gpu_uuid", "serial_number"}
	labelPCI      = []string{"pci_bus_id", "pcie_bus_id", "gpu_pcie_bus_id"}
	labelName     = []string{"modelName", "card_model", "card_series", "productname"}
	labelInstance = []string{"GPU_I_ID", "gpu_partition_id"}
	labelProfile  = []string{"GPU_I_PROFILE"}
)

// blank is the value by which DCGM says that it does not know: numbers from here up.
const blank = 0x7ffffff0

// FromDCGM reads the page of a DCGM exporter.
func FromDCGM(p *expo.Page) []Reading {
	rs := collect(p, dcgmFields(), "")
	for i := range rs {
		v := rs[i].Values
		if used, ok := v["memory_used_bytes"]; ok {
			if free, ok := v["memory_free_bytes"]; ok {
				if _, known := v["memory_total_bytes"]; !known {
					v["memory_total_bytes"] = used + free
				}
			}
		}
		delete(v, "memory_free_bytes")
		if mask, ok := v["clock_event_reasons"]; ok {
			reasons(uint64(mask), v)
		}
		if rs[i].Instance != "" {
			// The driver has no utilisation for MIG; some exporters print 0 for it.
			delete(v, "util_percent")
			delete(v, "memory_busy_percent")
		}
	}
	return rs
}

// FromAMD reads the page of one of AMD's exporters.
func FromAMD(p *expo.Page) []Reading {
	if rs := collect(p, amdFields(), ""); len(rs) > 0 {
		return rs
	}
	return collect(p, amdFields(), "amd_")
}

// reasons turns NVIDIA's bit mask into one value a cause.
func reasons(mask uint64, v map[string]float64) {
	flag := func(bits uint64) float64 {
		if mask&bits != 0 {
			return 1
		}
		return 0
	}
	v["throttle_thermal"] = flag(0x20 | 0x40)
	v["throttle_power"] = flag(0x4 | 0x80)
	v["throttle_hardware"] = flag(0x8)
}

// collect gathers the fields by GPU.
func collect(p *expo.Page, fields []field, prefix string) []Reading {
	byTarget := map[string]*Reading{}
	for _, f := range fields {
		for _, name := range f.names {
			got := p.Get(prefix + name)
			if len(got) == 0 {
				continue
			}
			scale := f.scale
			if f.share && below(got, 1) {
				scale = 100
			}
			for _, s := range got {
				if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || s.Value < 0 || (prefix == "" && name[0] == 'D' && isBlank(f, s.Value)) {
					continue
				}
				r := identify(s)
				have, ok := byTarget[r.Target()]
				if !ok {
					have = &r
					have.Values = map[string]float64{}
					byTarget[r.Target()] = have
				}
				if _, done := have.Values[f.value]; !done {
					have.Values[f.value] = scale * s.Value
				}
			}
			break
		}
	}
	out := make([]Reading, 0, len(byTarget))
	for _, r := range byTarget {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Reading) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Target(), b.Target()))
	})
	return out
}

// isBlank reports whether a DCGM number means "not known". Energy, counted in millijoules,
// reaches such numbers for real.
func isBlank(f field, v float64) bool { return v >= blank && f.value != "energy_joules_total" }

// below reports whether all samples are at most limit.
func below(got []*expo.Sample, limit float64) bool {
	for _, s := range got {
		if s.Value > limit {
			return false
		}
	}
	return true
}

func identify(s *expo.Sample) Reading {
	label := func(names []string) string {
		for _, n := range names {
			if v, ok := s.Label(n); ok && v != "" {
				return v
			}
		}
		return ""
	}
	r := Reading{Index: -1, UUID: label(labelUUID), PCI: label(labelPCI), Name: label(labelName), Instance: label(labelInstance), Profile: label(labelProfile)}
	if n, err := strconv.Atoi(label(labelIndex)); err == nil && n >= 0 {
		r.Index = n
	}
	return r
}
