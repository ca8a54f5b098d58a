package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// job is one client run.
type job struct {
	kind    string
	shape   null.Shape
	streams int
	memory  bool
}

var (
	saturated = null.Shape{Chunks: 4096, Batch: 8}
	half      = null.Shape{Chunks: 128, Gap: 20 * time.Millisecond}
	standing  = null.Shape{Chunks: 400, Gap: 250 * time.Millisecond}
)

func sat(kind string) job    { return job{kind: kind, shape: saturated, streams: 64} }
func paced(kind string) job  { return job{kind: kind, shape: half, streams: 1000} }
func memory(kind string) job { return job{kind: kind, shape: standing, streams: 5000, memory: true} }
func plain(kind string) job  { return job{kind: kind, streams: 64} }

// ratio is one of the sixteen.
type ratio struct {
	number     string
	name       string
	goal, gate float64
	atMost     bool // the value must not be above goal and gate; else not below
	jobs       []job
	value      func(get func(job) *measure) float64
	once       func() (float64, error) // measured in this process
}

// result is what is printed for a ratio.
type result struct {
	Number, Name     string
	Median, Low, Top float64
	Repeats          int
	Goal, Gate       float64
	AtMost           bool
	MeetsGoal        bool
	MeetsGate        bool
	Note             string `json:",omitempty"`
}

func perChunk(m *measure) float64 { return m.CPU / float64(max(1, m.Chunks)) }
func perSecond(m *measure) float64 {
	return float64(m.Chunks) / m.Seconds
}

// cpuRatio is the processor time a chunk costs a, in that of b.
func cpuRatio(number, name string, goal, gate float64, a, b job) ratio {
	return ratio{number: number, name: name, goal: goal, gate: gate, atMost: true, jobs: []job{a, b}, value: func(get func(job) *measure) float64 {
		return perChunk(get(a)) / perChunk(get(b))
	}}
}

func speedRatio(number, name string, goal, gate float64, b job) ratio {
	a := sat("ours")
	return ratio{number: number, name: name, goal: goal, gate: gate, jobs: []job{a, b}, value: func(get func(job) *measure) float64 {
		// A second of one core of each: the server may be what limits the faster one.
		return perChunk(get(b)) / perChunk(get(a))
	}}
}

func memoryRatio(number, name string, goal, gate float64, a, b job) ratio {
	return ratio{number: number, name: name, goal: goal, gate: gate, jobs: []job{a, b}, value: func(get func(job) *measure) float64 {
		return get(a).BytesPerStream / get(b).BytesPerStream
	}}
}

func ratios() []ratio {
	of := func(j job, f func(*measure) float64) ([]job, func(func(job) *measure) float64) {
		return []job{j}, func(get func(job) *measure) float64 { return f(get(j)) }
	}
	written := &writes{}
	all := []ratio{
		{number: "1", name: "scanner ns a chunk : counting line ends", goal: 4, gate: 6, atMost: true, once: microFloor},
		{number: "2", name: "go-openai line and decode ns : scanner ns", goal: 60, gate: 30, once: microOpenAI},
		{number: "3", name: "allocations a chunk in the scanner", goal: 0, gate: 0, atMost: true, once: microAllocs},
		cpuRatio("4", "CPU a chunk, saturated: net/http engine : goroutines that only read", 1.15, 1.35, sat("ours"), sat("floor-go")),
		speedRatio("5a", "chunks a second and core, saturated: ours : go-openai", 6, 4, sat("go-openai")),
		speedRatio("5b", "chunks a second and core, saturated: ours : JSON v1", 4, 3, sat("json-v1")),
		speedRatio("5c", "chunks a second and core, saturated: ours : JSON v2", 1.8, 1.4, sat("json-v2")),
		cpuRatio("6a", "CPU a chunk at 50,000/s: event loop : epoll that only reads", 1.10, 1.25, paced("loop"), paced("floor-epoll")),
		cpuRatio("6b", "CPU a chunk at 50,000/s: net/http engine : goroutines that only read", 1.20, 1.35, paced("ours"), paced("floor-go")),
		cpuRatio("7", "CPU a chunk at 50,000/s: lazy drain 1 ms : waking for each chunk", 0.65, 0.8, paced("loop-lazy"), paced("loop")),
		{number: "8", name: "stamp error P99 at 50,000/s: user stamp : kernel stamp, net/http engine", goal: 15, gate: 4, jobs: []job{paced("ours-user"), paced("ours")}, value: func(get func(job) *measure) float64 {
			return get(paced("ours-user")).P99 / get(paced("ours")).P99
		}},
		{number: "9", name: "stamp error P99 at 50,000/s: go-openai : ours", goal: 100, gate: 20, jobs: []job{paced("go-openai"), paced("ours")}, value: func(get func(job) *measure) float64 {
			return get(paced("go-openai")).P99 / get(paced("ours")).P99
		}},
		memoryRatio("12a", "memory a stream at 5,000: go-openai : net/http engine", 1.4, 1.2, memory("go-openai"), memory("ours")),
		memoryRatio("12b", "memory a stream at 5,000: go-openai : event loop", 25, 12, memory("go-openai"), memory("loop-async")),
		{number: "13", name: "pacing error P50 at 1,000/s: time.Sleep : ours", goal: 10, gate: 4, once: microPacing(0.5)},
		{number: "13b", name: "pacing error P99 at 1,000/s: time.Sleep : ours", goal: 2, gate: 1.2, once: microPacing(0.99)},
		{number: "13c", name: "pacing error P50 at 1,000/s, at the write, µs", goal: 50, gate: 1000, atMost: true, once: written.at(0.5)},
		{number: "13d", name: "pacing error P99 at 1,000/s, at the write, µs", goal: 1000, gate: 20_000, atMost: true, once: written.at(0.99)},
		{number: "14", name: "stalled server, 8 connections: reported P99 : true P99", goal: 0.95, gate: 0.9, once: omission},
		{number: "15a", name: "plain requests a second of processor time: event loop : wrk", goal: 0.9, gate: 0.7, once: againstTool("wrk", "loop")},
		{number: "15b", name: "plain requests a second of processor time: net/http engine : hey", goal: 1.3, gate: 1.1, once: againstTool("hey", "ours")},
	}
	gap := ratio{number: "10", name: "ICL error P99 at 50,000/s, share of the 20 ms gap", goal: 0.005, gate: 0.02, atMost: true}
	gap.jobs, gap.value = of(paced("ours"), func(m *measure) float64 { return m.GapP99 / 20_000 })
	lag50 := ratio{number: "11a", name: "self-measured lag against true error of user stamps, difference at P50, µs", goal: 10, gate: 50, atMost: true}
	lag50.jobs, lag50.value = of(paced("ours-both"), func(m *measure) float64 { return abs(m.LagP50 - m.UserP50) })
	lag99 := ratio{number: "11b", name: "self-measured lag against true error of user stamps, share of P99", goal: 0.2, gate: 0.5, atMost: true}
	lag99.jobs, lag99.value = of(paced("ours-both"), func(m *measure) float64 { return abs(m.LagP99-m.UserP99) / m.UserP99 })
	merged := ratio{number: "16", name: "coalesced share at 50,000/s", goal: 0.005, gate: 0.02, atMost: true}
	merged.jobs, merged.value = of(paced("ours"), func(m *measure) float64 { return m.Coalesced })
	all = append(all, gap, lag50, lag99, merged)
	slices.SortFunc(all, func(a, b ratio) int { return order(a.number) - order(b.number) })
	return all
}

func abs(x float64) float64 { return max(x, -x) }

// order makes "5a" come behind "4" and ahead of "5b".
func order(number string) int {
	digits := strings.TrimRight(number, "abcd")
	n, _ := strconv.Atoi(digits)
	n *= 10
	if len(digits) < len(number) {
		n += int(number[len(number)-1]-'a') + 1
	}
	return n
}

// limits measures the ratios, prints them as a table, and reports a gate that is not met.
func limits(repeats int, span time.Duration, only []string, out string) error {
	todo := slices.DeleteFunc(ratios(), func(r ratio) bool {
		return len(only) > 0 && !slices.Contains(only, r.number) && !slices.Contains(only, strings.TrimRight(r.number, "abcd"))
	})
	if len(todo) == 0 {
		return errors.New("no ratio has that number")
	}
	srv, err := startServer()
	if err != nil {
		return err
	}
	defer srv.stop()
	var jobs []job
	for _, r := range todo {
		for _, j := range r.jobs {
			if !slices.Contains(jobs, j) {
				jobs = append(jobs, j)
			}
		}
	}
	runs := make([]map[job]*measure, repeats)
	for i := range runs {
		runs[i] = map[job]*measure{}
		rand.Shuffle(len(jobs), func(a, b int) { jobs[a], jobs[b] = jobs[b], jobs[a] })
		for _, j := range jobs {
			m, err := srv.run(j, span)
			for range 2 { // a client that the machine did not run at all shows nothing
				if err != nil || m.Chunks > 0 || j.memory {
					break
				}
				m, err = srv.run(j, span)
			}
			if err == nil && m.Chunks == 0 && !j.memory {
				err = errors.New("no chunk came in the window, three times: the machine is too busy to measure on")
			}
			if err != nil {
				return fmt.Errorf("client %s: %w", j.kind, err)
			}
			runs[i][j] = m
			fmt.Fprintf(os.Stderr, "repeat %d: %-11s %s\n", i+1, j.kind, m.line(j))
		}
	}
	var results []result
	for _, r := range todo {
		var values []float64
		note := ""
		for i := range runs {
			v, err := 0.0, error(nil)
			if r.once != nil {
				v, err = r.once()
			} else {
				v = r.value(func(j job) *measure { return runs[i][j] })
			}
			if err != nil {
				note = "not measured: " + err.Error()
				break
			}
			values = append(values, v)
		}
		results = append(results, r.result(values, note))
	}
	return publish(results, out)
}

func (r *ratio) result(values []float64, note string) result {
	res := result{Number: r.number, Name: r.name, Goal: r.goal, Gate: r.gate, AtMost: r.atMost, Repeats: len(values), Note: note}
	if len(values) == 0 || note != "" {
		return res
	}
	slices.Sort(values)
	res.Median, res.Low, res.Top = (values[(len(values)-1)/2]+values[len(values)/2])/2, values[0], values[len(values)-1]
	meets := func(limit float64) bool { return r.atMost && res.Median <= limit || !r.atMost && res.Median >= limit }
	res.MeetsGoal, res.MeetsGate = meets(r.goal), meets(r.gate)
	return res
}

func publish(results []result, out string) error {
	fmt.Printf("%-4s %-78s %10s  %-22s %9s %9s\n", "#", "ratio", "median", "range", "goal", "gate")
	failed := 0
	for _, r := range results {
		if r.Note != "" {
			fmt.Printf("%-4s %-78s %s\n", r.Number, r.Name, r.Note)
			continue
		}
		sign, state := "≥", "goal"
		if r.AtMost {
			sign = "≤"
		}
		if !r.MeetsGoal {
			state = "gate only"
		}
		if !r.MeetsGate {
			state = "NOT MET"
			failed++
		}
		fmt.Printf("%-4s %-78s %10.4g  [%.4g .. %.4g] n=%d %4s%5g %4s%5g  %s\n", r.Number, r.Name, r.Median, r.Low, r.Top, r.Repeats, sign, r.Goal, sign, r.Gate, state)
	}
	if out != "" {
		b, err := json.MarshalIndent(results, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(out, append(b, '\n'), 0o600); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d gates are not met", failed)
	}
	return nil
}

// run runs one client against the server.
func (s *server) run(j job, span time.Duration) (*measure, error) {
	before, err := s.stats()
	if err != nil {
		return nil, err
	}
	warm := 500 * time.Millisecond
	if j.shape.Gap > 0 {
		warm = time.Second
	}
	args := []string{"client", "-kind", j.kind, "-url", s.url + j.shape.Path(), "-streams", strconv.Itoa(j.streams), "-for", span.String()}
	if j.shape.Gap == 0 {
		args = append(args, "-counting")
	}
	if j.memory {
		args = append(args, "-memory")
		warm = 5 * time.Second
	}
	cmd := exec.Command(os.Args[0], append(args, "-warm", warm.String())...) //nolint:gosec // this program itself
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if j.memory {
		cmd.Env = append(cmd.Env, "GOGC=100")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %.300s", err, errs.String())
	}
	var m measure
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	if m.Failed > 0 {
		return nil, fmt.Errorf("%d requests failed: %.300s", m.Failed, errs.String())
	}
	after, err := s.stats()
	if err != nil {
		return nil, err
	}
	m.ServerCPU = (after.CPU - before.CPU).Seconds()
	m.ServerLate = float64(after.LateMax) / 1e6
	return &m, nil
}

func (m *measure) line(j job) string {
	if j.memory {
		return fmt.Sprintf("%.1f KiB a stream resident; heap %.1f, stacks %.1f", m.BytesPerStream/1024, m.HeapPerStream/1024, m.StackPerStream/1024)
	}
	return fmt.Sprintf("%8.0f chunks/s, %6.0f ns CPU a chunk, stamp error P50 %.1f P99 %.1f µs, gap P99 %.1f, lag P50 %.1f P99 %.1f, coalesced %.3f %%, machine busy %.0f %%",
		perSecond(m), 1e9*perChunk(m), m.P50, m.P99, m.GapP99, m.LagP50, m.LagP99, 100*m.Coalesced, 100*m.Machine/m.Seconds/float64(runtime.NumCPU()))
}
