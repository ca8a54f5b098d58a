package analyst

import (
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/archive"
)

// logScale places v on a logarithmic scale from bad (0) to good (1), cut at both ends.
func logScale(v, bad, good float64) float64 {
	if v <= 0 {
		return 0
	}
	return math.Max(0, math.Min(1, math.Log(v/bad)/math.Log(good/bad)))
}

// radar computes the five axes. An axis without its numbers is unknown, with the reason.
func (w *work) radar(a *archive.Analysis, f *attribute.Facts) []archive.Axis {
	return []archive.Axis{w.speedAxis(), w.costAxis(), qualityAxis(a), w.stabilityAxis(), w.efficiencyAxis(f)}
}

func (w *work) speedAxis() archive.Axis {
	x := archive.Axis{Name: "speed", Scale: "mean of two logarithmic scales: median time to first token from 10 s (0) to 100 ms (1), and median output speed of one user from 1 (0) to 100 tokens/s (1)"}
	ttft, ok1 := w.value("ttft", "all", "p50")
	speed, ok2 := w.value("output_speed", "all", "p50")
	if !ok1 || !ok2 {
		x.Reason = "needs a median time to first token and a median output speed; token counts or requests are missing"
		return x
	}
	x.Value = metrics.Number((logScale(ttft.Value.Or(0), 10000, 100) + logScale(speed.Value.Or(0), 1, 100)) / 2)
	return x
}

func (w *work) costAxis() archive.Axis {
	x := archive.Axis{Name: "cost", Scale: "US dollars per million output tokens, everything charged to them, logarithmic, from 100 (0) to 0.10 (1)"}
	if w.opts.USDHour <= 0 {
		x.Reason = "no price was given"
		return x
	}
	usd, ok := w.value("cost_output_only", "all", "value")
	if !ok {
		x.Reason = "nothing was generated in the measured window"
		return x
	}
	x.Value = metrics.Number(logScale(usd.Value.Or(0), 100, 0.1))
	return x
}

func qualityAxis(a *archive.Analysis) archive.Axis {
	x := archive.Axis{Name: "quality", Scale: "share of the scored checkpoint items that were right"}
	scored, correct := 0, 0
	for _, q := range a.Quality {
		scored += q.Scored
		correct += q.Correct
	}
	if scored == 0 {
		x.Reason = "no checkpoint item was scored"
		return x
	}
	x.Value = metrics.Number(float64(correct) / float64(scored))
	x.Scale += fmt.Sprintf(" (%d of %d)", correct, scored)
	return x
}

func (w *work) stabilityAxis() archive.Axis {
	x := archive.Axis{Name: "stability", Scale: "P95 over median of the normalised latency, logarithmic, from 10 (0) to 1 (1), times the share of requests that did not fail"}
	p50, ok1 := w.value("norm_latency", "all", "p50")
	p95, ok2 := w.value("norm_latency", "all", "p95")
	errs, ok3 := w.value("error_rate", "all", "value")
	if !ok1 || !ok2 || !ok3 || p50.Value.Or(0) <= 0 {
		x.Reason = "needs 20 requests with token counts"
		return x
	}
	x.Value = metrics.Number(logScale(p95.Value.Or(0)/p50.Value.Or(1), 10, 1) * (1 - errs.Value.Or(0)))
	return x
}

func (w *work) efficiencyAxis(f *attribute.Facts) archive.Axis {
	x := archive.Axis{Name: "efficiency", Scale: "the larger of memory bandwidth and arithmetic used while busy, over the share of the peak that kernels reach on the device"}
	if !f.MFU.OK || !f.MBU.OK || f.StreamShare <= 0 || f.MatmulShare <= 0 {
		x.Reason = "the device and the model's shape are not known"
		return x
	}
	x.Value = metrics.Number(math.Min(1, math.Max(f.MBU.V/f.StreamShare, f.MFU.V/f.MatmulShare)))
	return x
}
