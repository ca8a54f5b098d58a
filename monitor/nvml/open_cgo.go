//go:build cgo && linux

package nvml

import (
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// most bounds the GPUs of one machine: the count comes from outside.
const most = 256

// Open finds the GPUs of this machine. Without a driver there are none and note says why.
// The library stays open for the life of the process. With MIG on, each instance is a GPU of
// its own beside the one that it is part of.
func Open() (gpus []*GPU, note string) {
	gpus, _, note = open(nvml.New())
	return gpus, note
}

// OpenAll is Open, and what follows the errors that the driver reports; nil where it does
// not tell.
func OpenAll() (gpus []*GPU, errors *Errors, note string) { return open(nvml.New()) }

func open(lib nvml.Interface) (gpus []*GPU, xid *Errors, note string) {
	switch ret := lib.Init(); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		// No other call may follow: the library's functions are not there.
		return nil, nil, "no NVIDIA driver on this machine: GPU telemetry is off"
	default:
		return nil, nil, fmt.Sprintf("the NVIDIA driver does not work (%s): GPU telemetry is off", ret.Error())
	}
	n, ret := lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return nil, nil, fmt.Sprintf("the NVIDIA driver lists no GPU (%s): GPU telemetry is off", ret.Error())
	}
	can := symbols(lib)
	driver := ""
	if can("nvmlSystemGetDriverVersion") {
		driver, _ = lib.SystemGetDriverVersion()
	}
	var failed error
	for i := range min(n, most) {
		d, ret := lib.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			failed = errors.Join(failed, fmt.Errorf("GPU %d: %s", i, ret.Error()))
			continue
		}
		dev := &device{lib: lib, dev: d, can: can, index: i, driver: driver}
		dev.describe()
		gpus = append(gpus, NewGPU(dev))
		for _, part := range dev.instances() {
			gpus = append(gpus, NewGPU(part))
		}
	}
	switch {
	case failed != nil:
		note = "not every GPU can be read: " + failed.Error()
	case n == 0:
		note = "the NVIDIA driver lists no GPU: GPU telemetry is off"
	}
	return gpus, newErrors(lib, can, gpus), note
}

// symbols reports whether the loaded library has a function. What is not there must not be
// called.
func symbols(lib nvml.Interface) func(name string) bool {
	seen := map[string]bool{}
	for _, name := range []string{
		"nvmlSystemGetDriverVersion", "nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2",
		"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetTotalEnergyConsumption",
		"nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetCurrentClocksEventReasons",
		"nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetFieldValues", "nvmlDeviceGetMigMode",
		"nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc",
		"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3",
		"nvmlEventSetCreate", "nvmlEventSetFree", "nvmlEventSetWait", "nvmlEventSetWait_v2", "nvmlDeviceRegisterEvents",
		"nvmlGpmSampleGet", "nvmlGpmMetricsGet", "nvmlGpmSampleFree",
	} {
		seen[name] = lib.Extensions().LookupSymbol(name) == nil
	}
	return func(name string) bool { return seen[name] }
}

// result turns a return code into an error of this package.
func result(ret nvml.Return) error {
	switch ret {
	case nvml.SUCCESS:
		return nil
	case nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_NO_PERMISSION, nvml.ERROR_NOT_FOUND, nvml.ERROR_FUNCTION_NOT_FOUND,
		nvml.ERROR_ARGUMENT_VERSION_MISMATCH, nvml.ERROR_INVALID_ARGUMENT, nvml.ERROR_DEPRECATED:
		return ErrUnsupported
	case nvml.ERROR_GPU_IS_LOST, nvml.ERROR_RESET_REQUIRED, nvml.ERROR_GPU_NOT_FOUND:
		return fmt.Errorf("%w: %s", ErrLost, ret.Error())
	}
	return errors.New(ret.Error())
}
