package evals

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

func firstTurns(src tasks.Source, n int) []tasks.Turn {
	var out []tasks.Turn
	for i := range n {
		s := src.Session(uint64(i))
		for reply := ""; ; reply = "x" {
			turn, ok := s.Next(reply)
			if !ok {
				break
			}
			out = append(out, turn)
		}
	}
	return out
}

func TestSource(t *testing.T) {
	s := Own(3)
	n := len(s.Items)
	turns := firstTurns(s.Source(9), 2*n)
	if len(turns) != 2*n {
		t.Fatalf("%d sessions gave %d turns; want one each", 2*n, len(turns))
	}
	counts := map[string]int{}
	for _, turn := range turns[:n] {
		counts[turn.Item]++
		if turn.Kind != archive.KindCheckpoint || turn.Task != KindMaths || turn.MaxTokens < 1 || turn.Temperature.Or(1) != 0 {
			t.Fatalf("turn %+v is no checkpoint at temperature 0 with a token limit", turn)
		}
	}
	if len(counts) != n {
		t.Errorf("the first round sent %d different items of %d", len(counts), n)
	}
	if d := cmp.Diff(turns, firstTurns(s.Source(9), 2*n)); d != "" {
		t.Errorf("the same seed sent other items:\n%s", d)
	}
	if cmp.Equal(turns[:n], turns[n:]) {
		t.Error("the second round has the order of the first")
	}
	if cmp.Equal(turns[:n], firstTurns(s.Source(10), n)) {
		t.Error("another seed sent the same order")
	}
}

func TestScore(t *testing.T) {
	s := Own(3)
	it := s.Items[0]
	for _, c := range []struct {
		what   string
		change func(*archive.Request)
		score  archive.Opt[float64]
		method string
		reason string
	}{
		{"a right answer", func(r *archive.Request) {}, archive.Some(1.0), "strict", ""},
		{"a wrong answer", func(r *archive.Request) { r.Text = "#### -999983" }, archive.Some(0.0), "strict", ""},
		{"no number at all is wrong and says so", func(r *archive.Request) { r.Text = "I cannot tell." }, archive.Some(0.0), "none", "no number found"},
		{"an empty answer is wrong", func(r *archive.Request) { r.Text = "" }, archive.Some(0.0), "none", "no number found"},
		{"a failed request is never a wrong answer", func(r *archive.Request) {
			r.Status, r.Error = archive.StatusFailed, &archive.Failure{Kind: archive.FailCut}
		}, archive.Opt[float64]{}, "", "the request was failed: cut"},
		{"nor is a cancelled one", func(r *archive.Request) { r.Status = archive.StatusCancelled }, archive.Opt[float64]{}, "", "cancelled"},
		{"a cut answer is scored on what arrived and noted", func(r *archive.Request) { r.Finish = "length" }, archive.Some(1.0), "strict", "cut at the token limit"},
		{"reasoning that never ended leaves no answer", func(r *archive.Request) {
			r.Text, r.Finish = "<think>let me see, #### 5", "length"
		}, archive.Some(0.0), "none", "truncated_reasoning"},
		{"the same when the server sends reasoning apart", func(r *archive.Request) {
			r.Text, r.Reasoning, r.Finish = "", "let me see", "length"
		}, archive.Some(0.0), "none", "truncated_reasoning"},
		{"an item of another set is not scored", func(r *archive.Request) { r.Item = "elsewhere/1" }, archive.Opt[float64]{}, "", "no item of this id"},
	} {
		rec := &archive.Request{ID: "r1", Status: archive.StatusOK, Finish: "stop", Item: it.ID, Text: it.Reply, T: archive.Times{Done: 5}}
		c.change(rec)
		got := s.Score(rec)
		if !cmp.Equal(got.Score, c.score) || got.Method != c.method || !strings.Contains(got.Reason, c.reason) || (c.reason == "" && got.Reason != "") {
			t.Errorf("%s: score %v by %q, reason %q; want %v by %q, reason with %q", c.what, got.Score, got.Method, got.Reason, c.score, c.method, c.reason)
		}
		if got.Request != "r1" || got.Set != s.Name || got.Kind != s.Kind || got.T != 5 || got.Reply != rec.Text {
			t.Errorf("%s: %+v does not name its request, set, kind, time and reply", c.what, got)
		}
	}
}

func TestAnswer(t *testing.T) {
	s := Own(3)
	for _, it := range s.Items {
		for _, prompt := range []string{it.Prompt, "You are helpful.\n\n" + it.Prompt + "\n"} {
			reply, ok := s.Answer(prompt)
			if !ok {
				t.Fatalf("%s: the prompt is not known", it.ID)
			}
			if reply != it.Key {
				t.Errorf("%s: the simulated engine is told %q; want %q", it.ID, reply, it.Key)
			}
			if score, _ := it.Check.Check(context.Background(), Answer{Text: reply}).Score.Get(); score != 1 {
				t.Errorf("%s: the set's own answer %q scores %v", it.ID, reply, score)
			}
		}
	}
	if reply, ok := s.Answer("Tell me about the sea."); ok {
		t.Errorf("a foreign prompt is answered with %q", reply)
	}
}

func TestSetConcurrently(t *testing.T) {
	s := Own(5)
	src := s.Source(1)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				turn, _ := src.Session(uint64(w*50 + i)).Next("")
				rec := &archive.Request{Item: turn.Item, Status: archive.StatusOK, Text: "#### 1"}
				if got := s.Score(rec); !got.Score.Known() {
					t.Error(fmt.Sprint("unscored: ", got.Reason))
				}
			}
		})
	}
	wg.Wait()
}
