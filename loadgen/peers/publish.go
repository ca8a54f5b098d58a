//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// versionOf is a client's version: its package's, or what our own program says.
func versionOf(ctx context.Context, o *options, t *tool) string {
	switch t.name {
	case "AIPerf":
		return version(o.envs, "aiperf", "aiperf")
	case "guidellm":
		return version(o.envs, "guidellm", "guidellm")
	case "inference-perf":
		return version(o.envs, "inference-perf", "inference_perf")
	case "vLLM bench serve":
		b, err := os.ReadFile(filepath.Join(o.envs, "vllm-source", "VERSION"))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	b, err := exec.CommandContext(ctx, t.program, "--version").Output() //nolint:gosec // this program's own build
	if err != nil {
		return ""
	}
	f := strings.Fields(string(b))
	if len(f) == 0 {
		return ""
	}
	return f[len(f)-1]
}

// middle is the median of what the rounds of a client have; false where none has it.
func middle(done []outcome, tool string, f func(*outcome) float64) (float64, bool) {
	var x []float64
	for i := range done {
		if o := &done[i]; o.Tool == tool && o.Round > 0 && o.Failed == "" {
			x = append(x, f(o))
		}
	}
	if len(x) == 0 {
		return 0, false
	}
	slices.Sort(x)
	return quantile(x, 0.5), true
}

// column is one figure of the table.
type column struct {
	name   string
	format string
	value  func(*outcome) float64
}

func columns(o *options) []column {
	error50 := func(o *outcome) float64 { return o.Said.TTFT.P50 - o.Truth.TTFT.P50 }
	error99 := func(o *outcome) float64 { return o.Said.TTFT.P99 - o.Truth.TTFT.P99 }
	return []column{
		{"rate reached, of that asked", "%.3f", func(x *outcome) float64 { return x.Truth.Rate / o.rate }},
		{"gap CV", "%.2f", func(o *outcome) float64 { return o.Truth.GapCV }},
		{"dispersion index", "%.2f", func(o *outcome) float64 { return o.Truth.Dispersion }},
		{"TTFT P50 error, ms", "%+.2f", error50},
		{"TTFT P99 error, ms", "%+.2f", error99},
		{"ITL P50 error, ms", "%+.3f", func(o *outcome) float64 { return o.Said.ITL.P50 - o.gap().P50 }},
		{"ITL P99 error, ms", "%+.2f", func(o *outcome) float64 { return o.Said.ITL.P99 - o.gap().P99 }},
		{"CPU s a 1,000 chunks", "%.3f", (*outcome).cpu},
		{"CPU s in all", "%.1f", func(o *outcome) float64 { return o.Usage.Total }},
		{"peak memory, MiB", "%.0f", func(o *outcome) float64 { return float64(o.Usage.Peak) / (1 << 20) }},
		{"wall time, s", "%.1f", func(o *outcome) float64 { return o.Usage.Took.Seconds() }},
	}
}

// publish prints the tables and writes the page.
func publish(ctx context.Context, o *options, all []tool, missing []string, done []outcome, begin time.Time) error {
	var b strings.Builder
	rounds := 0
	for i := range done {
		rounds = max(rounds, done[i].Round)
	}
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# How this client compares with others\n")
	p("`make bench-peers` installs the other load generators, runs one workload through each and through this program against")
	p("the same server in turn, and writes this page. All figures are from one run on one machine: read the ratios, not the")
	p("absolute values. The server is the null server (`loadgen/null`) in a process of its own; it keeps the instant at which each")
	p("request had arrived and the instant just before each chunk was written. Arrivals and errors below are by that record.\n")
	p("- When: %s; it took %v.", begin.UTC().Format("2006-01-02 15:04 UTC"), time.Since(begin).Round(time.Second))
	p("- Machine: %d cores, %s/%s, shared by server and client. %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, cpuModel())
	p("- At a rate: %d requests, %g/s, Poisson; each reply is %d chunks, the first after %v, then one each %v; %d prompt tokens. %d rounds; every second round goes backwards. Medians over the rounds.",
		o.requests, o.rate, atRate.Chunks, atRate.First, atRate.Gap, promptTokens, rounds)
	p("- At once: %d requests with %d streams asked for together; each reply takes %v. One round.\n", o.users, o.users, atOnce.First+atOnce.Gap*time.Duration(atOnce.Chunks-1))
	p("## At a rate\n")
	cols := columns(o)
	p("| client | version | %s |", joined(cols, func(c column) string { return c.name }))
	p("|---|---|%s", strings.Repeat("---:|", len(cols)))
	for _, t := range all {
		p("| %s | %s | %s |", t.name, orNot(t.version), joined(cols, func(c column) string {
			v, ok := middle(done, t.name, c.value)
			if !ok {
				return "no run"
			}
			return fmt.Sprintf(c.format, v)
		}))
	}
	o.truthRow(&b, done)
	p("\nThe errors are the client's reported quantile less the server's own: TTFT from the arrival of a request to its first")
	p("chunk, ITL between the chunks of a stream. Every client's TTFT counts from its own send; ours is `ttft_service`, not the")
	p("TTFT from the due time that reports lead with. guidellm reports ITL as each request's mean, and is compared with that. CPU a")
	p("1,000 chunks counts all of a client's processes from the first arrival to the last chunk; CPU in all has the start and the")
	p("report as well. Memory is the proportional set size of all processes. A Poisson process has a gap CV and a dispersion")
	p("index of 1; %d arrivals leave about ±%.2f and ±%.2f of chance, and ±%.2f in the rate: each client draws its own.\n", o.requests, 2/math.Sqrt(float64(o.requests)), 2*math.Sqrt(2/(float64(o.requests)/o.rate/0.2)), 2/math.Sqrt(float64(o.requests)))
	o.ratios(&b, all, done)
	p("## Many streams at once\n")
	p("| client | most streams at once | of those asked | TTFT P99 error, ms | CPU s a 1,000 chunks | peak memory, MiB |")
	p("|---|---:|---:|---:|---:|---:|")
	for i := range done {
		if x := &done[i]; x.Round == 0 {
			if x.Failed != "" {
				p("| %s | no run | | | | |", x.Tool)
				continue
			}
			p("| %s | %d | %.2f | %+.2f | %.3f | %.0f |", x.Tool, x.Truth.Open, float64(x.Truth.Open)/float64(o.users),
				x.Said.TTFT.P99-x.Truth.TTFT.P99, x.cpu(), float64(x.Usage.Peak)/(1<<20))
		}
	}
	o.failures(&b, missing, done)
	o.commands(&b, all)
	fmt.Print(b.String())
	if o.out == "" {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return os.WriteFile(o.out, []byte(b.String()), 0o644) //nolint:gosec // a page of the documentation
}

func joined(cols []column, f func(column) string) string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = f(c)
	}
	return strings.Join(out, " | ")
}

func orNot(s string) string {
	if s == "" {
		return "not told"
	}
	return s
}

// truthRow says what the server did, so that its own lateness is not taken for a client's.
func (*options) truthRow(b *strings.Builder, done []outcome) {
	var ttft, gap []float64
	for i := range done {
		if done[i].Round > 0 && done[i].Failed == "" {
			ttft, gap = append(ttft, done[i].Truth.TTFT.P99), append(gap, done[i].Truth.Gap.P99)
		}
	}
	if len(ttft) == 0 {
		return
	}
	slices.Sort(ttft)
	slices.Sort(gap)
	fmt.Fprintf(b, "\nThe server's own P99 over these runs: TTFT %.2f to %.2f ms, gap %.2f to %.2f ms.\n", ttft[0], ttft[len(ttft)-1], gap[0], gap[len(gap)-1])
}

// ratios says in which figure another client is better, and by how much it is not.
func (o *options) ratios(b *strings.Builder, all []tool, done []outcome) {
	if all[0].name != "InferenceBench" || len(all) < 2 {
		return
	}
	abs := func(f func(*outcome) float64) func(*outcome) float64 {
		return func(x *outcome) float64 { return math.Abs(f(x)) }
	}
	cols := columns(o)
	less := []column{
		{"distance of the rate from that asked", "", abs(func(x *outcome) float64 { return x.Truth.Rate/o.rate - 1 })},
		{"distance of the dispersion index from 1", "", abs(func(x *outcome) float64 { return x.Truth.Dispersion - 1 })},
		{"TTFT P50 error", "", abs(cols[3].value)}, {"TTFT P99 error", "", abs(cols[4].value)},
		{"ITL P50 error", "", abs(cols[5].value)}, {"ITL P99 error", "", abs(cols[6].value)},
		{"CPU a 1,000 chunks", "", cols[7].value}, {"CPU in all", "", cols[8].value}, {"peak memory", "", cols[9].value}, {"wall time", "", cols[10].value},
	}
	fmt.Fprint(b, "## Ratios: the other client : InferenceBench\n\nLess is better in each figure, so a ratio above 1 is in favour of InferenceBench. Errors count without their sign.\n\n| figure |")
	for _, t := range all[1:] {
		fmt.Fprintf(b, " %s |", t.name)
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("---:|", len(all)-1))
	var better []string
	for _, c := range less {
		fmt.Fprintf(b, "| %s |", c.name)
		ours, ok := middle(done, all[0].name, c.value)
		for _, t := range all[1:] {
			v, have := middle(done, t.name, c.value)
			if !ok || !have || ours == 0 {
				fmt.Fprint(b, " unknown |")
				continue
			}
			fmt.Fprintf(b, " %.2f |", v/ours)
			if v < ours && !strings.HasPrefix(t.name, all[0].name) {
				better = append(better, fmt.Sprintf("%s: %s (%.2f times)", c.name, t.name, v/ours))
			}
		}
		fmt.Fprintln(b)
	}
	fmt.Fprintln(b, "\nWhere another client was better in this run:")
	if len(better) == 0 {
		fmt.Fprintln(b, "in none of these figures.")
	}
	for _, s := range better {
		fmt.Fprintf(b, "- %s\n", s)
	}
	fmt.Fprintln(b)
}

// failures says which clients did not run, and why.
func (o *options) failures(b *strings.Builder, missing []string, done []outcome) {
	if len(missing) > 0 {
		fmt.Fprintf(b, "\nNot installed: %s.\n", strings.Join(missing, ", "))
		if why, err := os.ReadFile(filepath.Join(o.envs, "failed.txt")); err == nil {
			fmt.Fprintf(b, "\n```\n%s\n```\n", strings.TrimSpace(string(why)))
		}
	}
	for i := range done {
		if x := &done[i]; x.Failed != "" {
			fmt.Fprintf(b, "\n%s, round %d, has no result: %s\n", x.Tool, x.Round, strings.ReplaceAll(x.Failed, o.envs, ".venv/peers"))
		}
	}
}

// commands writes the exact command of each client.
func (o *options) commands(b *strings.Builder, all []tool) {
	fmt.Fprint(b, "\n## Commands\n\nThe address is that of the null server; its first segment of path asks for the reply's shape. OUT is the run's folder.\n\n```\n")
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	for i := range all {
		t := &all[i]
		for _, l := range []*load{{shape: atRate, requests: o.requests, rate: o.rate}, {shape: atOnce, requests: o.users, users: o.users}} {
			l.url = "http://127.0.0.1:PORT" + l.shape.Path()
			args, err := t.args(l, dir)
			if err != nil {
				continue
			}
			text := strings.Join(append(append(slices.Clone(t.env), t.program), args...), " ")
			text = strings.NewReplacer(dir, "OUT", o.envs, ".venv/peers", o.ours, "inferencebench").Replace(text)
			fmt.Fprintln(b, text)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "config.yaml")); err == nil {
		fmt.Fprintf(b, "```\n\nThe file of inference-perf for many streams (that for a rate differs in `load`: `{type: poisson, num_workers: 2, stages: [{rate: %g, duration: %d}]}`):\n\n```yaml\n%s",
			o.rate, int(float64(o.requests)/max(o.rate, 1)), strings.NewReplacer(dir, "OUT", o.envs, ".venv/peers").Replace(string(text)))
	}
	fmt.Fprintln(b, "```")
	for _, t := range all {
		if t.note != "" {
			fmt.Fprintf(b, "\n%s: %s.\n", t.name, t.note)
		}
	}
}

// cpuModel names the processor, where the system does.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value) + "."
		}
	}
	return ""
}
