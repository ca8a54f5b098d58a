package analyst

import (
	"fmt"

	"github.com/inferencebench/inferencebench/analyst/cost"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/archive"
)

// money adds what tokens cost in money and energy to the metrics: for every scope that
// has rates, by the methods that need no probe.
func (w *work) money() {
	w.spend("all", w.windows)
	for _, win := range w.windows {
		w.spend("phase:"+win.Phase, []archive.Window{win})
	}
}

func (w *work) spend(scope string, wins []archive.Window) {
	add := func(id, label, unit string, e archive.Estimate) {
		w.metrics = append(w.metrics, metrics.Single(id, label, unit, scope, 1, e))
	}
	rate := func(id string) float64 {
		e, _ := w.value(id, scope, "value")
		return e.Value.Or(0)
	}
	r := cost.Rates{Input: rate("input_rate"), Cached: rate("cached_rate"), Output: rate("output_rate")}
	if w.opts.USDHour > 0 {
		second := w.opts.USDHour / 3600
		for _, m := range []struct {
			id, label string
			f         func(float64, cost.Rates) (cost.Split, error)
		}{{"cost_output_only", "Cost of output, all charged to it", cost.OutputOnly}, {"cost_blended", "Cost of any token", cost.Blended}} {
			s, err := m.f(second, r)
			if err != nil {
				add(m.id, m.label, "USD/Mtok", metrics.Withheld(err.Error()))
				continue
			}
			add(m.id, m.label, "USD/Mtok", metrics.Value(s.Output))
		}
		if s, err := cost.FixedRatio(second, r); err == nil {
			add("cost_input", "Cost of computed input, "+s.Method, "USD/Mtok", metrics.Value(s.Input))
			add("cost_output", "Cost of output, "+s.Method, "USD/Mtok", metrics.Value(s.Output))
		}
	}
	joules, ok := 0.0, false
	tokens, seconds := 0.0, 0.0
	for _, win := range wins {
		d, known := w.series.Growth(archive.SourceGPU, "energy_joules_total", win.From, win.To)
		if !known || d.Reset || d.Span() <= 0 {
			return
		}
		// The counter's readings need not lie on the window's edges: use its mean power.
		joules += d.Value / d.Span() * float64(win.To-win.From) / 1e9
		tokens += rate("output_rate") * float64(win.To-win.From) / 1e9
		seconds += float64(win.To-win.From) / 1e9
		ok = true
	}
	if e, err := cost.PerToken(joules, tokens); ok && err == nil {
		m := metrics.Single("energy_per_token", "GPU energy for each output token", "J/token", scope, 1, metrics.Value(e))
		m.Annotations = append(m.Annotations, archive.Annotation{Code: "gpu_only", Message: fmt.Sprintf("the energy of %d GPUs as their counters tell it; host, cooling and idle share included as they were", len(w.series.Targets(archive.SourceGPU, "energy_joules_total")))})
		w.metrics = append(w.metrics, m)
	}
	if seconds > 0 && joules > 0 {
		if g := w.opts.GramsKWh; g > 0 && tokens > 0 {
			add("carbon_output", "CO2 of the GPUs' energy for a million output tokens", "g/Mtok", metrics.Value(1e6*joules/tokens/3.6e6*g))
		}
		add("gpu_power", "GPU power", "W", metrics.Value(joules/seconds))
		add("output_per_watt", "Output tokens a second for each watt of the GPUs", "tok/s/W", metrics.Value(tokens/joules))
		w.energyByPhase(scope, wins)
	}
}
