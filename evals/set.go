package evals

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/tasks"
)

// The kinds of item set.
const (
	KindMaths  = "gsm8k"     // grade-school maths in the manner of GSM8K, the project's own or the real set
	KindCode   = "humaneval" // functions written from a docstring, judged by tests in the sandbox
	KindFacts  = "facts"     // short questions about stable facts
	KindFormat = "format"    // instructions about the form of the answer
	KindLong   = "longdoc"   // questions about a generated document
	KindChoice = "choice"    // multiple choice
)

// Set is a list of items of one kind. It must not be changed once a method has been
// called; its methods are safe for concurrent use.
type Set struct {
	// Kind is the checkpoint kind, one of the Kind constants.
	Kind string
	// Name is the set with its version and, for generated sets, its seed: "own-maths/1@7".
	// Scores of sets with different names are not comparable.
	Name  string
	Items []Item
	// Deferred is true when scoring an answer costs more than a moment, as running code
	// does: score such a set after the measured window, never inside it.
	Deferred bool
	// Samples is how often each item is asked in a row, for pass@k with k above 1; below 2
	// is once. Temperature is what to sample with; 0 is greedy, where more than one sample
	// shows nothing but the server's own noise.
	Samples     int
	Temperature float64

	once     sync.Once
	byID     map[string]int
	byPrompt map[string]int
}

func (s *Set) index() {
	s.once.Do(func() {
		s.byID = make(map[string]int, len(s.Items))
		s.byPrompt = make(map[string]int, len(s.Items))
		for i, it := range s.Items {
			s.byID[it.ID] = i
			s.byPrompt[it.Prompt] = i
		}
	})
}

// Item returns the item with the given id.
func (s *Set) Item(id string) (*Item, bool) {
	s.index()
	i, ok := s.byID[id]
	if !ok {
		return nil, false
	}
	return &s.Items[i], true
}

// Source sends the items as single-turn sessions, in an order that the seed fixes: each
// item once before any comes again, and a new order each time round. Repeats add load
// but no evidence. It must not be called on an empty set.
func (s *Set) Source(seed uint64) tasks.Source {
	n, samples := uint64(len(s.Items)), uint64(max(1, s.Samples))
	return tasks.SourceFunc(func(i uint64) tasks.Session {
		i /= samples
		return &single{turn: s.turn(s.order(seed, i/n)[i%n])}
	})
}

// order is the permutation of one round.
func (s *Set) order(seed, round uint64) []int {
	return rand.New(rand.NewPCG(seed, round)).Perm(len(s.Items))
}

func (s *Set) turn(i int) tasks.Turn {
	it := s.Items[i]
	return tasks.Turn{
		Kind:        archive.KindCheckpoint,
		Task:        s.Kind,
		Item:        it.ID,
		System:      it.System,
		User:        it.Prompt,
		MaxTokens:   it.MaxTokens,
		Temperature: archive.Some(s.Temperature),
	}
}

// single is a session of one turn.
type single struct {
	turn tasks.Turn
	done bool
}

// Next returns the one turn, once.
func (s *single) Next(string) (tasks.Turn, bool) {
	if s.done {
		return tasks.Turn{}, false
	}
	s.done = true
	return s.turn, true
}

// Score scores one finished request of this set. Kind, Set, Item, Prompt and Expected
// are filled whatever happened; InFlight is left to the caller, who knows the load. An
// item that is not of this set, and a request that did not end well, have no score and a
// reason.
func (s *Set) Score(rec *archive.Request) archive.Checkpoint {
	return s.ScoreContext(context.Background(), rec)
}

// ScoreContext is Score with a context that bounds checks which run code.
func (s *Set) ScoreContext(ctx context.Context, rec *archive.Request) archive.Checkpoint {
	c := archive.Checkpoint{Request: rec.ID, Kind: s.Kind, Set: s.Name, Item: rec.Item, Reply: rec.Text, T: rec.T.Done}
	it, ok := s.Item(rec.Item)
	if !ok {
		c.Reason = "the set " + s.Name + " has no item of this id"
		return c
	}
	c.Prompt, c.Expected = it.Prompt, it.Expected
	if rec.Status != archive.StatusOK {
		c.Reason = "not scored: " + failure(rec)
		return c
	}
	a := Answer{Truncated: rec.Finish == "length"}
	var cut bool
	a.Text, cut = answer.Visible(rec.Text)
	if cut || a.Truncated && strings.TrimSpace(a.Text) == "" && rec.Reasoning != "" {
		c.Score, c.Method = archive.Some(0.0), "none"
		c.Reason = "truncated_reasoning: the token limit was reached before the model began to answer"
		return c
	}
	v := it.Check.Check(ctx, a)
	c.Score, c.Extracted, c.Method, c.Reason = v.Score, v.Extracted, v.Method, v.Reason
	if a.Truncated {
		c.Reason = join(c.Reason, "cut at the token limit, scored on what arrived")
	}
	return c
}

func failure(rec *archive.Request) string {
	if rec.Error != nil {
		return "the request was " + string(rec.Status) + ": " + rec.Error.Kind
	}
	return "the request was " + string(rec.Status)
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// Answer returns the bare right answer, such as a number, for a prompt that holds one of
// the set's items. It is what the simulated engine knows: text before the item, such as a
// system message or a chat template's, and white space after it are passed over.
func (s *Set) Answer(prompt string) (string, bool) {
	s.index()
	if i, ok := s.byPrompt[prompt]; ok {
		return s.Items[i].Key, true
	}
	prompt = strings.TrimRight(prompt, " \n")
	for _, ending := range endings {
		at := strings.LastIndex(prompt, ending)
		if at < 0 {
			continue
		}
		head := prompt[:at+len(ending)]
		for i := range s.Items {
			if strings.HasSuffix(head, s.Items[i].Prompt) {
				return s.Items[i].Key, true
			}
		}
	}
	return "", false
}

// endings are the instructions with which prompts of this package end. Searching for one
// of them first keeps Answer cheap for prompts that hold no item.
var endings = []string{mathsFormat, codeFormat, factFormat, choiceFormat, longFormat}
