// Package health watches samples as they come and dates what goes wrong: a GPU that falls
// idle under load, clocks lowered for heat, memory that only grows, output that decays, a
// burst of errors, a process ended for want of memory.
//
// Each rule says what it found once, and once more when it is over, so that a run of hours
// has events and not a stream of them. Rules look at what is told; a value that is absent
// is unknown and starts nothing.
package health

import (
	"fmt"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Kinds of events. Fields hold source, target, and the numbers of the case.
const (
	EventGPUIdle     = "gpu_idle"           // no GPU work although requests are open
	EventThermal     = "gpu_throttle"       // clocks are lowered for heat, or by the hardware
	EventXID         = "gpu_error"          // the driver reports a new error
	EventMemory      = "memory_growth"      // memory of a process only grows
	EventDecay       = "throughput_decay"   // output falls although as many requests are open
	EventErrorBurst  = "error_burst"        // many requests fail at once
	EventOOMKill     = "oom_kill"           // the kernel ended a process for want of memory
	EventLowMemory   = "host_memory_low"    // the host runs out of memory
	EventOver        = "condition_over"     // one of the above ended; Fields: condition
	EventQueueGrowth = "engine_queue_grows" // the server's queue only grows
)

// The rules' numbers.
const (
	idleFor     = 5 * time.Second
	slopeWindow = 5 * time.Minute
	slopePoints = 30   // fewest points of a slope
	slopeFit    = 0.8  // least share of the variance that a straight line must explain
	memoryRise  = 0.10 // of the first value, over the window
	decayFall   = 0.15
	burstWindow = 10 * time.Second
	burstFails  = 5
	burstShare  = 0.2
	lowMemory   = 256 << 20 // bytes
)

// Watch holds the state of the rules. It is used by one goroutine at a time.
type Watch struct {
	emit func(archive.Event)

	inFlight      float64
	inFlightKnown bool
	idleSince     map[string]archive.Instant
	on            map[string]bool // conditions that hold, by kind and target
	series        map[string]*series
	burst         []counts
	xid           map[string]float64
	ooms          map[string]float64
	outputs       struct {
		last  float64
		at    archive.Instant
		known bool
	}
}

type counts struct {
	t          archive.Instant
	ok, failed float64
}

// New makes a watch that reports to emit.
func New(emit func(archive.Event)) *Watch {
	return &Watch{emit: emit, idleSince: map[string]archive.Instant{}, on: map[string]bool{}, series: map[string]*series{}, xid: map[string]float64{}, ooms: map[string]float64{}}
}

// Add looks at one sample. Samples of one source must come in time order. A failed sample
// says nothing.
func (w *Watch) Add(s archive.Sample) {
	if s.Error != "" {
		return
	}
	switch s.Source {
	case archive.SourceClient:
		w.client(s)
	case archive.SourceGPU:
		w.gpu(s)
	case archive.SourceHost:
		w.host(s)
	case archive.SourceEngine:
		w.engine(s)
	}
}

// set reports that a condition starts or ends.
func (w *Watch) set(kind string, s archive.Sample, holds bool, sev archive.Severity, fields map[string]any, format string, args ...any) {
	key := kind + "|" + s.Target
	if holds == w.on[key] {
		return
	}
	w.on[key] = holds
	e := archive.Event{T: s.T, Kind: kind, Severity: sev, Source: "monitor", Message: fmt.Sprintf(format, args...), Fields: fields}
	if !holds {
		e.Kind, e.Severity, e.Message = EventOver, archive.SeverityInfo, "over: "+kind
	}
	if e.Fields == nil {
		e.Fields = map[string]any{}
	}
	e.Fields["source"], e.Fields["target"], e.Fields["condition"] = s.Source, s.Target, kind
	w.emit(e)
}

func (w *Watch) client(s archive.Sample) {
	w.inFlight, w.inFlightKnown = s.Values["in_flight"], has(s, "in_flight")
	if rss, ok := s.Values["rss_bytes"]; ok {
		w.growth(s, "client", rss)
	}
	ok, known1 := s.Values["requests_ok_total"]
	failed, known2 := s.Values["requests_failed_total"]
	if known1 && known2 {
		w.errors(s, ok, failed)
	}
	if out, known := s.Values["output_tokens_total"]; known {
		w.decay(s, out)
	}
}

// errors looks at the requests that ended in the last seconds.
func (w *Watch) errors(s archive.Sample, ok, failed float64) {
	w.burst = append(w.burst, counts{s.T, ok, failed})
	for len(w.burst) > 1 && s.T.Sub(w.burst[1].t) >= burstWindow {
		w.burst = w.burst[1:]
	}
	first := w.burst[0]
	bad, good := failed-first.failed, ok-first.ok
	holds := bad >= burstFails && bad >= burstShare*(bad+good)
	w.set(EventErrorBurst, s, holds, archive.SeverityError, map[string]any{"failed": bad, "ok": good},
		"%.0f of %.0f requests that ended in %v failed", bad, bad+good, s.T.Sub(first.t).Round(time.Second))
}

// decay looks at tokens a second while the number of open requests stays.
func (w *Watch) decay(s archive.Sample, out float64) {
	o := &w.outputs
	if o.known && s.T > o.at && out >= o.last && w.inFlight > 0 {
		rate := (out - o.last) / s.T.Sub(o.at).Seconds()
		// Per open request, so that a load that ebbs is not taken for a server that tires.
		fall, per, ok := w.slope("rate", s.T, rate/w.inFlight)
		w.set(EventDecay, s, ok && fall < -decayFall, archive.SeverityWarning, map[string]any{"change": fall},
			"output for each open request fell by %.0f %% over %v", -100*fall, per)
	}
	o.last, o.at, o.known = out, s.T, true
}

// growth looks at a process's memory.
func (w *Watch) growth(s archive.Sample, who string, rss float64) {
	rise, per, ok := w.slope("rss|"+s.Target+who, s.T, rss)
	w.set(EventMemory, s, ok && rise > memoryRise, archive.SeverityWarning, map[string]any{"change": rise, "bytes": rss},
		"memory of the %s process grew by %.0f %% over %v without a break", who, 100*rise, per)
}

func (w *Watch) gpu(s archive.Sample) {
	if util, ok := s.Values["util_percent"]; ok && w.inFlightKnown {
		if util > 0 || w.inFlight == 0 {
			delete(w.idleSince, s.Target)
			w.set(EventGPUIdle, s, false, "", nil, "")
		} else if since, ok := w.idleSince[s.Target]; !ok {
			w.idleSince[s.Target] = s.T
		} else if d := s.T.Sub(since); d >= idleFor {
			w.set(EventGPUIdle, s, true, archive.SeverityWarning, map[string]any{"in_flight": w.inFlight},
				"GPU %s has done nothing for %v while %.0f requests are open", s.Target, d.Round(time.Second), w.inFlight)
		}
	}
	thermal, known1 := s.Values["throttle_thermal"]
	hardware, known2 := s.Values["throttle_hardware"]
	if known1 || known2 {
		w.set(EventThermal, s, thermal > 0 || hardware > 0, archive.SeverityWarning, map[string]any{"thermal": thermal, "hardware": hardware},
			"GPU %s lowers its clocks (heat or hardware), at %.0f °C", s.Target, s.Values["temperature_celsius"])
	}
	if x, ok := s.Values["last_xid"]; ok {
		if before, seen := w.xid[s.Target]; seen && x != before && x > 0 {
			w.emit(archive.Event{T: s.T, Kind: EventXID, Severity: archive.SeverityError, Source: "monitor",
				Message: fmt.Sprintf("GPU %s reports error %.0f", s.Target, x), Fields: map[string]any{"source": s.Source, "target": s.Target, "xid": x}})
		}
		w.xid[s.Target] = x
	}
}

func (w *Watch) host(s archive.Sample) {
	if rss, ok := s.Values["process_rss_bytes"]; ok {
		w.growth(s, "server", rss)
	}
	if free, ok := s.Values["memory_available_bytes"]; ok {
		w.set(EventLowMemory, s, free < lowMemory, archive.SeverityError, map[string]any{"available_bytes": free}, "only %.0f MiB of host memory are left", free/(1<<20))
	}
	if n, ok := s.Values["oom_kills_total"]; ok {
		if before, seen := w.ooms[s.Target]; seen && n > before {
			w.emit(archive.Event{T: s.T, Kind: EventOOMKill, Severity: archive.SeverityError, Source: "monitor",
				Message: fmt.Sprintf("the kernel ended %.0f processes for want of memory", n-before), Fields: map[string]any{"source": s.Source, "target": s.Target, "count": n - before}})
		}
		w.ooms[s.Target] = n
	}
}

func (w *Watch) engine(s archive.Sample) {
	if q, ok := s.Values["requests_waiting"]; ok {
		// Ten more than at first, so that a queue that hovers near zero says nothing.
		rise, per, ok := w.slope("queue|"+s.Target, s.T, q+10)
		w.set(EventQueueGrowth, s, ok && rise > 1, archive.SeverityWarning, map[string]any{"waiting": q},
			"the server's queue has grown without a break over %v, to %.0f requests", per, q)
	}
}

func has(s archive.Sample, name string) bool { _, ok := s.Values[name]; return ok }

// series is the recent past of one value.
type series struct {
	t []float64
	v []float64
}

// slope is the change along a straight line fitted to the last minutes, as a share of the
// line's start; ok when there are enough points over the whole window and the line
// explains most of what the value did.
func (w *Watch) slope(key string, t archive.Instant, v float64) (change float64, over time.Duration, ok bool) {
	s := w.series[key]
	if s == nil {
		s = &series{}
		w.series[key] = s
	}
	at := t.Sub(0).Seconds()
	s.t, s.v = append(s.t, at), append(s.v, v)
	cut := 0
	for at-s.t[cut] > slopeWindow.Seconds() {
		cut++
	}
	s.t, s.v = s.t[cut:], s.v[cut:]
	n := len(s.t)
	over = time.Duration((s.t[n-1] - s.t[0]) * float64(time.Second)).Round(time.Second)
	if n < slopePoints || over < slopeWindow*9/10 {
		return 0, over, false
	}
	a, b, fit := line(s.t, s.v)
	start, end := a+b*s.t[0], a+b*s.t[n-1]
	if start <= 0 || fit < slopeFit {
		return 0, over, false
	}
	return (end - start) / start, over, true
}

// line fits v = a + b·t by least squares; fit is the share of variance explained.
func line(t, v []float64) (a, b, fit float64) {
	n := float64(len(t))
	mt, mv := 0.0, 0.0
	for i := range t {
		mt, mv = mt+t[i]/n, mv+v[i]/n
	}
	stt, stv, svv := 0.0, 0.0, 0.0
	for i := range t {
		dt, dv := t[i]-mt, v[i]-mv
		stt, stv, svv = stt+dt*dt, stv+dt*dv, svv+dv*dv
	}
	if stt == 0 || svv == 0 {
		return mv, 0, 0
	}
	b = stv / stt
	return mv - b*mt, b, math.Min(1, stv*stv/(stt*svv))
}
