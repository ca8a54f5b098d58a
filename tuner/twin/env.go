package twin

import (
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner/play"
)

// quantiles are the statistics of latencies that objectives may name.
var quantiles = map[string]float64{"p01": .01, "p05": .05, "p10": .1, "p25": .25, "p50": .5, "p75": .75, "p90": .9, "p95": .95, "p99": .99, "p999": .999, "min": 0, "max": 1}

// env are a play's figures by the names of objectives. limits make a request good; usdHour is
// what the machine costs.
func env(f play.Figures, limits []slo.Limit, usdHour float64) slo.Env {
	out := slo.Env{}
	set := func(name string, v float64) { out[name] = archive.Estimate{Value: archive.Some(v)} }
	set("output_rate", f.Throughput)
	set("input_rate", f.Input)
	set("request_rate", f.Rate)
	set("error_rate", math.Max(0, 1-f.Done))
	if all := f.Input + f.Throughput; usdHour > 0 && all > 0 {
		set("cost_blended", 1e6*usdHour/3600/all)
	}
	values := map[string][]float64{}
	good := 0.0
	for _, r := range f.Each {
		at := map[string]float64{"ttft": r.TTFT, "e2e": r.E2E}
		if r.TPOT > 0 {
			at["tpot"] = r.TPOT
		}
		for k, v := range at {
			values[k] = append(values[k], v)
		}
		if slo.Judge(limits, func(metric string) (archive.Opt[float64], bool) {
			v, ok := at[metric]
			return archive.Some(v), ok
		}) == slo.Met {
			good++
		}
	}
	if n := float64(len(f.Each)); n > 0 && len(limits) > 0 {
		set("attainment", good/n*f.Done)
		set("goodput", good/n*f.Rate)
	}
	for name, v := range values {
		slices.Sort(v)
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		set(name+"_mean", sum/float64(len(v)))
		for stat, q := range quantiles {
			set(name+"_"+stat, v[min(int(q*float64(len(v))), len(v)-1)])
		}
	}
	return out
}
