//go:build cgo && linux

package nvml

import (
	"encoding/binary"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/inferencebench/inferencebench/archive"
)

// Field ids of nvmlDeviceGetFieldValues.
const (
	fieldNVLinkTx = 138 // KiB of data, all links
	fieldNVLinkRx = 139
	fieldPCIeTx   = 197 // bytes
	fieldPCIeRx   = 198
)

// allLinks is the scope of a field that is asked for the sum over a GPU's links.
const allLinks = 0xFFFFFFFF

// device is a GPU behind the driver's library.
type device struct {
	lib    nvml.Interface
	dev    nvml.Device
	can    func(symbol string) bool
	index  int
	driver string
	part   bool // a MIG instance
	what   archive.GPU
	gpm    *gpm
}

func (d *device) GPU() archive.GPU { return d.what }

func (d *device) describe() {
	d.what = archive.GPU{Index: d.index, Driver: d.driver, UUID: fmt.Sprintf("index-%d", d.index)}
	if d.can("nvmlDeviceGetUUID") {
		if id, ret := d.dev.GetUUID(); ret == nvml.SUCCESS {
			d.what.UUID = id
		}
	}
	if d.can("nvmlDeviceGetName") {
		d.what.Name, _ = d.dev.GetName()
	}
	if v, err := d.Read(MemoryTotal); err == nil {
		d.what.MemoryMB = int64(v) >> 20
	}
	if v, err := d.Read(PowerLimit); err == nil {
		d.what.PowerW = archive.Some(v)
	}
	d.gpm = newGPM(d)
}

// instances are the MIG instances of the GPU.
func (d *device) instances() (out []*device) {
	if !d.can("nvmlDeviceGetMigMode") || !d.can("nvmlDeviceGetMaxMigDeviceCount") || !d.can("nvmlDeviceGetMigDeviceHandleByIndex") {
		return nil
	}
	if mode, _, ret := d.dev.GetMigMode(); ret != nvml.SUCCESS || mode != nvml.DEVICE_MIG_ENABLE {
		return nil
	}
	n, ret := d.dev.GetMaxMigDeviceCount()
	if ret != nvml.SUCCESS {
		return nil
	}
	for i := range min(n, most) {
		h, ret := d.dev.GetMigDeviceHandleByIndex(i)
		if ret != nvml.SUCCESS {
			continue // there are fewer instances than there could be
		}
		part := &device{lib: d.lib, dev: h, can: d.can, index: d.index, driver: d.driver, part: true}
		part.describe()
		out = append(out, part)
	}
	return out
}

// Processes returns the processes that compute on the GPU.
func (d *device) Processes() (pids []int, ok bool) {
	if !d.can("nvmlDeviceGetComputeRunningProcesses") && !d.can("nvmlDeviceGetComputeRunningProcesses_v2") && !d.can("nvmlDeviceGetComputeRunningProcesses_v3") {
		return nil, false
	}
	list, ret := d.dev.GetComputeRunningProcesses()
	if ret != nvml.SUCCESS {
		return nil, false
	}
	for _, p := range list {
		pids = append(pids, int(p.Pid))
	}
	return pids, true
}

// Read reads one field.
func (d *device) Read(f Field) (float64, error) {
	if d.part && f != MemoryUsed && f != MemoryTotal {
		// Everything else belongs to the whole GPU.
		return 0, ErrUnsupported
	}
	milli := func(v uint32, ret nvml.Return) (float64, error) { return float64(v) / 1000, result(ret) }
	plain := func(v uint32, ret nvml.Return) (float64, error) { return float64(v), result(ret) }
	switch {
	case (f == Util || f == MemoryBusy) && d.can("nvmlDeviceGetUtilizationRates"):
		u, ret := d.dev.GetUtilizationRates()
		if f == Util {
			return plain(u.Gpu, ret)
		}
		return plain(u.Memory, ret)
	case f == MemoryUsed || f == MemoryTotal:
		return d.memory(f)
	case f == Power && d.can("nvmlDeviceGetPowerUsage"):
		return milli(d.dev.GetPowerUsage())
	case f == PowerLimit && d.can("nvmlDeviceGetEnforcedPowerLimit"):
		return milli(d.dev.GetEnforcedPowerLimit())
	case f == Energy && d.can("nvmlDeviceGetTotalEnergyConsumption"):
		mj, ret := d.dev.GetTotalEnergyConsumption()
		return float64(mj) / 1000, result(ret)
	case f == SMClock && d.can("nvmlDeviceGetClockInfo"):
		return plain(d.dev.GetClockInfo(nvml.CLOCK_SM))
	case f == MemoryClock && d.can("nvmlDeviceGetClockInfo"):
		return plain(d.dev.GetClockInfo(nvml.CLOCK_MEM))
	case f == SMClockMax && d.can("nvmlDeviceGetMaxClockInfo"):
		return plain(d.dev.GetMaxClockInfo(nvml.CLOCK_SM))
	case f == Temperature && d.can("nvmlDeviceGetTemperature"):
		return plain(d.dev.GetTemperature(nvml.TEMPERATURE_GPU))
	case f == Reasons && d.can("nvmlDeviceGetCurrentClocksEventReasons"):
		mask, ret := d.dev.GetCurrentClocksEventReasons()
		return float64(mask), result(ret)
	case f == Reasons && d.can("nvmlDeviceGetCurrentClocksThrottleReasons"):
		mask, ret := d.dev.GetCurrentClocksThrottleReasons()
		return float64(mask), result(ret)
	case f == ECCErrors && d.can("nvmlDeviceGetTotalEccErrors"):
		n, ret := d.dev.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC)
		return float64(n), result(ret)
	case f == PCIeTx:
		return d.field(fieldPCIeTx, 0)
	case f == PCIeRx:
		return d.field(fieldPCIeRx, 0)
	case f == NVLinkTx:
		kib, err := d.field(fieldNVLinkTx, allLinks)
		return 1024 * kib, err
	case f == NVLinkRx:
		kib, err := d.field(fieldNVLinkRx, allLinks)
		return 1024 * kib, err
	case f == SMActive || f == SMOccupancy || f == TensorActive || f == DRAMActive:
		return d.gpm.read(f)
	}
	return 0, ErrUnsupported
}

func (d *device) memory(f Field) (float64, error) {
	if d.can("nvmlDeviceGetMemoryInfo_v2") {
		if m, ret := d.dev.GetMemoryInfo_v2(); ret == nvml.SUCCESS {
			if f == MemoryUsed {
				return float64(m.Used), nil
			}
			return float64(m.Total), nil
		}
	}
	if !d.can("nvmlDeviceGetMemoryInfo") {
		return 0, ErrUnsupported
	}
	m, ret := d.dev.GetMemoryInfo()
	if f == MemoryUsed {
		return float64(m.Used), result(ret)
	}
	return float64(m.Total), result(ret)
}

// field reads one of the numbered fields, of the part of the GPU that scope names.
func (d *device) field(id, scope uint32) (float64, error) {
	if !d.can("nvmlDeviceGetFieldValues") {
		return 0, ErrUnsupported
	}
	values := []nvml.FieldValue{{FieldId: id, ScopeId: scope}}
	if err := result(d.dev.GetFieldValues(values)); err != nil {
		return 0, err
	}
	v := values[0]
	if err := result(nvml.Return(v.NvmlReturn)); err != nil {
		return 0, err
	}
	bits := binary.NativeEndian.Uint64(v.Value[:])
	switch nvml.ValueType(v.ValueType) {
	case nvml.VALUE_TYPE_UNSIGNED_INT:
		return float64(uint32(bits)), nil
	case nvml.VALUE_TYPE_UNSIGNED_LONG, nvml.VALUE_TYPE_UNSIGNED_LONG_LONG:
		return float64(bits), nil
	}
	return 0, ErrUnsupported
}
