package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// Both reports whether the two best causes are the two that were injected, in either order.
func (c *Case) Both() bool {
	if c.Err != nil || len(c.Ranked) < 2 {
		return false
	}
	first := func(cause string) bool { return cause == c.Truth.Cause || slices.Contains(c.Truth.Accept, cause) }
	a, b := c.Ranked[0], c.Ranked[1]
	return first(a) && b == c.Truth.Second || first(b) && a == c.Truth.Second
}

// Either reports whether the cause that is named is one of the two that were injected.
func (c *Case) Either() bool {
	return c.Err == nil && c.Cause != "" && (c.Cause == c.Truth.Second || c.Cause == c.Truth.Cause || slices.Contains(c.Truth.Accept, c.Cause))
}

// medium reports whether a verdict before its experiments was of medium confidence.
func (p *Probed) medium() bool {
	return p.Before.Err == nil && p.Before.Verdict.State == archive.VerdictBottleneck && p.ConfidenceBefore == "medium"
}

// resolved reports whether experiments made a verdict certain and it is right, or took a
// wrong one back.
func (p *Probed) resolved() bool {
	if p.Before.Right() {
		return p.After.Right() && p.ConfidenceAfter == "high"
	}
	return p.After.Cause != p.Before.Cause
}

func pairs(b *strings.Builder, cases []Case) {
	if len(cases) == 0 {
		return
	}
	fmt.Fprintf(b, "Two faults at once, %d pairs: the two best causes are the two that were injected in %s; the one that is named is one of them in %s.\n\n",
		len(pairNames(cases)), share(count(cases, (*Case).Both)), share(count(cases, (*Case).Either)))
	b.WriteString("| pair | injected | both among the best two | missed as |\n|---|---|---|---|\n")
	for _, id := range pairNames(cases) {
		k, n, what := 0, 0, []string{}
		injected := ""
		for i := range cases {
			c := &cases[i]
			if c.Condition != id {
				continue
			}
			n++
			injected = c.Truth.Cause + ", " + c.Truth.Second
			if c.Both() {
				k++
			} else if got := strings.Join(c.Ranked[:min(2, len(c.Ranked))], ", "); !slices.Contains(what, got) {
				what = append(what, got)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %d of %d | %s |\n", id, injected, k, n, strings.Join(what, "; "))
	}
	b.WriteString("\n")
}

func pairNames(cases []Case) []string {
	var out []string
	for i := range cases {
		if !slices.Contains(out, cases[i].Condition) {
			out = append(out, cases[i].Condition)
		}
	}
	return out
}

func probed(b *strings.Builder, ps []Probed) {
	if len(ps) == 0 {
		return
	}
	before, after, medium, resolved := 0, 0, 0, 0
	for i := range ps {
		p := &ps[i]
		if p.Before.Right() {
			before++
		}
		if p.After.Right() {
			after++
		}
		if p.medium() {
			medium++
			if p.resolved() {
				resolved++
			}
		}
	}
	fmt.Fprintf(b, "With probes, at most %d a diagnosis, each one change of the simulated world: right %s before them and %s after. Of the verdicts of medium confidence, %s became high and were right, or were wrong and withdrawn.\n\n",
		maxProbes, share(before, len(ps)), share(after, len(ps)), share(resolved, medium))
	tally := map[string]map[string]int{}
	for i := range ps {
		for _, o := range ps[i].Outcomes {
			t := tally[o.Probe]
			if t == nil {
				t = map[string]int{}
				tally[o.Probe] = t
			}
			truth := "other"
			if c := &ps[i].Before; o.Cause == c.Truth.Cause || slices.Contains(c.Truth.Accept, o.Cause) {
				truth = "own"
			}
			t[truth+" "+o.Answer]++
		}
	}
	b.WriteString("| probe | when its cause was injected: confirmed, refuted, untested | when another was: confirmed, refuted, untested |\n|---|---|---|\n")
	for _, id := range sortedProbes(tally) {
		t := tally[id]
		fmt.Fprintf(b, "| %s | %d, %d, %d | %d, %d, %d |\n", id, t["own confirmed"], t["own refuted"], t["own untested"], t["other confirmed"], t["other refuted"], t["other untested"])
	}
	b.WriteString("\nMany causes answer to one change: a probe that confirms a cause which the signals speak against (score below 0.5) does not make it lead.\n\n")
}

func sortedProbes(tally map[string]map[string]int) []string {
	var out []string
	for id := range tally {
		out = append(out, id)
	}
	slices.SortFunc(out, func(a, b string) int {
		var x, y int
		fmt.Sscanf(a, "P%d", &x)
		fmt.Sscanf(b, "P%d", &y)
		if x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	return out
}
