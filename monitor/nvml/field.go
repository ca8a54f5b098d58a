package nvml

// Field is one quantity of a GPU.
type Field int

// The fields, each with the unit that a Device reads it in.
const (
	Util         Field = iota // share of time in which any kernel ran, in percent
	MemoryBusy                // share of time in which memory was read or written, in percent
	MemoryUsed                // bytes
	MemoryTotal               // bytes
	Power                     // watts, a mean over about a second on newer GPUs
	PowerLimit                // watts
	Energy                    // joules since the driver was loaded
	SMClock                   // MHz
	SMClockMax                // MHz
	MemoryClock               // MHz
	Temperature               // degrees Celsius
	Reasons                   // why clocks are low: a bit mask, see the Reason constants
	ECCErrors                 // uncorrected memory errors since the driver was loaded
	PCIeTx                    // bytes since some point in time, may wrap
	PCIeRx                    // bytes since some point in time, may wrap
	SMActive                  // share of time in which an SM had work, mean over SMs, in percent
	SMOccupancy               // warps resident against the most possible, in percent
	TensorActive              // share of time in which the tensor cores worked, in percent
	DRAMActive                // share of the memory bandwidth that was used, in percent
	NVLinkTx                  // bytes sent over all links since some point in time
	NVLinkRx                  // bytes received over all links since some point in time
	numFields
)

// The bits of Reasons.
const (
	ReasonIdle       = 0x1
	ReasonAppClocks  = 0x2
	ReasonPowerCap   = 0x4  // the power limit holds the clocks: normal for a busy GPU
	ReasonSlowdown   = 0x8  // hardware slowdown, thermal or power
	ReasonSWThermal  = 0x20 // the driver lowers the clocks for temperature
	ReasonHWThermal  = 0x40 // the hardware lowers the clocks for temperature
	ReasonPowerBrake = 0x80 // an outside signal lowers the clocks for power
)

// valueName is the name of a field's value in a sample; "" for Reasons, which becomes
// several.
func valueName(f Field) string {
	return [numFields]string{
		Util: "util_percent", MemoryBusy: "memory_busy_percent", MemoryUsed: "memory_used_bytes", MemoryTotal: "memory_total_bytes",
		Power: "power_watts", PowerLimit: "power_limit_watts", Energy: "energy_joules_total",
		SMClock: "sm_clock_mhz", SMClockMax: "sm_clock_max_mhz", MemoryClock: "memory_clock_mhz", Temperature: "temperature_celsius",
		ECCErrors: "ecc_uncorrected_total", PCIeTx: "pcie_tx_bytes_total", PCIeRx: "pcie_rx_bytes_total",
		NVLinkTx: "nvlink_tx_bytes_total", NVLinkRx: "nvlink_rx_bytes_total",
		SMActive: "sm_active_percent", SMOccupancy: "sm_occupancy_percent", TensorActive: "tensor_active_percent", DRAMActive: "dram_active_percent",
	}[f]
}
