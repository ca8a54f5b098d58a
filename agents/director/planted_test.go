package director

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// plant is a simulated server with a weakness: traffic, rare in the space, that makes one
// metric pass its limit.
type plant struct {
	about  string
	engine func(*sim.Config)
	base   float64       // sessions a second of rate 1
	metric string        // "ttft" of ordinary chats, or "tpot"
	q      float64       // the quantile that the limit is on
	limit  time.Duration // what the metric may be
}

func plants() []plant {
	return []plant{
		{"long prompts in one step hold short chats up", func(c *sim.Config) { c.EnableChunkedPrefill = sim.Off }, 2, "ttft", 0.95, 2500 * time.Millisecond},
		{"a large token budget lets long prompts stall decoding", func(c *sim.Config) { c.MaxNumBatchedTokens = 16384 }, 2, "tpot", 0.95, 35 * time.Millisecond},
		{"few sequences at once make bursts wait", func(c *sim.Config) { c.MaxNumSeqs = 48 }, 2, "ttft", 0.95, 5 * time.Second},
		{"a small cache thrashes under long prompts", func(c *sim.Config) { c.NumGPUBlocksOverride = 4000 }, 1.5, "ttft", 0.95, 7 * time.Second},
		{"a small token budget starves prefill", func(c *sim.Config) { c.MaxNumBatchedTokens = 512; c.MaxNumSeqs = 256 }, 1.5, "ttft", 0.90, 1600 * time.Millisecond},
		{"without prefix cache every turn pays for its history", func(c *sim.Config) { c.EnablePrefixCaching = sim.Off }, 2, "ttft", 0.90, 2 * time.Second},
		{"uncaptured graphs make every step slow", func(c *sim.Config) { c.EnforceEager = true }, 2, "tpot", 0.90, 31 * time.Millisecond},
		{"a slow host at large batches", func(c *sim.Config) { c.HostPerSeq = 100 * time.Microsecond }, 3, "tpot", 0.95, 65 * time.Millisecond},
		{"a small cache and bursts", func(c *sim.Config) { c.NumGPUBlocksOverride = 3000 }, 2, "ttft", 0.99, 20 * time.Second},
		{"few slots and short steps under long answers", func(c *sim.Config) { c.MaxNumSeqs = 128; c.MaxNumBatchedTokens = 2048 }, 3, "tpot", 0.90, 48 * time.Millisecond},
	}
}

// measure plays the traffic of a point for half a minute of simulated time.
func (pl plant) measure(ctx context.Context, s Space, p Point, seed uint64) (time.Duration, error) {
	v := s.Values(p)
	rng := rand.New(rand.NewPCG(seed, 1))
	load := Load{Rate: v[SettingRate] * pl.base, CV: v[SettingBurst]}
	at, n := 0.0, uint64(0)
	source := offline.SourceFunc(func() (offline.Session, bool) {
		out := offline.Session{At: time.Duration(at * 1e9), Task: "chat"}
		at += gap(rng, load.CV) / load.Rate
		isl := int(v[SettingISL])
		if isLong(n, v[SettingLongShare]) {
			out.Task = "long"
			out.Turns = []offline.Turn{{Prompt: int(v[SettingLongISL]), Output: int(v[SettingOSL])}}
		} else {
			if k := int(v[SettingShared] * float64(isl)); k > 0 {
				out.Shared = sim.Span{ID: 7, Tokens: k}
				isl -= k
			}
			for k := range int(v[SettingTurns]) {
				t := offline.Turn{Prompt: max(isl, 1), Output: int(v[SettingOSL])}
				if k > 0 {
					t.Prompt, t.Think = 70, 2*time.Second
				}
				out.Turns = append(out.Turns, t)
			}
		}
		n++
		return out, true
	})
	cfg := sim.Config{Seed: seed}
	pl.engine(&cfg)
	res, err := offline.Run(ctx, offline.Config{Engine: cfg, Source: source, Duration: 30 * time.Second, Drain: 60 * time.Second, Records: true, Seed: seed})
	if err != nil {
		return 0, err
	}
	var x []float64
	for _, r := range res.Requests {
		switch {
		case r.Task != "chat":
		case pl.metric == "ttft":
			if r.T.First.Known() {
				x = append(x, float64(r.T.First.Sub(r.T.Intended)))
			} else {
				x = append(x, float64(60*time.Second))
			}
		case r.Usage.Completion.Or(0) > 1 && r.T.Last > r.T.First:
			x = append(x, float64(r.T.Last.Sub(r.T.First))/float64(r.Usage.Completion.Or(0)-1))
		}
	}
	if len(x) < 20 {
		return 0, fmt.Errorf("%d requests are too few to judge", len(x))
	}
	slices.Sort(x)
	return time.Duration(x[min(int(pl.q*float64(len(x))), len(x)-1)]), nil
}

func (pl plant) trial(s Space) Trial {
	return func(ctx context.Context, p Point, seed uint64) (Outcome, error) {
		d, err := pl.measure(ctx, s, p, seed)
		if err != nil {
			return Outcome{}, err
		}
		return Outcome{
			Scores:   map[string]float64{pl.metric: math.Log(float64(d) / float64(pl.limit))},
			Observed: map[string]string{pl.metric: fmt.Sprintf("%s p%g %s, limit %s", pl.metric, 100*pl.q, d.Round(time.Microsecond), pl.limit)},
		}, nil
	}
}

// searchBudget is how many phases a search may explore.
const searchBudget = 30

// random looks for a weakness by drawing phases at random, under the same budget and the
// same confirmation.
func random(ctx context.Context, s *Search) (found bool, phases int, err error) {
	rng := rand.New(rand.NewPCG(s.Seed, 77))
	for n := 1; n <= s.Budget; n++ {
		p := make(Point, len(s.Space))
		for i := range p {
			p[i] = rng.IntN(len(s.Space[i].Values))
		}
		out, err := s.Trial(ctx, p, s.Seed)
		if err != nil {
			continue // too little traffic to judge is an observation
		}
		if _, score := out.worst(nil); score <= 0 {
			continue
		}
		again := 0
		for k := range uint64(3) {
			if out, err := s.Trial(ctx, p, s.Seed+k+1); err == nil {
				if _, score := out.worst(nil); score > 0 {
					again++
				}
			}
		}
		if again >= 2 {
			return true, n, nil
		}
	}
	return false, s.Budget, nil
}

// TestSearchFindsPlantedWeaknesses runs the search without a model on ten servers with a
// weakness each, and compares it with phases drawn at random.
func TestSearchFindsPlantedWeaknesses(t *testing.T) {
	space := Traffic()
	const seeds = 3
	plantsFound, searched, drawn, searchFound, drawFound := 0, 0, 0, 0, 0
	for _, pl := range plants() {
		hits := 0
		for seed := range uint64(seeds) {
			s := &Search{Space: space, Trial: pl.trial(space), Budget: searchBudget, Seed: 100 * (seed + 1)}
			m, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			phases := m.Explored
			if len(m.Weaknesses) == 1 {
				hits++
				w := m.Weaknesses[0]
				phases = w.Phases
				checkWeakness(t, pl, space, w)
				if seed == 0 {
					t.Logf("%s: found in %d phases; smallest change %v: %s, broke %d of %d", pl.about, w.Phases, w.Changes, w.Observed, w.Broke, w.Tries)
				}
			}
			searched += phases
			found, n, err := random(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if found {
				drawFound++
			}
			drawn += n
		}
		searchFound += hits
		if hits*2 > seeds {
			plantsFound++
		} else {
			t.Logf("%s: found with %d of %d seeds", pl.about, hits, seeds)
		}
	}
	t.Logf("found: %d of 10 weaknesses; %d of %d searches in %.1f phases in the mean; at random %d in %.1f", plantsFound, searchFound, 10*seeds, float64(searched)/(10*seeds), drawFound, float64(drawn)/(10*seeds))
	if plantsFound < 9 {
		t.Errorf("the search finds %d of 10 planted weaknesses within %d phases; want 9", plantsFound, searchBudget)
	}
	if searchFound <= drawFound || searched >= drawn {
		t.Errorf("the search is no better than chance: %d found in %d phases, at random %d in %d", searchFound, searched, drawFound, drawn)
	}
}

// checkWeakness repeats a weakness, and its neighbour with the last change taken back.
func checkWeakness(t *testing.T, pl plant, s Space, w Weakness) {
	t.Helper()
	if len(w.Changes) == 0 || len(w.Changes) > len(w.Found) {
		t.Errorf("%s: %d changes after reduction, %d before", pl.about, len(w.Changes), len(w.Found))
	}
	p, err := s.Find(w.Settings)
	if err != nil {
		t.Fatal(err)
	}
	if w.Score <= 0 || w.Broke*2 <= w.Tries || w.Objective != pl.metric || w.Observed == "" || !slices.Equal(p, w.Point) {
		t.Errorf("%s: weakness %+v", pl.about, w)
	}
}
