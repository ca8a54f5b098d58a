package accuracy

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"
)

// Group is the error over some points.
type Group struct {
	Name               string
	N                  int
	MAPE, Bias, P90    float64 // of time a token
	TTFTMAPE, TTFTBias float64
}

// Summarise computes the errors of the compared points that keep accepts.
func Summarise(name string, points []Point, keep func(Point) bool) Group {
	g := Group{Name: name}
	var abs []float64
	for _, p := range points {
		if p.Refused != "" || !keep(p) {
			continue
		}
		g.N++
		e := p.Error()
		abs = append(abs, math.Abs(e))
		g.MAPE += math.Abs(e)
		g.Bias += e
		g.TTFTMAPE += math.Abs(p.TTFTError())
		g.TTFTBias += p.TTFTError()
	}
	if g.N == 0 {
		return g
	}
	n := float64(g.N)
	g.MAPE, g.Bias, g.TTFTMAPE, g.TTFTBias = g.MAPE/n, g.Bias/n, g.TTFTMAPE/n, g.TTFTBias/n
	slices.Sort(abs)
	g.P90 = abs[int(0.9*(n-1))]
	return g
}

// Groups is the table of docs/simulator.md: everything, dense and mixture models, then by
// model and engine, and by regime.
func Groups(points []Point) []Group {
	groups := []Group{
		Summarise("Llama-3.1-8B bf16, one and two GPUs", points, func(p Point) bool { return llama8(p) && p.TP <= 2 }),
		Summarise("Llama-3.1-8B bf16, any number of GPUs", points, llama8),
		Summarise("all dense models", points, func(p Point) bool { return p.Dense }),
		Summarise("all mixture models", points, func(p Point) bool { return !p.Dense }),
		Summarise("Llama-3.1-8B bf16 without plateaus", points, func(p Point) bool { return llama8(p) && !p.Plateau }),
		Summarise("all dense models without plateaus", points, func(p Point) bool { return p.Dense && !p.Plateau }),
	}
	seen := map[string]bool{}
	var keys []string
	key := func(p Point) string {
		return fmt.Sprintf("%s %s, %s, TP%d", p.Model[strings.LastIndexByte(p.Model, '/')+1:], p.Precision, p.Backend, p.TP)
	}
	for _, p := range points {
		if k := key(p); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	for _, k := range keys {
		groups = append(groups, Summarise(k, points, func(p Point) bool { return key(p) == k }))
	}
	for _, r := range []struct {
		name string
		keep func(Point) bool
	}{
		{"dense, concurrency up to 16", func(p Point) bool { return p.Concurrency <= 16 }},
		{"dense, concurrency 32 to 64", func(p Point) bool { return p.Concurrency > 16 && p.Concurrency <= 64 }},
		{"dense, concurrency above 64", func(p Point) bool { return p.Concurrency > 64 }},
		{"dense, prompt at least 16 times the answer", func(p Point) bool { return p.Input >= 16*p.Output }},
		{"dense, answer at least half the prompt", func(p Point) bool { return 2*p.Output >= p.Input }},
	} {
		groups = append(groups, Summarise(r.name, points, func(p Point) bool { return p.Dense && r.keep(p) }))
	}
	return groups
}

func llama8(p Point) bool {
	return strings.Contains(p.Model, "Llama-3.1-8B") && p.Precision == "bf16"
}

// Print writes the table and, below it, the refused rows and the plateaus.
func Print(w io.Writer, points []Point) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "rows\tTPOT error\tbias\tP90\tTTFT error\tbias\t  group\t")
	for _, g := range Groups(points) {
		if g.N > 0 {
			fmt.Fprintf(tw, "%d\t%.1f %%\t%+.1f %%\t%.1f %%\t%.0f %%\t%+.0f %%\t  %s\t\n", g.N, 100*g.MAPE, 100*g.Bias, 100*g.P90, 100*g.TTFTMAPE, 100*g.TTFTBias, g.Name)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if err := list(w, points, "not compared", func(p Point) string { return p.Refused }); err != nil {
		return err
	}
	return list(w, points, "plateau", func(p Point) string {
		if p.Refused != "" || !p.Plateau {
			return ""
		}
		return fmt.Sprintf("half or twice the GPUs serve it within 10 %% as fast; measured %.2f ms a token, simulated %.2f ms", p.TPOT, p.SimTPOT)
	})
}

// list writes a sorted line for every point of which why says something.
func list(w io.Writer, points []Point, heading string, why func(Point) string) error {
	seen := map[string]bool{}
	for _, p := range points {
		if reason := why(p); reason != "" {
			seen[fmt.Sprintf("%s: %s %s, %s TP%d, %d/%d, concurrency %d: %s", heading, p.Model, p.Precision, p.Backend, p.TP, p.Input, p.Output, p.Concurrency, reason)] = true
		}
	}
	lines := make([]string, 0, len(seen))
	for line := range seen {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
