package evals

import (
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func TestMix(t *testing.T) {
	m := Mix{Own(1), Facts(1), Choices(1)}
	kinds := map[string]int{}
	for _, turn := range firstTurns(m.Source(4), 90) {
		kinds[turn.Task]++
		rec := &archive.Request{Task: turn.Task, Item: turn.Item, Status: archive.StatusOK, Finish: "stop"}
		s, ok := m.Of(rec)
		if !ok {
			t.Fatalf("no set knows %s", turn.Item)
		}
		it, _ := s.Item(turn.Item)
		rec.Text = it.Reply
		if score, _ := m.Score(rec).Score.Get(); score != 1 || m.Deferred(rec) {
			t.Errorf("%s: score %v", turn.Item, score)
		}
		if key, ok := m.Answer(turn.User); !ok || key != it.Key {
			t.Errorf("%s: Answer = %q, %v", turn.Item, key, ok)
		}
	}
	if kinds[KindMaths] != 30 || kinds[KindFacts] != 30 || kinds[KindChoice] != 30 {
		t.Errorf("the mix sent %v; want 30 of each", kinds)
	}
	if got := m.Score(&archive.Request{Item: "stranger"}); got.Score.Known() || got.Reason == "" {
		t.Errorf("an unknown item: %+v; want no score and a reason", got)
	}
}

func TestWithoutAndTake(t *testing.T) {
	s := Own(1)
	part := s.Take(9, 20)
	if len(part.Items) != 20 || part.Name != s.Name {
		t.Fatalf("Take gives %d items", len(part.Items))
	}
	first := firstTurns(s.Source(9), 20)
	done := map[string]bool{}
	for i, it := range part.Items {
		if it.ID != first[i].Item {
			t.Errorf("item %d is %s; the source sends %s", i, it.ID, first[i].Item)
		}
		done[it.ID] = i < 15
	}
	if rest := part.Without(done); len(rest.Items) != 5 || rest.Items[0].ID != part.Items[15].ID {
		t.Errorf("after 15 of 20 there are %d left", len(rest.Items))
	}
}
