package evals

import (
	"context"
	"fmt"
	"math/rand/v2"
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

// Choices returns multiple-choice questions made from the project's facts: the right
// answer among three answers to questions of the same kind, in an order that the seed
// draws. A model that guesses scores 25 %.
func Choices(seed uint64) *Set {
	s := &Set{Kind: KindChoice, Name: fmt.Sprintf("own-choice/%d@%d", items.FactsVersion, seed)}
	facts := items.Facts(seed)
	groups := map[string][]items.Fact{}
	for _, f := range facts {
		groups[stem(f.Question)] = append(groups[stem(f.Question)], f)
	}
	r := rand.New(rand.NewPCG(seed, 0xc401ce))
	for _, f := range facts {
		others := wrongAnswers(f, groups[stem(f.Question)], r)
		if len(others) < choiceOptions-1 {
			continue
		}
		at := r.IntN(choiceOptions)
		var b strings.Builder
		b.WriteString(f.Question + "\n\n")
		for i := range choiceOptions {
			text := f.Answers[0]
			if i != at {
				text, others = others[0], others[1:]
			}
			fmt.Fprintf(&b, "%c) %s\n", 'A'+i, text)
		}
		letter := string(rune('A' + at))
		s.Items = append(s.Items, Item{
			ID: "choice/" + f.ID, Prompt: b.String() + "\n" + choiceFormat, Expected: letter, Key: letter, Reply: letter,
			MaxTokens: choiceMaxTokens, Check: choiceCheck{letter},
		})
	}
	return s
}

// stem is the part of a question that those of its kind share: its first three words.
func stem(q string) string {
	words := strings.Fields(q)
	return strings.Join(words[:min(3, len(words))], " ")
}

// wrongAnswers returns different answers to other questions of a kind, shuffled.
func wrongAnswers(f items.Fact, group []items.Fact, r *rand.Rand) []string {
	seen := map[string]bool{}
	for _, a := range append(append([]string{}, f.Answers...), f.Forbidden...) {
		seen[strings.ToLower(a)] = true
	}
	var out []string
	for _, o := range group {
		if a := o.Answers[0]; !seen[strings.ToLower(a)] {
			seen[strings.ToLower(a)] = true
			out = append(out, a)
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

type choiceCheck struct{ letter string }

// Check reads the chosen letter.
func (c choiceCheck) Check(_ context.Context, a Answer) Verdict {
	v := Verdict{Method: "letter"}
	got := answer.Choice(a.Text, choiceOptions)
	if got == 0 {
		v.Reason = "chooses no letter, or several"
		return wrong(v)
	}
	v.Extracted = archive.Some(string(got))
	if string(got) != c.letter {
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
