// Package energy works out how much energy GPUs used in a window of a run, from samples.
package energy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines/counter"
)

// The methods of an Answer.
const (
	ByCounter = "counter" // the GPU's own energy counter, at the window's edges
	ByPower   = "power"   // power readings, joined by straight lines
)

// Answer is the energy of a window. With OK false it is unknown and Reason says why; the
// energy of some GPUs is never given as that of all.
type Answer struct {
	Joules float64
	// Method is ByCounter when every GPU has a counter; ByPower when any was integrated.
	Method string
	GPUs   int
	OK     bool
	Reason string
}

// Window adds up the energy of all GPUs in samples between two instants. Samples may be of
// any source; those of GPUs count, and must be in time order for each GPU.
//
// A GPU's counter is read at both edges by interpolation between the samples around them;
// where it has none, or it was reset inside the window, its power is integrated by
// trapezoids. A gap of more than maxGap between the samples that are needed makes the
// answer unknown: nobody knows what the GPU did meanwhile.
func Window(samples []archive.Sample, from, to archive.Instant, maxGap time.Duration) Answer {
	type gpu struct{ energy, power []counter.Point }
	gpus := map[string]*gpu{}
	var order []string
	for _, s := range samples {
		if s.Source != archive.SourceGPU || s.Error != "" {
			continue
		}
		g := gpus[s.Target]
		if g == nil {
			g = &gpu{}
			gpus[s.Target] = g
			order = append(order, s.Target)
		}
		t := s.T.Sub(0).Seconds()
		if v, ok := s.Values["energy_joules_total"]; ok {
			g.energy = append(g.energy, counter.Point{T: t, V: v})
		}
		if v, ok := s.Values["power_watts"]; ok {
			g.power = append(g.power, counter.Point{T: t, V: v})
		}
	}
	// A MIG instance tells neither; its GPU does, and stands for it.
	order = slices.DeleteFunc(order, func(t string) bool {
		return len(gpus[t].energy)+len(gpus[t].power) == 0 && (strings.HasPrefix(t, "MIG-") || strings.Contains(t, "/gi-"))
	})
	if len(order) == 0 {
		return Answer{Reason: "no GPU was watched"}
	}
	a, b, gap := from.Sub(0).Seconds(), to.Sub(0).Seconds(), maxGap.Seconds()
	out := Answer{Method: ByCounter, GPUs: len(order)}
	for _, target := range order {
		j, method, ok := one(gpus[target].energy, gpus[target].power, a, b, gap)
		if !ok {
			return Answer{GPUs: len(order), Reason: fmt.Sprintf("GPU %s was not read all through the window, or tells neither energy nor power", target)}
		}
		if method == ByPower {
			out.Method = ByPower
		}
		out.Joules += j
	}
	out.OK = true
	return out
}

func one(energy, power []counter.Point, from, to, gap float64) (joules float64, method string, ok bool) {
	if !reset(energy, from, to) {
		start, ok1 := counter.At(energy, from, gap)
		end, ok2 := counter.At(energy, to, gap)
		if ok1 && ok2 && end >= start && from < to {
			return end - start, ByCounter, true
		}
	}
	j, ok := counter.Integral(power, from, to, gap)
	return j, ByPower, ok
}

// reset reports whether a counter fell inside the window.
func reset(points []counter.Point, from, to float64) bool {
	for i := 1; i < len(points); i++ {
		if points[i].V < points[i-1].V && points[i].T >= from && points[i-1].T <= to {
			return true
		}
	}
	return false
}
