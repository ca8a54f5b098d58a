//go:build cgo && linux

package nvml

import (
	"context"
	"fmt"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/inferencebench/inferencebench/archive"
)

// waitFor is how long one wait for an event of the driver lasts.
const waitFor = 500 // milliseconds

// Errors follows the errors that the driver reports of its GPUs, which it numbers and calls
// Xid.
type Errors struct {
	lib  nvml.Interface
	gpus map[string]nvml.Device
}

// newErrors is nil where the library cannot tell.
func newErrors(lib nvml.Interface, can func(string) bool, gpus []*GPU) *Errors {
	if !can("nvmlEventSetCreate") || !can("nvmlDeviceRegisterEvents") || !can("nvmlEventSetFree") || !can("nvmlEventSetWait") && !can("nvmlEventSetWait_v2") {
		return nil
	}
	e := &Errors{lib: lib, gpus: map[string]nvml.Device{}}
	for _, g := range gpus {
		if d, ok := g.dev.(*device); ok && !d.part {
			e.gpus[g.Target()] = d.dev
		}
	}
	return e
}

// Watch emits an event for each error until ctx is done. GPUs that do not report errors are
// left out; it ends when none does.
func (e *Errors) Watch(ctx context.Context, clock archive.Clock, emit func(archive.Event)) error {
	set, ret := e.lib.EventSetCreate()
	if ret != nvml.SUCCESS {
		return fmt.Errorf("GPU errors cannot be followed: %s", ret.Error())
	}
	defer set.Free()
	registered := 0
	for _, d := range e.gpus {
		if d.RegisterEvents(nvml.EventTypeXidCriticalError, set) == nvml.SUCCESS {
			registered++
		}
	}
	if registered == 0 {
		return nil
	}
	for ctx.Err() == nil {
		data, ret := set.Wait(waitFor)
		switch ret {
		case nvml.SUCCESS:
			if data.EventType == nvml.EventTypeXidCriticalError {
				emit(e.event(data, clock.Now()))
			}
		case nvml.ERROR_TIMEOUT:
		default:
			// A lost GPU makes every wait return at once.
			select {
			case <-ctx.Done():
			case <-time.After(waitFor * time.Millisecond):
			}
		}
	}
	return nil
}

func (e *Errors) event(data nvml.EventData, now archive.Instant) archive.Event {
	target := ""
	for uuid, d := range e.gpus {
		if d == data.Device {
			target = uuid
		}
	}
	return archive.Event{
		T: now, Kind: "gpu_error", Severity: archive.SeverityError, Source: "monitor",
		Message: fmt.Sprintf("GPU %s: the driver reports error Xid %d", target, data.EventData),
		Fields:  map[string]any{"source": archive.SourceGPU, "target": target, "xid": data.EventData},
	}
}
