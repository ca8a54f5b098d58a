//go:build !cgo || !linux

package nvml

import (
	"context"

	"github.com/inferencebench/inferencebench/archive"
)

// Open finds no GPU: this build cannot load the driver's library.
func Open() (gpus []*GPU, note string) {
	gpus, _, note = OpenAll()
	return gpus, note
}

// Errors follows nothing in this build.
type Errors struct{}

// Watch waits for the end.
func (*Errors) Watch(ctx context.Context, _ archive.Clock, _ func(archive.Event)) error {
	<-ctx.Done()
	return nil
}

// OpenAll finds no GPU, as Open.
func OpenAll() (gpus []*GPU, errors *Errors, note string) {
	return nil, nil, "this build reads no GPU telemetry by itself (it needs cgo on Linux); a DCGM or AMD exporter's page can be read instead"
}
