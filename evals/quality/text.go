package quality

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests, %d failed\n\n", r.Requests, r.Failed)
	fmt.Fprintf(&b, "%-12s %-28s %7s %8s  %-18s %9s\n", "kind", "set", "scored", "score", "95 % interval", "truncated")
	for _, f := range r.Families {
		score, between := "unknown", ""
		if s, ok := f.Score.Get(); ok {
			score = fmt.Sprintf("%.1f %%", 100*s)
			between = fmt.Sprintf("%.1f to %.1f %%", 100*f.Interval.Low, 100*f.Interval.High)
		}
		fmt.Fprintf(&b, "%-12s %-28s %3d/%-3d %8s  %-18s %9d\n", f.Kind, f.Set, f.Scored, f.Sent, score, between, f.Truncated)
		if k, ok := f.Strict.Get(); ok {
			fmt.Fprintf(&b, "%-12s answers in the demanded format: %.1f %%\n", "", 100*k)
		}
		for _, why := range slices.Sorted(maps.Keys(f.Unscored)) {
			fmt.Fprintf(&b, "%-12s %d unscored: %s\n", "", f.Unscored[why], why)
		}
		if f.Scored > 0 {
			fmt.Fprintf(&b, "%-12s %s\n", "", f.Power)
		}
	}
	for _, l := range r.Determinism {
		fmt.Fprintf(&b, "\ndeterminism, %s: %d of %d replies equal their reference", l.Name, l.Equal, l.Replies)
		if a, ok := l.Agreement.Get(); ok {
			fmt.Fprintf(&b, ", answers agree in %.1f %%", 100*a)
		}
		if at, ok := l.FirstMedian.Get(); ok {
			first, _ := l.FirstMin.Get()
			fmt.Fprintf(&b, "; texts part after %d %s in the median, %d at the earliest", at, l.Unit, first)
		}
		fmt.Fprintf(&b, "; %.2f divergences per 1,000 %s (%.2f to %.2f)", l.Hazard, l.Unit, l.HazardInterval.Low, l.HazardInterval.High)
		if why := l.CacheText(); why != "" {
			fmt.Fprintf(&b, "\n%s%s", strings.Repeat(" ", 13), why)
		}
	}
	n := r.Nonsense
	fmt.Fprintf(&b, "\n\nbroken replies: %d of %d", n.Flagged, n.Replies)
	for _, rule := range slices.Sorted(maps.Keys(n.Rules)) {
		fmt.Fprintf(&b, ", %s %d", rule, n.Rules[rule])
	}
	if n.Stuck > 0 {
		fmt.Fprintf(&b, "; %d replies repeat the reply to another prompt", n.Stuck)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}
