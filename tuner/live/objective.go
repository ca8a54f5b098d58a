package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// Keys of the objectives that are no service level.
const (
	costKey   = "cost_blended"
	energyKey = "energy_per_token"
)

// objective is what a study optimises, as a key of the measured values.
type objective struct {
	name    string
	key     string
	seconds bool
}

// ParseGoal reads a goal such as "max:output_throughput" or "min:ttft_p99". Without a
// direction, rates are maximised and everything else minimised. The metric is one of an
// objective's names, or cost_per_mtok or joules_per_token.
func ParseGoal(s string) (metric string, maximise bool, err error) {
	dir, metric, ok := strings.Cut(s, ":")
	if !ok {
		dir, metric = "", s
	}
	o, err := parseObjective(metric)
	if err != nil {
		return "", false, err
	}
	up := strings.HasSuffix(o.key, "_rate") && o.key != "error_rate" || o.key == "goodput" || o.key == "attainment" || strings.HasPrefix(o.key, "output_speed")
	switch dir {
	case "":
		return metric, up, nil
	case "max", "min":
		if up != (dir == "max") {
			return "", false, fmt.Errorf("goal %q: %s is better when it is %s", s, metric, map[bool]string{true: "larger", false: "smaller"}[up])
		}
		return metric, up, nil
	}
	return "", false, fmt.Errorf("goal %q: write max:METRIC or min:METRIC", s)
}

func parseObjective(metric string) (objective, error) {
	switch metric {
	case "cost_per_mtok", costKey:
		return objective{name: metric, key: costKey}, nil
	case "joules_per_token", energyKey:
		return objective{name: metric, key: energyKey}, nil
	}
	key, seconds, err := slo.Name(metric)
	if err != nil {
		return objective{}, fmt.Errorf("goal: %w", err)
	}
	return objective{name: metric, key: key, seconds: seconds}, nil
}

// Measure returns how the value of a goal's metric is read from measured values by name.
func Measure(metric string) (func(slo.Env) (float64, bool), error) {
	o, err := parseObjective(metric)
	if err != nil {
		return nil, err
	}
	return o.value, nil
}

func (o objective) value(env slo.Env) (float64, bool) {
	v, ok := env[o.key].Value.Get()
	return v, ok && v > 0
}

func (o objective) reason(env slo.Env) string {
	e, ok := env[o.key]
	switch {
	case !ok && o.key == costKey:
		return "the price of the machine is not known (--price)"
	case !ok && o.key == energyKey:
		return "no energy counter was read"
	case !ok:
		return "it is not in the analysis"
	case e.Reason != "":
		return e.Reason
	}
	return "it is 0"
}

// pointEnv is the measured values of a whole run. Where a sample is too small for an
// estimate, the plain quantile stands in: a trial is compared with its equals, not published.
func pointEnv(metrics []archive.Metric) slo.Env {
	all := make([]archive.Metric, 0, len(metrics))
	for _, m := range metrics {
		if m.Scope != "all" {
			continue
		}
		st := make(map[string]archive.Estimate, len(m.Stats))
		for k, e := range m.Stats {
			if !e.Value.Known() && e.Sample.Known() {
				e.Value = e.Sample
			}
			st[k] = e
		}
		m.Stats = st
		all = append(all, m)
	}
	return slo.FromMetrics(all, "all")
}

// parts is the objective over n equal parts of the measured window: for rates what happened
// in it, for latencies the mean over the requests that were due in it. It is nil for
// objectives that have no such parts, and where a part is empty.
func (o objective) parts(run *archive.Run, a *archive.Analysis, n int) ([]float64, error) {
	if len(a.Windows) == 0 {
		return nil, nil
	}
	win := a.Windows[0]
	span := win.To - win.From
	if span <= 0 {
		return nil, nil
	}
	of := func(t archive.Instant) int {
		if t < win.From || t >= win.To {
			return -1
		}
		return int(int64(t-win.From) * int64(n) / int64(span))
	}
	seconds := time.Duration(span).Seconds() / float64(n)
	sums, values := make([]float64, n), make([][]float64, n)
	kind := o.key
	if o.seconds {
		kind = strings.SplitN(o.key, "_", 2)[0]
	}
	for r, err := range run.Requests() {
		if err != nil || r.Kind != archive.KindLoad || r.Status != archive.StatusOK {
			continue
		}
		switch kind {
		case "output_rate":
			spread(r, of, sums, seconds)
		case "request_rate":
			if i := of(r.T.Done); i >= 0 {
				sums[i] += 1 / seconds
			}
		case "ttft", "tpot", "e2e":
			if i, v := of(r.T.Intended), latencyOf(r, kind); i >= 0 && v > 0 {
				values[i] = append(values[i], v)
			}
		default:
			return nil, nil
		}
	}
	for i, v := range values {
		if len(v) > 0 {
			sums[i] = stats.Mean(v)
		}
	}
	for _, s := range sums {
		if s <= 0 {
			return nil, nil
		}
	}
	return sums, nil
}

// spread adds the tokens of a reply to the parts in which its chunks came.
func spread(r *archive.Request, of func(archive.Instant) int, sums []float64, seconds float64) {
	tokens := float64(r.Usage.Completion.Or(0))
	n := len(r.Chunks.T)
	if n == 0 || tokens == 0 {
		return
	}
	for _, t := range r.Chunks.T {
		if i := of(t); i >= 0 {
			sums[i] += tokens / float64(n) / seconds
		}
	}
}

// latencyOf is a latency of one request in seconds, 0 where it has none.
func latencyOf(r *archive.Request, name string) float64 {
	t := r.T
	switch {
	case !t.First.Known():
		return 0
	case name == "ttft":
		return t.First.Sub(t.Intended).Seconds()
	case name == "e2e" && t.Last.Known():
		return t.Last.Sub(t.Intended).Seconds()
	case name == "tpot" && t.Last.Known() && r.Usage.Completion.Or(0) > 1:
		return t.Last.Sub(t.First).Seconds() / float64(r.Usage.Completion.Or(0)-1)
	}
	return 0
}
