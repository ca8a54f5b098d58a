package gpu

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxTable bounds what is read of one table.
const maxTable = 1 << 20

// column says what a column of a table is. Names are compared without the unit in brackets.
type column struct {
	value string
	scale float64 // to the unit of the value, when the cell has no unit of its own
}

// columns are those of `nvidia-smi --query-gpu=… --format=csv` and of `amd-smi metric --csv`.
func columns() map[string]column {
	return map[string]column{
		"utilization.gpu": {"util_percent", 1}, "utilization.memory": {"memory_busy_percent", 1},
		"memory.used": {"memory_used_bytes", 1 << 20}, "memory.total": {"memory_total_bytes", 1 << 20},
		"power.draw": {"power_watts", 1}, "power.draw.average": {"power_watts", 1}, "enforced.power.limit": {"power_limit_watts", 1}, "power.limit": {"power_limit_watts", 1},
		"clocks.sm": {"sm_clock_mhz", 1}, "clocks.current.sm": {"sm_clock_mhz", 1}, "clocks.max.sm": {"sm_clock_max_mhz", 1}, "clocks.mem": {"memory_clock_mhz", 1},
		"temperature.gpu": {"temperature_celsius", 1}, "temperature.memory": {"memory_temperature_celsius", 1},
		"total_energy_consumption": {"energy_joules_total", 0.001},
		"gfx_activity":             {"util_percent", 1}, "umc_activity": {"memory_busy_percent", 1},
		"socket_power": {"power_watts", 1}, "average_socket_power": {"power_watts", 1}, "current_socket_power": {"power_watts", 1},
		"used_vram": {"memory_used_bytes", 1 << 20}, "total_vram": {"memory_total_bytes", 1 << 20}, "vram_used": {"memory_used_bytes", 1 << 20}, "vram_total": {"memory_total_bytes", 1 << 20},
		"hotspot": {"temperature_celsius", 1}, "hotspot_temperature": {"temperature_celsius", 1}, "gfx_0_clk": {"sm_clock_mhz", 1}, "gfx_0_max_clk": {"sm_clock_max_mhz", 1},
		"total_energy_consumption_j": {"energy_joules_total", 1},
	}
}

// FromCSV reads a table with a header line, as nvidia-smi and amd-smi print it. A cell that
// is empty, in brackets such as [N/A], or N/A is unknown. Rows that do not fit are an error
// beside the rows that do.
func FromCSV(b []byte) ([]Reading, error) {
	if len(b) > maxTable {
		return nil, fmt.Errorf("GPU table has %d bytes; at most %d are read", len(b), maxTable)
	}
	rd := csv.NewReader(bytes.NewReader(b))
	rd.TrimLeadingSpace, rd.FieldsPerRecord, rd.LazyQuotes = true, -1, true
	head, err := rd.Read()
	if err != nil {
		return nil, fmt.Errorf("GPU table has no header line: %w", err)
	}
	for i := range head {
		head[i], _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(head[i])), " [")
	}
	known := columns()
	var out []Reading
	var bad error
	for n := 0; ; n++ {
		row, err := rd.Read()
		if err == io.EOF {
			return out, bad
		}
		if err != nil || len(row) != len(head) {
			bad = fmt.Errorf("row %d of the GPU table has %d cells; want %d", n+1, len(row), len(head))
			if err != nil {
				return out, bad
			}
			continue
		}
		r := Reading{Index: n, Values: map[string]float64{}}
		for i, cell := range row {
			r.cell(head[i], strings.TrimSpace(cell), known)
		}
		out = append(out, r)
	}
}

func (r *Reading) cell(head, cell string, known map[string]column) {
	if unknown(cell) {
		return
	}
	switch head {
	case "index", "gpu":
		if n, err := strconv.Atoi(cell); err == nil && n >= 0 {
			r.Index = n
		}
	case "uuid", "gpu_uuid":
		r.UUID = cell
	case "pci.bus_id", "gpu_bus_id", "bdf":
		r.PCI = cell
	case "name", "gpu_name", "market_name":
		r.Name = cell
	case "clocks_throttle_reasons.active", "clocks_event_reasons.active":
		if mask, err := strconv.ParseUint(strings.TrimPrefix(cell, "0x"), 16, 64); err == nil {
			r.Values["clock_event_reasons"] = float64(mask)
			reasons(mask, r.Values)
		}
	default:
		c, ok := known[head]
		if !ok {
			return
		}
		num, unit, _ := strings.Cut(cell, " ")
		v, err := strconv.ParseFloat(num, 64)
		if err != nil || v != v || v < 0 || v > 1e18 {
			return
		}
		scale := c.scale
		switch strings.TrimSpace(unit) {
		case "MiB":
			scale = 1 << 20
		case "MB":
			scale = 1e6
		case "GiB":
			scale = 1 << 30
		case "mW":
			scale = 0.001
		}
		if _, done := r.Values[c.value]; !done {
			r.Values[c.value] = scale * v
		}
	}
}

// unknown reports whether a cell says that there is no value.
func unknown(cell string) bool {
	return cell == "" || strings.HasPrefix(cell, "[") || strings.EqualFold(cell, "N/A") || strings.EqualFold(cell, "nan")
}
