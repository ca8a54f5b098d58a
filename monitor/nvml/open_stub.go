//go:build !cgo || !linux

package nvml

// Open finds no GPU: this build cannot load the driver's library.
func Open() (gpus []*GPU, note string) {
	return nil, "this build reads no GPU telemetry by itself (it needs cgo on Linux); a DCGM or AMD exporter's page can be read instead"
}
