package quality

import (
	"fmt"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func TestCheck(t *testing.T) {
	run := func(prompt, completion, reasoning int, finish string) []*archive.Request {
		var out []*archive.Request
		for i := range 10 {
			out = append(out, &archive.Request{Item: fmt.Sprint(i), Status: archive.StatusOK, Finish: finish,
				Usage: archive.Usage{Prompt: archive.Some(prompt), Completion: archive.Some(completion + i), Reasoning: archive.Some(reasoning)}})
		}
		return out
	}
	base := run(100, 50, 40, "stop")
	if g := Check(base, run(100, 50, 40, "stop")); !g.Fair() || g.Items != 10 || g.Length.Or(0) != 1 || g.Reasoning.Or(0) != 1 {
		t.Errorf("the same run twice: %+v; want fair", g)
	}
	if g := Check(base, run(90, 50, 40, "stop")); g.Fair() || len(g.PromptTokens) != 10 {
		t.Errorf("shorter prompts: %+v; want all items named", g)
	}
	if g := Check(base, run(100, 100, 4, "length")); g.Fair() || g.Reasoning.Or(1) != 0.1 || g.Length.Or(0) < 1.7 || g.LengthInterval.Low <= 1 || g.Truncated != [2]float64{0, 1} {
		t.Errorf("thinking switched off and longer answers: %+v", g)
	}
	failed := run(100, 50, 40, "stop")
	for _, r := range failed {
		r.Status = archive.StatusFailed
	}
	if g := Check(base, failed); g.Items != 0 || g.Failed != [2]float64{0, 1} || g.Length.Known() || g.Reasoning.Known() {
		t.Errorf("nothing answered: %+v", g)
	}
}
