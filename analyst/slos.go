package analyst

import (
	"cmp"
	"maps"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
)

// objective is one parsed objective.
type objective struct{ expr string }

func parseSLOs(exprs []string) ([]objective, error) {
	var out []objective
	for _, e := range exprs {
		out = append(out, objective{e})
	}
	return out, nil
}

func (w *work) evaluate(a *archive.Analysis) []archive.SLO {
	var out []archive.SLO
	for _, o := range w.objectives {
		out = append(out, archive.SLO{Expr: o.expr, Reason: "not evaluated", Attainment: archive.Estimate{Reason: "not evaluated"}})
	}
	return out
}

// sortedCounts returns the keys of a count by falling count, then by name.
func sortedCounts(m map[string]int) []string {
	keys := slices.Collect(maps.Keys(m))
	slices.SortFunc(keys, func(a, b string) int {
		if d := m[b] - m[a]; d != 0 {
			return d
		}
		return cmp.Compare(a, b)
	})
	return keys
}
