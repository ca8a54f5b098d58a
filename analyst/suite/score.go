package suite

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/stats"
)

// mandatory are the metrics of the evidence that a grounded verdict cites: of each group
// at least one.
func mandatory(cause string) [][]string {
	switch cause {
	case "client":
		return [][]string{{"ttft_share_send", "send_lag", "client_cpu", "occupancy", "sent_share", "client_failures"}}
	case "throttle":
		return [][]string{{"sm_clock", "throttle_thermal", "throttle_power"}}
	case "kv_leak":
		return [][]string{{"kv_floor_growth"}}
	case "kv_capacity":
		return [][]string{{"kv_cache_usage"}, {"preemptions", "requests_waiting"}}
	case "admission_cap":
		return [][]string{{"requests_running"}, {"requests_waiting"}, {"max_running", "batch_gain"}}
	case "network":
		return [][]string{{"tcp_connect", "network_bound", "tokens_per_chunk"}, {"ttft", "icl"}}
	case "frontend":
		return [][]string{{"ttft_share_frontend"}, {"engine_ttft", "ttft_service"}}
	case "host":
		return [][]string{{"step_ratio", "mean_step_ratio", "steal"}}
	case "communication":
		return [][]string{{"step_ratio", "mean_step_ratio"}, {"gpu_gap"}}
	case "external":
		return [][]string{{"step_ratio", "mean_step_ratio"}, {"gpu_gap", "icl_swing"}}
	case "speculation":
		return [][]string{{"spec_acceptance"}, {"requests_running"}}
	case "prefix_miss":
		return [][]string{{"prefix_potential"}, {"prefix_hit"}}
	case "interference":
		return [][]string{{"stalls", "icl"}, {"step_tokens"}}
	case "prefill":
		return [][]string{{"prefill_share", "step_tokens"}, {"mfu", "token_budget"}}
	case "decode":
		return [][]string{{"prefill_share"}, {"mbu"}}
	case "queueing":
		return [][]string{{"ttft_share_queue", "offered_rate"}}
	}
	return nil
}

// Grounded reports whether a right verdict also cites the evidence that shows its cause.
func (c *Case) Grounded() bool {
	if !c.Right() {
		return false
	}
	for _, group := range mandatory(c.Cause) {
		if !slices.ContainsFunc(group, func(m string) bool { return slices.Contains(c.Cited, m) }) {
			return false
		}
	}
	return true
}

// share is k of n with its Wilson interval, in words.
func share(k, n int) string {
	lo, hi, ok := stats.Wilson(k, n, 0.95)
	if !ok {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%.1f %%, interval %.1f to %.1f %%)", k, n, 100*float64(k)/float64(n), 100*lo, 100*hi)
}

// Results are the cases of one measurement.
type Results struct {
	Tuning, Held     []Case
	Healthy          []Case // conditions without a fault, on held-out combinations
	Withheld         []Case // the engine's metrics withheld
	Pairs            []Case // two conditions at once
	Probed           []Probed
	Seeds, HeldSeeds string // in words
}

// Markdown writes the results as docs/attribution.md.
func (r *Results) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# How well causes are told apart\n\n")
	b.WriteString("Made by `make attribution`; do not edit. Every case is a run of the simulator with one knob turned. The label is that knob, never what the simulator shows. The rules see the records of an ordinary campaign: requests, scrapes, GPU and host samples. They are deterministic; no model is asked.\n\n")
	b.WriteString("These figures are an upper bound for real servers: the simulator and the rules share the idea of a roofline, though not its constants, and its telemetry is cleaner than life.\n\n")
	fmt.Fprintf(&b, "Thresholds were set with the tuning combinations (%s, seeds %s). The held-out combinations (%s, seeds %s) were run afterwards, once; two earlier held-out sets were looked at and have become tuning combinations.\n\n", combos(r.Tuning), r.Seeds, combos(r.Held), r.HeldSeeds)
	b.WriteString("| measure | tuning | held out |\n|---|---|---|\n")
	row := func(name string, f func(*Case) bool) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, share(count(r.Tuning, f)), share(count(r.Held, f)))
	}
	row("right cause first (or a cause that the condition accepts)", (*Case).Right)
	row("right, and its mandatory evidence cited", (*Case).Grounded)
	row("undecided", (*Case).Undecided)
	row("a wrong cause named", func(c *Case) bool { return !c.Right() && !c.Undecided() })
	b.WriteString("\n")
	if len(r.Healthy) > 0 {
		fmt.Fprintf(&b, "False alarms: a cause is named in %s runs of a healthy server under light load.\n\n", share(count(r.Healthy, func(c *Case) bool { return c.Cause != "" })))
	}
	if len(r.Withheld) > 0 {
		fmt.Fprintf(&b, "Without the engine's metrics, for conditions inside the engine: undecided in %s, right from outside in %s, wrong in %s.\n\n",
			share(count(r.Withheld, (*Case).Undecided)), share(count(r.Withheld, (*Case).Right)), share(count(r.Withheld, func(c *Case) bool { return !c.Right() && !c.Undecided() })))
	}
	pairs(&b, r.Pairs)
	probed(&b, r.Probed)
	b.WriteString("Not measured: any real server.\n\n")
	b.WriteString("## Confusion matrix, held out\n\nRows are what was injected, columns what was named. A condition may accept more than one cause, so that not all off the diagonal is wrong.\n\n")
	matrix(&b, r.Held)
	b.WriteString("\n## Wrong or undecided, held out\n\n")
	wrong(&b, r.Held)
	b.WriteString("\n## Wrong or undecided, tuning\n\n")
	wrong(&b, r.Tuning)
	_, err := io.WriteString(w, b.String())
	return err
}

func combos(cases []Case) string {
	var out []string
	for _, c := range cases {
		if s := c.Combo.String(); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

func count(cases []Case, f func(*Case) bool) (k, n int) {
	for i := range cases {
		if f(&cases[i]) {
			k++
		}
	}
	return k, len(cases)
}

func matrix(b *strings.Builder, cases []Case) {
	cells := map[[2]string]int{}
	rows, cols := map[string]bool{}, map[string]bool{}
	for i := range cases {
		c := &cases[i]
		truth := c.Truth.Cause
		if truth == "" {
			truth = "none"
		}
		cells[[2]string{truth, c.Label()}]++
		rows[truth], cols[c.Label()] = true, true
	}
	names := slices.Sorted(maps.Keys(cols))
	fmt.Fprintf(b, "| injected | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, truth := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(b, "| %s |", truth)
		for _, n := range names {
			if k := cells[[2]string{truth, n}]; k > 0 {
				fmt.Fprintf(b, " %d |", k)
			} else {
				b.WriteString("  |")
			}
		}
		b.WriteString("\n")
	}
}

func wrong(b *strings.Builder, cases []Case) {
	any := false
	for i := range cases {
		c := &cases[i]
		if c.Right() {
			continue
		}
		if !any {
			b.WriteString("| condition | server | severity | injected | named |\n|---|---|---|---|---|\n")
			any = true
		}
		fmt.Fprintf(b, "| %s %s | %s | %s | %s | %s |\n", c.Condition, c.Truth.Name, c.Combo, c.Options.Severity, c.Truth.Cause, c.Label())
	}
	if !any {
		b.WriteString("None.\n")
	}
}
