package nvml

import (
	"context"
	"errors"
	"fmt"

	"github.com/inferencebench/inferencebench/archive"
)

// ErrUnsupported says that this GPU, or this driver, does not tell a field. It is a fact
// about the GPU, not a failure: the field is unknown, never zero.
var ErrUnsupported = errors.New("not supported by this GPU or driver")

// errNotYet says that a value needs a second reading.
var errNotYet = errors.New("needs a second reading")

// ErrLost says that the GPU has fallen off the bus or needs a reset.
var ErrLost = errors.New("the GPU is lost")

// Device is one GPU, or one MIG instance. It is used by one goroutine at a time; different
// devices may be used at once.
type Device interface {
	// GPU says what it is.
	GPU() archive.GPU
	// Read returns one field, in the unit that the Field constants state. The error is
	// ErrUnsupported, ErrLost, or a passing failure.
	Read(Field) (float64, error)
}

// occupied is a Device that knows which processes compute on it.
type occupied interface {
	// Processes returns their ids, as the host counts them; ok is false when it is not told.
	Processes() (pids []int, ok bool)
}

// Processes returns the processes that compute on the GPU; ok is false when that is not
// told.
func (g *GPU) Processes() (pids []int, ok bool) {
	if d, is := g.dev.(occupied); is {
		return d.Processes()
	}
	return nil, false
}

// GPU is a Device as a telemetry source. It is used by one goroutine at a time.
type GPU struct {
	dev    Device
	what   archive.GPU
	absent [numFields]bool
}

// NewGPU makes a source of a device.
func NewGPU(d Device) *GPU { return &GPU{dev: d, what: d.GPU()} }

// GPU says what the device is.
func (g *GPU) GPU() archive.GPU { return g.what }

// Kind is archive.SourceGPU.
func (g *GPU) Kind() string { return archive.SourceGPU }

// Target is the GPU's UUID.
func (g *GPU) Target() string { return g.what.UUID }

// Read reads every field that the device supports. A field that fails for now is absent
// from this reading; the reading fails when the GPU is lost or no field could be read.
func (g *GPU) Read(context.Context) (map[string]float64, error) {
	v := make(map[string]float64, numFields)
	var failure error
	for f := range numFields {
		if g.absent[f] {
			continue
		}
		x, err := g.dev.Read(f)
		switch {
		case err == nil && f == Reasons:
			reasons(uint64(x), v)
		case err == nil:
			v[valueName(f)] = x
		case errors.Is(err, ErrLost):
			return nil, err
		case errors.Is(err, ErrUnsupported):
			g.absent[f] = true
		default:
			failure = err
		}
	}
	if len(v) == 0 {
		if failure == nil {
			failure = ErrUnsupported
		}
		return nil, fmt.Errorf("no field of the GPU could be read: %w", failure)
	}
	return v, nil
}

// reasons turns the bit mask into one value a cause.
func reasons(mask uint64, v map[string]float64) {
	flag := func(bits uint64) float64 {
		if mask&bits != 0 {
			return 1
		}
		return 0
	}
	v["throttle_thermal"] = flag(ReasonSWThermal | ReasonHWThermal)
	v["throttle_power"] = flag(ReasonPowerCap | ReasonPowerBrake)
	v["throttle_hardware"] = flag(ReasonSlowdown)
	v["clock_event_reasons"] = float64(mask)
}
