package evals

import (
	"context"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/items"
)

// TestOwnSets checks each own set: its size, that its own answers score right, that
// silence and chatter score wrong, and that the simulated engine can be told the answer.
func TestOwnSets(t *testing.T) {
	formats, err := Formats()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  *Set
		want int
	}{
		{Own(1), 150}, {Facts(1), 100}, {formats, 40}, {Choices(1), 50}, {LongDocs(1, 500, 2000), 50},
	} {
		s := c.set
		if len(s.Items) < c.want {
			t.Errorf("%s: %d items; want %d or more", s.Name, len(s.Items), c.want)
		}
		ids := map[string]bool{}
		for _, it := range s.Items {
			if ids[it.ID] {
				t.Errorf("%s: %s appears twice", s.Name, it.ID)
			}
			ids[it.ID] = true
			score := func(text string) float64 {
				got := s.Score(&archive.Request{Item: it.ID, Status: archive.StatusOK, Finish: "stop", Text: text})
				v, known := got.Score.Get()
				if !known {
					t.Errorf("%s: no score: %s", it.ID, got.Reason)
				}
				return v
			}
			if score(it.Reply) != 1 {
				t.Errorf("%s %s: its own answer %q is not right", s.Name, it.ID, it.Reply)
			}
			for _, bad := range []string{"", "I am not sure about that.", "!!!!!!!!!!!!!!!!!!!!"} {
				if score(bad) != 0 {
					t.Errorf("%s %s: %q scores right", s.Name, it.ID, bad)
				}
			}
			if it.MaxTokens < 1 || it.Expected == "" || it.Key == "" {
				t.Errorf("%s %s: lacks a token limit, an expectation or a key", s.Name, it.ID)
			}
			if key, ok := s.Answer(it.Prompt); !ok || key != it.Key {
				t.Errorf("%s %s: Answer = %q, %v", s.Name, it.ID, key, ok)
			}
		}
	}
}

func TestFormatSamples(t *testing.T) {
	for _, f := range items.Formats() {
		check, err := newFormatCheck(f)
		if err != nil {
			t.Fatalf("%s: %v", f.ID, err)
		}
		for text, want := range map[string]float64{f.Good: 1, " " + f.Good + "\n": 1, f.Bad: 0, "Sure! " + f.Good: 0, "```\n" + f.Good + "\n```": 0} {
			v := check.Check(context.Background(), Answer{Text: text})
			if got, _ := v.Score.Get(); got != want {
				t.Errorf("%s: %q scores %v (%s); want %v", f.ID, text, v.Score, v.Reason, want)
			}
		}
	}
}

func TestLongDecoys(t *testing.T) {
	s := LongDocs(1, 4000)
	it := s.Items[0]
	c := it.Check.(longCheck)
	for _, text := range []string{c.decoys[0], it.Reply + " or " + c.decoys[0], strings.Join(append(c.decoys, it.Reply), ", ")} {
		if v, _ := c.Check(context.Background(), Answer{Text: text}).Score.Get(); v != 0 {
			t.Errorf("naming another seal scores %v: %q", v, text)
		}
	}
	if v, _ := c.Check(context.Background(), Answer{Text: "The seal is **" + it.Reply + "**."}).Score.Get(); v != 1 {
		t.Error("the seal in a sentence does not score")
	}
}

func TestLikeliest(t *testing.T) {
	letter, lead, ok := Likeliest(map[string]float64{" B": -0.2, "B": -3, "A": -1.7, "The": -0.1, "E": -0.05}, 4)
	if letter != "B" || lead < 1.49 || lead > 1.51 || !ok {
		t.Errorf("Likeliest = %q, %v, %v; want B by 1.5", letter, lead, ok)
	}
	if _, _, ok := Likeliest(map[string]float64{"A": -1, "The": -0.1}, 4); ok {
		t.Error("one option among the candidates decides nothing")
	}
}

func TestFactsFollowTheSeed(t *testing.T) {
	// Two seeds ask different questions, and the facts of one seed repeat exactly.
	a, b := Facts(1), Facts(2)
	same := 0
	for i := range a.Items {
		if a.Items[i].Prompt == b.Items[i].Prompt {
			same++
		}
	}
	if same == len(a.Items) {
		t.Error("two seeds give the same questions")
	}
}
