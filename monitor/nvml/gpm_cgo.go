//go:build cgo && linux

package nvml

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// gpmApart is the least time between the two samples that a metric is computed from; the
// library asks for more than 100 ms.
const gpmApart = 150 * time.Millisecond

// gpm reads the performance monitor of Hopper and later GPUs: shares of time between two
// readings. It holds two samples of the library and swaps them.
type gpm struct {
	d         *device
	old, new  nvml.GpmSample
	oldAt     time.Time
	values    map[nvml.GpmMetricId]float64
	valuesAge time.Time
	err       error
}

// newGPM is nil for a GPU without the monitor.
func newGPM(d *device) *gpm {
	if d.part {
		return nil
	}
	for _, s := range []string{"nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleGet", "nvmlGpmMetricsGet", "nvmlGpmSampleFree"} {
		if !d.can(s) {
			return nil
		}
	}
	support, ret := d.dev.GpmQueryDeviceSupport()
	if ret != nvml.SUCCESS || support.IsSupportedDevice == 0 {
		return nil
	}
	g := &gpm{d: d}
	if g.old, ret = d.lib.GpmSampleAlloc(); ret != nvml.SUCCESS {
		return nil
	}
	if g.new, ret = d.lib.GpmSampleAlloc(); ret != nvml.SUCCESS {
		_ = d.lib.GpmSampleFree(g.old)
		return nil
	}
	return g
}

var gpmMetric = map[Field]nvml.GpmMetricId{
	SMActive: nvml.GPM_METRIC_SM_UTIL, SMOccupancy: nvml.GPM_METRIC_SM_OCCUPANCY,
	TensorActive: nvml.GPM_METRIC_ANY_TENSOR_UTIL, DRAMActive: nvml.GPM_METRIC_DRAM_BW_UTIL,
}

// read returns a metric since the sample before. All metrics of one reading of the GPU
// come from one pair of samples.
func (g *gpm) read(f Field) (float64, error) {
	if g == nil {
		return 0, ErrUnsupported
	}
	if now := time.Now(); now.Sub(g.valuesAge) > gpmApart/2 {
		g.take(now)
	}
	if g.err != nil {
		return 0, g.err
	}
	v, ok := g.values[gpmMetric[f]]
	if !ok {
		return 0, errNotYet
	}
	return v, nil
}

func (g *gpm) take(now time.Time) {
	g.valuesAge = now
	if !g.oldAt.IsZero() && now.Sub(g.oldAt) < gpmApart {
		return // too soon: the values of the reading before stand
	}
	g.values = nil
	if g.err = result(g.d.dev.GpmSampleGet(g.new)); g.err != nil {
		return
	}
	if !g.oldAt.IsZero() {
		g.compute()
	}
	g.old, g.new = g.new, g.old
	g.oldAt = now
}

func (g *gpm) compute() {
	ids := []nvml.GpmMetricId{nvml.GPM_METRIC_SM_UTIL, nvml.GPM_METRIC_SM_OCCUPANCY, nvml.GPM_METRIC_ANY_TENSOR_UTIL, nvml.GPM_METRIC_DRAM_BW_UTIL}
	get := nvml.GpmMetricsGetType{Version: nvml.GPM_METRICS_GET_VERSION, NumMetrics: uint32(len(ids)), Sample1: g.old, Sample2: g.new}
	for i, id := range ids {
		get.Metrics[i].MetricId = uint32(id)
	}
	if g.err = result(g.d.lib.GpmMetricsGet(&get)); g.err != nil {
		return
	}
	g.values = map[nvml.GpmMetricId]float64{}
	for i, id := range ids {
		if m := get.Metrics[i]; nvml.Return(m.NvmlReturn) == nvml.SUCCESS && m.Value >= 0 && m.Value <= 100 {
			g.values[id] = m.Value
		}
	}
}
