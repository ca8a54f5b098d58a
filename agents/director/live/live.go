// Package live runs the phases of a director's search against a server: the traffic of a
// point of the space, for a while, judged by limits on latencies and errors.
package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/agents/director"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/tasks"
)

// Config says how phases run. Space, Load with a Sender and a Clock, BaseRate, Duration and
// Limits are required.
type Config struct {
	Space director.Space
	// Load is what all phases share. Its Record, which may be nil, gets every request.
	Load loadgen.Config
	// Options are what the space does not set: task mix, languages, counter. Seed and Salt
	// are set for each phase.
	Options  tasks.Options
	BaseRate float64       // sessions a second of rate 1
	Duration time.Duration // of the measured part of a phase
	Warmup   time.Duration
	Limits   []Limit
	// Salt goes into the nonces; each phase adds its number, so that no phase finds the
	// prompts of another in the prefix cache.
	Salt string
}

// Limit is one objective.
type Limit struct {
	Name     string  // unique, such as "ttft_p95"
	Metric   Metric  // what is measured
	Quantile float64 // of it, between 0 and 1; not used by Errors
	Max      float64 // seconds, or a share for Errors
	// Ordinary leaves out the sessions that the space made long, which are slow by nature.
	Ordinary bool
}

// Metric is what a limit is on.
type Metric string

// The metrics.
const (
	TTFT   Metric = "ttft"   // due time to first token
	TPOT   Metric = "tpot"   // mean time a token after the first
	E2E    Metric = "e2e"    // due time to last token
	Errors Metric = "errors" // share of requests that failed or were never sent
)

// Validate reports everything that is wrong, joined.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.Space) == 0 || c.Load.Sender == nil || c.Load.Clock == nil {
		bad("live search: it needs a space, a sender and a clock")
	}
	if !(c.BaseRate > 0) || math.IsInf(c.BaseRate, 0) || c.Duration <= 0 || c.Warmup < 0 {
		bad("live search: base rate and duration must be above 0")
	}
	if len(c.Limits) == 0 {
		bad("live search: no limit to break; give one, such as ttft p95 at most 0.5 s")
	}
	names := map[string]bool{}
	for _, l := range c.Limits {
		switch {
		case names[l.Name]:
			bad("live search: two limits are called %q", l.Name)
		case !slices.Contains([]Metric{TTFT, TPOT, E2E, Errors}, l.Metric):
			bad("live search: limit %s: no metric is called %q", l.Name, l.Metric)
		case l.Metric != Errors && !(l.Quantile > 0 && l.Quantile < 1):
			bad("live search: limit %s: quantile %g is not between 0 and 1", l.Name, l.Quantile)
		case !(l.Max > 0):
			bad("live search: limit %s: %g is not above 0", l.Name, l.Max)
		}
		names[l.Name] = true
	}
	return errors.Join(errs...)
}

// NewTrial makes the phases of a search. One phase runs at a time.
func NewTrial(c Config) (director.Trial, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := 0
	return func(ctx context.Context, p director.Point, seed uint64) (director.Outcome, error) {
		n++
		return c.phase(ctx, p, seed, n)
	}, nil
}

func (c *Config) phase(ctx context.Context, p director.Point, seed uint64, n int) (director.Outcome, error) {
	o := c.Options
	o.Seed, o.Salt = seed, fmt.Sprintf("%s-%d", c.Salt, n)
	load, err := director.NewLoad(c.Space, p, c.BaseRate, o)
	if err != nil {
		return director.Outcome{}, err
	}
	process, err := arrival.Parse(fmt.Sprintf("gamma cv=%g", load.CV), load.Rate, seed)
	if err != nil {
		return director.Outcome{}, err
	}
	var mu sync.Mutex
	var got []*archive.Request
	cfg := c.Load
	cfg.Seed = seed
	cfg.Record = func(r *archive.Request) {
		mu.Lock()
		got = append(got, r)
		mu.Unlock()
		if c.Load.Record != nil {
			c.Load.Record(r)
		}
	}
	err = loadgen.Run(ctx, cfg, []loadgen.Phase{{
		Name: fmt.Sprintf("search-%d", n), Source: load.Source, Rate: load.Rate, Arrival: process, Duration: c.Duration, Warmup: loadgen.Warmup{Duration: c.Warmup},
	}})
	if err != nil {
		return director.Outcome{}, err
	}
	mu.Lock()
	defer mu.Unlock()
	return judge(c.Limits, got, int(c.Space.Values(p)[director.SettingLongISL])), nil
}

// minRequests is the least that a quantile is taken of.
const minRequests = 20

// judge scores the requests of one phase. longISL is the prompt length that marks a long
// session; 0 is none. A request that failed, was cut off or never sent is infinitely slow,
// as a user would see it; its score is capped at [worst].
func judge(limits []Limit, requests []*archive.Request, longISL int) director.Outcome {
	out := director.Outcome{Scores: map[string]float64{}, Observed: map[string]string{}}
	for _, l := range limits {
		var x []float64
		failed := 0
		for _, r := range requests {
			if r.Kind != archive.KindLoad || l.Ordinary && longISL > 0 && r.Turn == 0 && r.Asked.PromptTokens.Or(0) == longISL {
				continue
			}
			v := math.Inf(1)
			if r.Status == archive.StatusOK {
				var ok bool
				if v, ok = value(l.Metric, r); !ok {
					continue
				}
			} else {
				failed++
			}
			x = append(x, v)
		}
		if len(x) < minRequests {
			continue
		}
		slices.Sort(x)
		v := float64(failed) / float64(len(x))
		if l.Metric != Errors {
			v = x[min(int(l.Quantile*float64(len(x))), len(x)-1)]
		}
		out.Scores[l.Name] = math.Min(math.Max(math.Log(v/l.Max), -worst), worst)
		out.Observed[l.Name] = describe(l, v, len(x))
	}
	return out
}

// worst bounds a score: e⁴ is more than fifty times the limit.
const worst = 4.0

func value(m Metric, r *archive.Request) (float64, bool) {
	switch m {
	case TTFT:
		return r.T.First.Sub(r.T.Intended).Seconds(), r.T.First.Known()
	case E2E:
		return r.T.Last.Sub(r.T.Intended).Seconds(), r.T.Last.Known()
	case TPOT:
		n := r.Usage.Completion.Or(0)
		return r.T.Last.Sub(r.T.First).Seconds() / float64(max(n-1, 1)), n > 1 && r.T.First.Known() && r.T.Last.Known()
	}
	return 0, true
}

func describe(l Limit, v float64, n int) string {
	var b strings.Builder
	switch {
	case l.Metric == Errors:
		fmt.Fprintf(&b, "errors %.1f %%, limit %.1f %%", 100*v, 100*l.Max)
	case math.IsInf(v, 1):
		fmt.Fprintf(&b, "%s p%g without an answer, limit %.3g s", l.Metric, 100*l.Quantile, l.Max)
	default:
		fmt.Fprintf(&b, "%s p%g %.3g s, limit %.3g s", l.Metric, 100*l.Quantile, v, l.Max)
	}
	fmt.Fprintf(&b, ", %d requests", n)
	return b.String()
}
