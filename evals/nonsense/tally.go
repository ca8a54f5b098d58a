package nonsense

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"
)

// Tally counts what the replies of one run show together. The zero Tally is not usable;
// make one with NewTally. It is not safe for concurrent use. Its memory grows by a few
// bytes for each different reply.
type Tally struct {
	seed    maphash.Seed
	s       Summary
	chars   int64
	prompts map[uint64]uint64 // reply to the prompt that it answered first
}

// Summary is what a tally has seen.
type Summary struct {
	Replies int          `json:"replies"`
	Flagged int          `json:"flagged"` // replies with at least one flag
	Rules   map[Rule]int `json:"rules"`   // replies by rule; one reply may have several
	// Length is how many replies were cut at the token limit.
	Length int `json:"length"`
	// MeanChars is the mean length in characters; 0 without replies.
	MeanChars float64 `json:"mean_chars"`
	// Stuck is how many replies of more than 40 characters repeat, word for word, the
	// reply to a different prompt: a stuck server says the same to all.
	Stuck int `json:"stuck"`
}

// minStuck is how long a reply has to be for an exact repeat to mean something.
const minStuck = 40

// NewTally makes an empty tally.
func NewTally() *Tally {
	return &Tally{seed: maphash.MakeSeed(), s: Summary{Rules: map[Rule]int{}}, prompts: map[uint64]uint64{}}
}

// Add inspects a reply, counts it and returns its flags. prompt identifies what was
// asked, such as the hash of the request body; replies with an empty one are not compared
// with others.
func (t *Tally) Add(r Reply, prompt string) []Flag {
	flags := Inspect(r)
	t.s.Replies++
	n := utf8.RuneCountInString(r.Text)
	t.chars += int64(n)
	if r.Finish == "length" {
		t.s.Length++
	}
	if len(flags) > 0 {
		t.s.Flagged++
	}
	seen := map[Rule]bool{}
	for _, f := range flags {
		if !seen[f.Rule] {
			t.s.Rules[f.Rule]++
		}
		seen[f.Rule] = true
	}
	if prompt == "" || n <= minStuck {
		return flags
	}
	reply, asked := maphash.String(t.seed, strings.TrimSpace(r.Text)), maphash.String(t.seed, prompt)
	if first, ok := t.prompts[reply]; !ok {
		t.prompts[reply] = asked
	} else if first != asked {
		t.s.Stuck++
	}
	return flags
}

// Summary returns the counts so far.
func (t *Tally) Summary() Summary {
	s := t.s
	s.Rules = map[Rule]int{}
	for k, v := range t.s.Rules {
		s.Rules[k] = v
	}
	if s.Replies > 0 {
		s.MeanChars = float64(t.chars) / float64(s.Replies)
	}
	return s
}
