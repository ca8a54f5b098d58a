package suite

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/faults"
)

// Combo is a server: a device, a model and how many devices share a layer.
type Combo struct {
	GPU, Model   string
	TP           int
	Quantization string
	// Duration of a run; 0 is 90 s. A slow device needs longer for as many requests.
	Duration time.Duration
}

// String names the combination.
func (c Combo) String() string {
	s := c.GPU + " " + c.Model
	if c.TP > 1 {
		s += fmt.Sprintf(" TP%d", c.TP)
	}
	if c.Quantization != "" {
		s += " " + c.Quantization
	}
	return s
}

// Tuning returns the combinations that thresholds may be looked at with.
func Tuning() []Combo {
	return []Combo{
		{GPU: "h100_sxm", Model: "llama-3.1-8b"},
		{GPU: "a100_80_sxm", Model: "llama-3.1-8b"},
		{GPU: "l4", Model: "llama-3.2-3b", Duration: 4 * time.Minute},
		{GPU: "h200_sxm", Model: "qwen3-8b"},
		{GPU: "a100_40_sxm", Model: "qwen2.5-7b"},
		{GPU: "b200_sxm", Model: "llama-3.1-70b", TP: 2},
		{GPU: "a10g", Model: "llama-3.2-1b", Duration: 3 * time.Minute},
		{GPU: "h100_sxm", Model: "qwen3-32b", TP: 2, Quantization: "fp8"},
		{GPU: "h200_sxm", Model: "qwen3-30b-a3b"},
		{GPU: "a100_80_sxm", Model: "llama-3.1-70b", TP: 4, Duration: 4 * time.Minute},
	}
}

// Held returns the combinations that thresholds were not looked at with.
func Held() []Combo {
	return []Combo{
		{GPU: "l40s", Model: "qwen3-8b", Quantization: "fp8", Duration: 2 * time.Minute},
		{GPU: "b200_sxm", Model: "mixtral-8x7b-instruct-v0.1"},
		{GPU: "h200_sxm", Model: "llama-3.1-70b", TP: 2, Duration: 2 * time.Minute},
		{GPU: "a100_40_sxm", Model: "llama-3.2-3b"},
		{GPU: "h100_pcie", Model: "mistral-7b-instruct-v0.3"},
		{GPU: "l4", Model: "llama-3.2-1b", Duration: 3 * time.Minute},
	}
}

// Engine returns the server's configuration.
func (c Combo) Engine() (sim.Config, error) {
	gpu, err := sim.LookupGPU(c.GPU)
	if err != nil {
		return sim.Config{}, err
	}
	model, err := sim.LookupModel(c.Model)
	if err != nil {
		return sim.Config{}, err
	}
	return sim.Config{GPU: gpu, Model: model, TensorParallel: c.TP, Quantization: c.Quantization}, nil
}

// Job is one run of the suite.
type Job struct {
	Condition string
	Combo     Combo
	Options   faults.Options
}

// Case is a job and what the analyst made of it.
type Case struct {
	Job
	Truth   faults.Truth
	Verdict archive.Verdict
	// Cause is the cause that the analysis names: the primary finding's, also where a failed
	// gate makes the run invalid and the load generator is to blame; "" for none.
	Cause string
	// Ranked are the causes of the findings, the best first.
	Ranked []string
	Scores []float64
	// Cited are the metrics of the evidence that the primary finding cites for itself.
	Cited []string
	// Evidence is all evidence of the analysis.
	Evidence []archive.Evidence
	Err      error
}

// Right reports whether the named cause is the injected one.
func (c *Case) Right() bool {
	if c.Err != nil {
		return false
	}
	if c.Truth.Cause == "" && c.Cause == "" {
		return c.Verdict.State == archive.VerdictNone
	}
	return c.Cause == c.Truth.Cause && c.Cause != "" || c.Cause != "" && slices.Contains(c.Truth.Accept, c.Cause)
}

// Undecided reports whether the analysis names no cause and does not say that nothing is
// wrong either.
func (c *Case) Undecided() bool {
	return c.Err == nil && c.Cause == "" && c.Verdict.State != archive.VerdictNone
}

// Label is the verdict in one word.
func (c *Case) Label() string {
	switch {
	case c.Err != nil:
		return "error"
	case c.Cause != "":
		return c.Cause
	case c.Verdict.State == archive.VerdictNone:
		return "none"
	}
	return "undecided"
}

// Jobs crosses conditions with combinations, severities and seeds.
func Jobs(conditions []string, combos []Combo, severities []faults.Severity, seeds []uint64) []Job {
	var out []Job
	for _, combo := range combos {
		for _, id := range conditions {
			for _, sev := range severities {
				for _, seed := range seeds {
					out = append(out, Job{id, combo, faults.Options{Severity: sev, Seed: seed}})
				}
			}
		}
	}
	return out
}

// All returns the ids of all conditions.
func All() []string {
	var out []string
	for _, c := range faults.Conditions() {
		out = append(out, c.ID)
	}
	return out
}

// Run plays the jobs with that many at a time and returns the cases in the order of the
// jobs. done, when not nil, is told of each case as it ends, from one goroutine at a time.
func Run(ctx context.Context, jobs []Job, parallel int, done func(int, *Case)) []Case {
	return inParallel(jobs, parallel, func(j Job) Case { return Play(ctx, j) }, done)
}

// inParallel plays the jobs with that many at a time and returns what came of them, in order.
func inParallel[T any](jobs []Job, parallel int, play func(Job) T, done func(int, *T)) []T {
	out := make([]T, len(jobs))
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := make(chan int)
	for range max(1, parallel) {
		wg.Go(func() {
			for i := range next {
				out[i] = play(jobs[i])
				if done != nil {
					mu.Lock()
					done(i, &out[i])
					mu.Unlock()
				}
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// Play plays one job and analyses it.
func Play(ctx context.Context, j Job) Case {
	c := Case{Job: j}
	var run *faults.Run
	if j.Options.Engine, c.Err = j.Combo.Engine(); c.Err != nil {
		return c
	}
	if j.Options.Duration == 0 {
		j.Options.Duration = j.Combo.Duration
	}
	if run, c.Err = faults.Play(ctx, j.Condition, j.Options); c.Err != nil {
		return c
	}
	c.Truth = run.Truth
	a, err := analyst.FromRecords(Input(run), analyst.Options{SLO: []string{Objective(run.Truth)}})
	if err != nil {
		c.Err = err
		return c
	}
	c.judge(a)
	return c
}

// Objective is the objective that a healthy server of the kind meets.
func Objective(t faults.Truth) string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.3fms", float64(d)/1e6) }
	return "ttft<" + ms(t.TTFT) + " && tpot<" + ms(t.TPOT) + " && attainment>=95%"
}

func (c *Case) judge(a *archive.Analysis) {
	c.Verdict, c.Evidence = a.Verdict, a.Evidence
	metric := map[string]string{}
	for _, e := range a.Evidence {
		metric[e.ID] = e.Metric
	}
	for _, f := range a.Findings {
		c.Ranked = append(c.Ranked, f.Cause)
		c.Scores = append(c.Scores, f.Score)
		if f.Role == "primary" && c.Cause == "" {
			c.Cause = f.Cause
			for _, id := range f.For {
				c.Cited = append(c.Cited, metric[id])
			}
		}
	}
}

// Input makes the analyst's input of a played condition.
func Input(r *faults.Run) analyst.Input {
	return analyst.Input{Manifest: r.Manifest, Requests: each(r.Requests), Samples: each(r.Samples), Events: each(r.Events)}
}

func each[T any](xs []*T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for _, x := range xs {
			if !yield(x, nil) {
				return
			}
		}
	}
}
