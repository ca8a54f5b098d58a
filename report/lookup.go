package report

import (
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/quantity"
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

// failedGates are the failed gates that nothing else at the top of a report says: not the
// one that the headline quotes, nor that the run did not end, which has its own line.
func failedGates(a *archive.Analysis) []archive.Gate {
	var out []archive.Gate
	for _, g := range sortedGates(a) {
		passed, known := g.Passed.Get()
		said := g.Message != "" && strings.HasSuffix(strings.ToLower(a.Verdict.Headline), strings.ToLower(g.Message))
		if !known || passed || said || g.ID == "complete" && a.State != archive.StateComplete {
			continue
		}
		out = append(out, g)
	}
	return out
}

// countLines are the rows that account for the requests, in the words of a summary. The
// warm-up stands apart, as it does in every figure.
func countLines(a *archive.Analysis) []blockRow {
	c := a.Counts
	if c.Planned == 0 {
		return nil // the source does not count requests
	}
	t, split := c.Measured()
	if !split {
		rows := []blockRow{
			{Label: "Successful requests", Value: quantity.Int(c.OK), Note: "of " + quantity.Int(c.Planned) + " planned" + kinds(c.ByKind)},
			{Label: "Failed requests", Value: quantity.Int(c.Failed), Note: failureList(serverFailures(c.Failures))},
		}
		if c.Cancelled > 0 {
			rows = append(rows, blockRow{Label: "Cancelled requests", Value: quantity.Int(c.Cancelled), Note: "open or not sent when the run ended"})
		}
		return rows
	}
	rows := []blockRow{
		{Label: "Successful requests", Value: quantity.Int(t.OK), Note: "of " + quantity.Int(t.OK+t.Failed+t.Cancelled) + ", warm-up left out" + partOf(c.Of)},
		{Label: "Failed requests", Value: quantity.Int(t.Failed), Note: failureList(serverFailures(t.Failures))},
	}
	if t.Cancelled > 0 {
		rows = append(rows, blockRow{Label: "Cancelled requests", Value: quantity.Int(t.Cancelled), Note: "open or not sent when the run ended"})
	}
	if w, ok := c.Of[archive.KindWarmup]; ok {
		r := blockRow{Label: "Warm-up requests", Value: quantity.Int(w.OK + w.Failed + w.Cancelled), Note: "in no figure"}
		if w.Failed > 0 {
			r.Note += "; " + itoa(w.Failed) + " failed: " + failureList(w.Failures)
		}
		rows = append(rows, r)
	}
	return rows
}

// partOf names the kinds beside the load that are counted with it.
func partOf(of map[archive.Kind]archive.Tally) string {
	var parts []string
	for _, k := range []archive.Kind{archive.KindCheckpoint, archive.KindProbe} {
		if t, ok := of[k]; ok {
			n := t.OK + t.Failed + t.Cancelled
			s := itoa(n) + " " + kindWord(k, n)
			if t.Failed > 0 {
				s += " (" + itoa(t.Failed) + " failed)"
			}
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ") + " among them"
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
