package report

import (
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// metricOf returns the metric with one of ids over scope, the first id that is present.
func metricOf(a *archive.Analysis, scope string, ids ...string) (*archive.Metric, bool) {
	for _, id := range ids {
		for i := range a.Metrics {
			if a.Metrics[i].ID == id && a.Metrics[i].Scope == scope {
				return &a.Metrics[i], true
			}
		}
	}
	return nil, false
}

// estimateOf returns a statistic of a metric over the whole run. Where the analysis does
// not have it, the estimate is unknown and says so.
func estimateOf(a *archive.Analysis, id, stat string) (archive.Estimate, string) {
	m, ok := metricOf(a, "all", id)
	if !ok {
		return archive.Estimate{Reason: "not computed"}, ""
	}
	return stat1(m, stat), m.Unit
}

func stat1(m *archive.Metric, stat string) archive.Estimate {
	e, ok := m.Stats[stat]
	switch {
	case !ok && m.N == 0 && len(m.Stats) == 0:
		return archive.Estimate{Reason: "no values"}
	case !ok:
		return archive.Estimate{Reason: "not computed"}
	case !e.Value.Known() && e.Reason == "":
		e.Reason = "not known"
	}
	return e
}

// gapMetric returns the metric of gaps in the stream: between tokens where they are
// known, else between chunks.
func gapMetric(a *archive.Analysis) (*archive.Metric, bool) {
	for _, id := range []string{"itl", "icl"} {
		if m, ok := metricOf(a, "all", id); ok && m.N > 0 {
			return m, true
		}
	}
	return metricOf(a, "all", "icl", "itl")
}

// findings of one role, in the order of the analysis.
func findingsOf(a *archive.Analysis, role string) []*archive.Finding {
	var out []*archive.Finding
	for i := range a.Findings {
		if a.Findings[i].Role == role {
			out = append(out, &a.Findings[i])
		}
	}
	return out
}

// sortedGates returns the gates with the failed ones first, then the unknown ones.
func sortedGates(a *archive.Analysis) []archive.Gate {
	out := slices.Clone(a.Gates)
	rank := func(g archive.Gate) int {
		switch passed, known := g.Passed.Get(); {
		case known && !passed:
			return 0
		case !known:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(x, y archive.Gate) int { return rank(x) - rank(y) })
	return out
}

// fatalChecks are the validity checks whose failure makes the whole run not valid, by the
// rules of the analyst. The others limit what the verdict may say.
var fatalChecks = map[string]bool{
	"requests_ok": true, "error_rate": true, "send_lag": true, "achieved_rate": true,
	"client_cpu": true, "client_resources": true, "littles_law": true, "plausibility": true,
}

// failureList is "http_503 4, cut 1", the most frequent first.
func failureList(f map[string]int) string {
	type kind struct {
		name string
		n    int
	}
	var ks []kind
	for k, n := range f {
		ks = append(ks, kind{k, n})
	}
	slices.SortFunc(ks, func(a, b kind) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(a.name, b.name)
	})
	var parts []string
	for _, k := range ks {
		parts = append(parts, k.name+" "+itoa(k.n))
	}
	return strings.Join(parts, ", ")
}
