package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// The lines between which the tables stand in a document.
const (
	begin = "<!-- bench-tuner: begin -->"
	end   = "<!-- bench-tuner: end -->"
)

// replace puts text between the markers of a document.
func replace(path, text string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(raw), begin)
	_, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		return fmt.Errorf("%s: the markers %s and %s are not there", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+"\n"+text+end+tail), 0o644)
}

// titles are the strategies in words.
var titles = map[string]string{
	ours: "loop (ours)", advised: "loop with rules and a model", plain: "loop without prior", "gp": "GP", "tpe": "TPE", "forest": "random forest (SMAC-like)", "random": "random", "sobol": "Sobol",
}

// markdown is the result as three tables: over all landscapes, by landscape, and the still
// ones.
func (b *board) markdown() string {
	var s strings.Builder
	o := b.options
	n := 0
	for _, r := range b.rows {
		if !r.spec.Still {
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(&s, "%d landscapes, seeds %d to %d, %.3g h of virtual time a study.\n\n", n, o.first, o.first+o.seeds-1, o.budget.Hours())
		s.WriteString("| strategy | certified, geometric mean | ± se | gap closed | best tried | regret at half budget | trials | failed | default kept | over a limit | below the default |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
		for _, name := range o.strategies {
			t := b.over(name)
			fmt.Fprintf(&s, "| %s | %.3fx | %.1f %% | %.1f %% | %.3fx | %.1f %% | %.0f | %.0f | %d of %d | %d | %d |\n", titles[name], math.Exp(t.gain), 100*b.spread(name), 100*t.share,
				math.Exp(t.found), 100*t.regret, t.trials, t.failed, t.kept, t.studys, t.over, t.worse)
		}
		s.WriteString("\nCertified gain by landscape, geometric mean over the seeds; the best in bold.\n\n| landscape | what limits the default | points | fail | best | prior |")
		for _, name := range o.strategies {
			s.WriteString(" " + titles[name] + " |")
		}
		s.WriteString("\n|---|---|---|---|---|---|" + strings.Repeat("---|", len(o.strategies)) + "\n")
		for _, r := range b.rows {
			if r.spec.Still {
				continue
			}
			fmt.Fprintf(&s, "| %s | %s | %d | %.0f %% | %.3fx | %.2f |", r.spec.Name, r.spec.About, r.Census[0], 100*float64(r.Census[2])/float64(r.Census[0]), math.Exp(r.Optimum), r.Agreement)
			most := 0.0
			for _, name := range o.strategies {
				most = max(most, r.on(name).gain)
			}
			for _, name := range o.strategies {
				t := r.on(name)
				if mark := ""; t.gain >= most-5e-4 {
					mark = "**"
					fmt.Fprintf(&s, " %s%.3fx%s |", mark, math.Exp(t.gain), mark)
				} else {
					fmt.Fprintf(&s, " %.3fx |", math.Exp(t.gain))
				}
			}
			s.WriteString("\n")
		}
	}
	if n < len(b.rows) {
		s.WriteString("\nLandscapes whose default is the optimum: the default was kept in so many studies.\n\n| landscape | why |")
		for _, name := range o.strategies {
			s.WriteString(" " + titles[name] + " |")
		}
		s.WriteString("\n|---|---|" + strings.Repeat("---|", len(o.strategies)) + "\n")
		for _, r := range b.rows {
			if !r.spec.Still {
				continue
			}
			fmt.Fprintf(&s, "| %s | %s |", r.spec.Name, r.spec.About)
			for _, name := range o.strategies {
				t := r.on(name)
				fmt.Fprintf(&s, " %d of %d |", t.kept, t.studys)
			}
			s.WriteString("\n")
		}
	}
	return s.String()
}
