package trace_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tasks/trace"
)

// TestReplayAtTwentyTimesSpeed replays whole traces at 20 times their speed against the
// simulated engine on its virtual clock, and compares what was sent with the trace.
func TestReplayAtTwentyTimesSpeed(t *testing.T) {
	for _, name := range []string{"AzureLLMInferenceTrace_code.csv", "AzureLLMInferenceTrace_conv.csv", "mooncake_conversation_trace.jsonl", "mooncake_synthetic_trace.jsonl"} {
		path := filepath.Join("..", "..", "..", "shared", "data", "traces", name)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("the reference data is not here: %v", err)
		}
		tr, err := trace.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		before := trace.Inspect(tr)
		// The simulated engine has a context of 128 Ki tokens; longer prompts are cut and counted.
		plan, err := trace.NewPlan(tr, trace.PlanOptions{Speed: 20, Dither: true, MaxIn: 120_000})
		if err != nil {
			t.Fatal(err)
		}
		n, in, out := 0, 0, 0
		source := offline.SourceFunc(func() (offline.Session, bool) {
			due, ok := plan.Schedule.Next(0, uint64(n))
			if !ok {
				return offline.Session{}, false
			}
			row := plan.Rows[n]
			n++
			in, out = in+max(row.In, 1), out+row.Out
			return offline.Session{At: due, Task: "trace", Turns: []offline.Turn{{Prompt: max(row.In, 1), Output: row.Out}}}, true
		})
		res, err := offline.Run(t.Context(), offline.Config{Engine: sim.Config{Seed: 1, MaxModelLen: 131072}, Replicas: 8, Source: source, Duration: 10 * time.Hour, Records: true})
		if err != nil {
			t.Fatal(err)
		}
		var first, last archive.Instant
		gotIn, gotOut := 0, 0
		for _, r := range res.Requests {
			if first == 0 || r.T.Intended < first {
				first = r.T.Intended
			}
			last = max(last, r.T.Intended)
			gotIn, gotOut = gotIn+r.Asked.PromptTokens.Or(0), gotOut+r.Usage.Completion.Or(0)
		}
		rate := float64(len(res.Requests)-1) / last.Sub(first).Seconds()
		want := 20 * before.Rate * float64(len(plan.Rows)) / float64(before.Rows)
		t.Logf("%s: %d rows, %d without an answer, %d cut; sent %d, %d ok; %.2f/s for 20 times %.3f/s; %d tokens in, %d out", name, before.Rows, plan.Dropped, plan.CutIn, res.Planned, res.OK, rate, before.Rate, gotIn, gotOut)
		if len(plan.Rows)+plan.Dropped != before.Rows || res.Planned != len(plan.Rows) || res.OK != res.Planned {
			t.Errorf("%s: %d planned, %d ok of %d rows and %d dropped", name, res.Planned, res.OK, before.Rows, plan.Dropped)
		}
		if math.Abs(rate/want-1) > 0.01 || gotIn != in || gotOut != out {
			t.Errorf("%s: %.3f requests/s; want %.3f; %d tokens in and %d out; want %d and %d", name, rate, want, gotIn, gotOut, in, out)
		}
	}
}
