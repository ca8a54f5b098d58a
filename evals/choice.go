package evals

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/evals/items"
)

const choiceFormat = "Answer with the letter alone."

const (
	choiceMaxTokens = 32
	choiceOptions   = 4
)

// choicesVersion changes whenever a question, an option or the order of options does.
const choicesVersion = 2

// Choices returns multiple-choice questions made from the project's facts: the right
// answer among three answers to questions of the same kind, in an order that the seed
// draws. A model that guesses scores 25 %.
func Choices(seed uint64) *Set {
	s := &Set{Kind: KindChoice, Name: fmt.Sprintf("own-choice/%d@%d", choicesVersion, seed)}
	facts := items.Facts(seed)
	groups := map[string][]items.Fact{}
	for _, f := range facts {
		if f.Kind != "" {
			groups[f.Kind] = append(groups[f.Kind], f)
		}
	}
	r := rand.New(rand.NewPCG(seed, 0xc401ce))
	for _, f := range facts {
		others := wrongAnswers(f, groups[f.Kind], r)
		if len(others) < choiceOptions-1 {
			continue
		}
		at := r.IntN(choiceOptions)
		options := slices.Insert(others[:choiceOptions-1:choiceOptions-1], at, f.Answers)
		var b strings.Builder
		b.WriteString(f.Question + "\n\n")
		for i, o := range options {
			fmt.Fprintf(&b, "%c) %s\n", 'A'+i, o[0])
		}
		letter := string(rune('A' + at))
		s.Items = append(s.Items, Item{
			ID: "choice/" + f.ID, Prompt: b.String() + "\n" + choiceFormat, Expected: letter, Key: letter, Reply: letter,
			MaxTokens: choiceMaxTokens, Tags: []string{f.Kind}, Check: choiceCheck{letter[0], f.Question, options},
		})
	}
	return s
}

// wrongAnswers returns the accepted forms of different answers to other questions of a
// kind, shuffled.
func wrongAnswers(f items.Fact, group []items.Fact, r *rand.Rand) [][]string {
	seen := map[string]bool{}
	for _, a := range append(append([]string{}, f.Answers...), f.Forbidden...) {
		seen[strings.ToLower(a)] = true
	}
	var out [][]string
	for _, o := range group {
		if a := o.Answers[0]; !seen[strings.ToLower(a)] {
			seen[strings.ToLower(a)] = true
			out = append(out, o.Answers)
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

type choiceCheck struct {
	letter   byte
	question string
	// options are the accepted forms of each option's text.
	options [][]string
}

// Check reads the chosen letter, and holds it against the option that the reply names.
func (c choiceCheck) Check(_ context.Context, a Answer) Verdict {
	v := Verdict{Method: "letter"}
	got := answer.Choice(a.Text, len(c.options))
	if got == 0 {
		v.Reason = "chooses no letter, or several"
		return wrong(v)
	}
	v.Extracted = archive.Some(string(got))
	if said, contradicts := answer.Contradicts(a.Text, got, c.question, c.options); contradicts {
		v.Reason = fmt.Sprintf("contradicts itself: chooses %c, which is %q, and says %q", got, c.options[got-'A'][0], said)
		return wrong(v)
	}
	if got != c.letter {
		return wrong(v)
	}
	return right(v)
}

// Likeliest returns the option letter whose token has the highest log-probability among
// the candidates for the first answer token, and by how much it leads the next option. It
// sees preferences that the sampled letter hides. False when fewer than two options are
// among the candidates.
func Likeliest(top map[string]float64, options int) (letter string, lead float64, ok bool) {
	best := map[string]float64{}
	for token, lp := range top {
		t := strings.Trim(token, " \n()")
		if len(t) == 1 && t[0] >= 'A' && int(t[0]-'A') < options {
			if old, seen := best[t]; !seen || lp > old {
				best[t] = lp
			}
		}
	}
	if len(best) < 2 {
		return "", 0, false
	}
	first, second := "", ""
	for l, lp := range best {
		switch {
		case first == "" || lp > best[first] || lp == best[first] && l < first:
			first, second = l, first
		case second == "" || lp > best[second]:
			second = l
		}
	}
	return first, best[first] - best[second], true
}
