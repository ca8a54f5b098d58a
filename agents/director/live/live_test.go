package live

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferencebench/inferencebench/agents/director"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// slots is a server with a few slots and a service time that grows with the prompt, on the
// clock of the test's bubble.
type slots struct {
	clock archive.Clock
	free  chan struct{}
	mu    sync.Mutex
	seen  map[string]bool
	twice int
}

func (s *slots) Do(ctx context.Context, call *wire.Call, rec *archive.Request) {
	rec.T.Send = s.clock.Now()
	last := call.Messages[len(call.Messages)-1].Content
	s.mu.Lock()
	if s.seen[last] {
		s.twice++
	}
	s.seen[last] = true
	s.mu.Unlock()
	rec.Status = archive.StatusCancelled
	select {
	case s.free <- struct{}{}:
		defer func() { <-s.free }()
	case <-ctx.Done():
		return
	}
	wait := func(d time.Duration) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	bytes := 0
	for _, m := range call.Messages {
		bytes += len(m.Content)
	}
	if !wait(time.Duration(bytes) * 10 * time.Microsecond) {
		return
	}
	rec.T.First = s.clock.Now()
	if !wait(time.Duration(call.MaxTokens) * 2 * time.Millisecond) {
		return
	}
	rec.T.Last = s.clock.Now()
	rec.T.Done = rec.T.Last
	rec.Status, rec.Text = archive.StatusOK, "The answer names 14 crates of mackerel."
	rec.Usage.Completion = archive.Some(call.MaxTokens)
}

func TestLiveSearchFindsAWeakness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := archive.NewRunClock()
		server := &slots{clock: clock, free: make(chan struct{}, 4), seen: map[string]bool{}}
		space := director.Space{}
		for _, s := range director.Traffic() {
			if s.Name == director.SettingTurns {
				s.Values, s.Baseline = []float64{1}, 0
			}
			space = append(space, s)
		}
		trial, err := NewTrial(Config{
			Space: space, BaseRate: 3, Duration: 40 * time.Second, Warmup: 5 * time.Second, Salt: "run",
			Load:   loadgen.Config{Sender: server, Clock: clock},
			Limits: []Limit{{Name: "ttft_p95", Metric: TTFT, Quantile: 0.95, Max: 1, Ordinary: true}, {Name: "errors", Metric: Errors, Max: 0.2}},
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := (&director.Search{Space: space, Trial: trial, Budget: 20, Seed: 1, Reduce: 8}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Weaknesses) != 1 {
			t.Fatalf("%d weaknesses after %d phases; want 1", len(m.Weaknesses), m.Explored)
		}
		w := m.Weaknesses[0]
		t.Logf("found in %d phases: %v, %s", w.Phases, w.Changes, w.Observed)
		if first := m.Tried[0]; first.Scores["ttft_p95"] >= 0 || len(first.Scores) != 2 {
			t.Errorf("the baseline scores %v; want below 0", first.Scores)
		}
		if w.Observed == "" || w.Score <= 0 || server.twice > 0 {
			t.Errorf("weakness %+v; %d prompts were sent twice", w, server.twice)
		}
	})
}

func request(status archive.Status, ttft float64, prompt int) *archive.Request {
	r := &archive.Request{Kind: archive.KindLoad, Status: status}
	r.Asked.PromptTokens = archive.Some(prompt)
	r.T.Intended = 1e9
	r.T.First = r.T.Intended + archive.Instant(ttft*1e9)
	r.T.Last = r.T.First + 1e9
	r.Usage.Completion = archive.Some(11)
	return r
}

func TestJudge(t *testing.T) {
	var rs []*archive.Request
	for i := range 40 {
		rs = append(rs, request(archive.StatusOK, 0.1+0.01*float64(i), 512))
	}
	for range 10 {
		rs = append(rs, request(archive.StatusOK, 9, 8192))
	}
	limits := []Limit{
		{Name: "ordinary", Metric: TTFT, Quantile: 0.95, Max: 0.48, Ordinary: true}, {Name: "all", Metric: TTFT, Quantile: 0.95, Max: 0.48},
		{Name: "tpot", Metric: TPOT, Quantile: 0.5, Max: 0.1}, {Name: "e2e", Metric: E2E, Quantile: 0.5, Max: 10}, {Name: "errors", Metric: Errors, Max: 0.1},
	}
	got := judge(limits, rs, 8192)
	for name, want := range map[string]float64{"ordinary": 0, "all": math.Log(9 / 0.48), "tpot": 0, "e2e": math.Log(1.35 / 10), "errors": -worst} {
		if math.Abs(got.Scores[name]-want) > 0.05 || got.Observed[name] == "" {
			t.Errorf("%s scores %.3f (%s); want %.3f", name, got.Scores[name], got.Observed[name], want)
		}
	}
	for range 20 {
		rs = append(rs, request(archive.StatusFailed, 0, 512))
	}
	got = judge(limits, rs, 8192)
	if got.Scores["ordinary"] != worst || math.Abs(got.Scores["errors"]-math.Log(20./70/0.1)) > 1e-9 || !strings.Contains(got.Observed["ordinary"], "without an answer") {
		t.Errorf("with failures: %+v", got)
	}
	if got := judge(limits, rs[:5], 8192); len(got.Scores) != 0 {
		t.Errorf("5 requests are scored: %+v", got)
	}
}

func TestConfigReportsEveryProblem(t *testing.T) {
	_, err := NewTrial(Config{Limits: []Limit{{Name: "a", Metric: "speed", Quantile: 2}, {Name: "a", Metric: TTFT}, {Name: "b", Metric: TTFT, Quantile: 2, Max: 1}, {Name: "c", Metric: Errors}}})
	for _, want := range []string{"a sender", "base rate", `"speed"`, `two limits are called "a"`, "quantile 2", "c: 0 is not above 0"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("the error does not mention %q: %v", want, err)
		}
	}
}
