package evals

import (
	"context"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// Mix is several sets sent as one source of checkpoints. Its methods are those of Set and
// are safe for concurrent use. The sets must be of different kinds or share no item id.
type Mix []*Set

// Source sends one item of each set in turn, each set in the order of its own Source.
// It must not be called on an empty mix.
func (m Mix) Source(seed uint64) tasks.Source {
	sources := make([]tasks.Source, len(m))
	for i, s := range m {
		sources[i] = s.Source(seed)
	}
	n := uint64(len(m))
	return tasks.SourceFunc(func(i uint64) tasks.Session { return sources[i%n].Session(i / n) })
}

// Of returns the set that a request's item belongs to.
func (m Mix) Of(rec *archive.Request) (*Set, bool) {
	i := slices.IndexFunc(m, func(s *Set) bool {
		_, ok := s.Item(rec.Item)
		return ok && s.Kind == rec.Task
	})
	if i < 0 {
		return nil, false
	}
	return m[i], true
}

// Deferred reports whether a request must be scored after the measured window; see
// Set.Deferred.
func (m Mix) Deferred(rec *archive.Request) bool {
	s, ok := m.Of(rec)
	return ok && s.Deferred
}

// Score scores a request of one of the sets; see Set.Score.
func (m Mix) Score(rec *archive.Request) archive.Checkpoint {
	return m.ScoreContext(context.Background(), rec)
}

// ScoreContext is Score with a context that bounds checks which run code.
func (m Mix) ScoreContext(ctx context.Context, rec *archive.Request) archive.Checkpoint {
	if s, ok := m.Of(rec); ok {
		return s.ScoreContext(ctx, rec)
	}
	return archive.Checkpoint{Request: rec.ID, Kind: rec.Task, Item: rec.Item, Reply: rec.Text, T: rec.T.Done, Reason: "no set of this run has an item of this id"}
}

// Answer returns the bare right answer for a prompt of one of the sets; see Set.Answer.
func (m Mix) Answer(prompt string) (string, bool) {
	for _, s := range m {
		if a, ok := s.Answer(prompt); ok {
			return a, true
		}
	}
	return "", false
}

// Without returns the set without the items that are done already: what is left for a
// run that goes on after an interruption. It may be empty.
func (s *Set) Without(done map[string]bool) *Set {
	rest := &Set{Kind: s.Kind, Name: s.Name, Deferred: s.Deferred, Samples: s.Samples, Temperature: s.Temperature}
	for _, it := range s.Items {
		if !done[it.ID] {
			rest.Items = append(rest.Items, it)
		}
	}
	return rest
}

// Take returns the first n items of the order that Source uses for the seed; the whole
// set when it has fewer. Two runs that take the same number with the same seed have the
// same items.
func (s *Set) Take(seed uint64, n int) *Set {
	if n <= 0 || n >= len(s.Items) {
		return s
	}
	part := &Set{Kind: s.Kind, Name: s.Name, Deferred: s.Deferred, Samples: s.Samples, Temperature: s.Temperature}
	for _, i := range s.order(seed, 0)[:n] {
		part.Items = append(part.Items, s.Items[i])
	}
	return part
}
