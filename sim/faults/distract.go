package faults

import (
	"math"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// Distractor is an anomaly that is really in the records and is not the cause.
type Distractor string

// The distractors.
const (
	MetricGap     Distractor = "metric_gap"     // no engine sample for ten seconds
	Restart       Distractor = "restart"        // the engine's counters start again from zero
	Quantised     Distractor = "quantised"      // gauges in coarse steps, counters in hundreds
	DiskSpike     Distractor = "disk_spike"     // ten seconds of heavy disk use on the host
	CPUBlip       Distractor = "cpu_blip"       // three seconds of a busy host, with nothing slower for it
	LateScrapes   Distractor = "late_scrapes"   // every fifth sample half a second late
	MissingSeries Distractor = "missing_series" // half of the engine's histograms are not exposed
)

// Distractors lists them all.
func Distractors() []Distractor {
	return []Distractor{MetricGap, Restart, Quantised, DiskSpike, CPUBlip, LateScrapes, MissingSeries}
}

// distract edits the telemetry as the options ask.
func (r *Run) distract(s *scenario, opt Options) {
	r.Samples = slices.DeleteFunc(r.Samples, func(x *archive.Sample) bool { return slices.Contains(opt.Withhold, x.Source) })
	d := float64(s.run.Duration)
	for _, kind := range opt.Distract {
		from := time.Duration(d * (0.25 + 0.4*s.rng.Float64()))
		inside := func(x *archive.Sample, length time.Duration) bool {
			return x.T >= offline.Instant(from) && x.T < offline.Instant(from+length)
		}
		switch kind {
		case MetricGap:
			r.Samples = slices.DeleteFunc(r.Samples, func(x *archive.Sample) bool {
				return x.Source == archive.SourceEngine && inside(x, 10*time.Second)
			})
			r.event(from, archive.EventSourceLost, archive.SeverityWarning, "the engine's metrics page did not answer for 10 s")
		case Restart:
			r.restart(offline.Instant(from))
			r.event(from, archive.EventEngineRestart, archive.SeverityWarning, "the engine's counters fell to zero")
		case Quantised:
			r.quantise()
		case DiskSpike:
			r.host(func(x *archive.Sample) bool { return inside(x, 10*time.Second) }, "disk_write_bytes_per_second", 9e8)
			r.event(from, "disk_busy", archive.SeverityWarning, "the server's disk was busy for 10 s")
		case CPUBlip:
			r.host(func(x *archive.Sample) bool { return inside(x, 3*time.Second) }, "cpu_percent", 96)
		case LateScrapes:
			for i, x := range r.Samples {
				if i%5 == 0 {
					x.T += archive.Instant(500 * time.Millisecond)
				}
			}
			slices.SortStableFunc(r.Samples, func(a, b *archive.Sample) int { return int(a.T - b.T) })
		case MissingSeries:
			for _, x := range r.Samples {
				for name := range x.Values {
					for _, h := range []string{"request_tpot", "inference_time", "decode_time", "iteration_tokens"} {
						if len(name) > len(h) && name[:len(h)] == h {
							delete(x.Values, name)
						}
					}
				}
			}
		}
	}
}

func (r *Run) event(at time.Duration, kind string, sev archive.Severity, text string) {
	r.Events = append(r.Events, &archive.Event{T: offline.Instant(at), Kind: kind, Severity: sev, Source: "monitor", Message: text})
	slices.SortStableFunc(r.Events, func(a, b *archive.Event) int { return int(a.T - b.T) })
}

// host sets one value of the host samples that ok accepts.
func (r *Run) host(ok func(*archive.Sample) bool, name string, v float64) {
	for _, x := range r.Samples {
		if x.Source == archive.SourceHost && ok(x) {
			x.Values[name] = v
		}
	}
}

// restart makes the engine's cumulative values start from zero at an instant.
func (r *Run) restart(at archive.Instant) {
	var base map[string]float64
	for _, x := range r.Samples {
		if x.Source != archive.SourceEngine || x.T < at {
			continue
		}
		if base == nil {
			base = make(map[string]float64)
			for name, v := range x.Values {
				if cumulative(name) {
					base[name] = v
				}
			}
		}
		for name, v := range base {
			x.Values[name] -= v
		}
	}
}

// quantise rounds what some exporters round.
func (r *Run) quantise() {
	for _, x := range r.Samples {
		for name, v := range x.Values {
			switch {
			case name == "kv_cache_usage" || name == "kv_cache_usage_max":
				x.Values[name] = math.Round(v*20) / 20
			case name == "prompt_tokens_total" || name == "generation_tokens_total":
				x.Values[name] = math.Floor(v/100) * 100
			case name == "power_watts" || name == "temperature_celsius":
				x.Values[name] = math.Round(v/5) * 5
			}
		}
	}
}

// cumulative reports whether a signal only grows.
func cumulative(name string) bool {
	for _, s := range []string{"_total", "_sum", "_count"} {
		if len(name) > len(s) && name[len(name)-len(s):] == s {
			return true
		}
	}
	for i := range name {
		if name[i] == ':' {
			return i > 7 && name[i-7:i] == "_bucket"
		}
	}
	return false
}
