package evals

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/items"
)

// choiceSeeds is for how many seeds every item is looked at.
const choiceSeeds = 20

// TestChoiceOptionsAreOfOneKind looks at every option of every item: what stands beside a
// capital is a capital, beside a number a number, and exactly one option is right.
func TestChoiceOptionsAreOfOneKind(t *testing.T) {
	for seed := range uint64(choiceSeeds) {
		byQuestion := map[string]items.Fact{}
		classes := map[string]map[string]bool{}
		for _, f := range items.Facts(seed) {
			byQuestion[f.Question] = f
			for _, start := range []string{"What is the capital", "Which element", "Which planet", "How many", "Which number"} {
				if strings.HasPrefix(f.Question, start) {
					if classes[start] == nil {
						classes[start] = map[string]bool{}
					}
					classes[start][f.Answers[0]] = true
				}
			}
		}
		kinds := map[string]int{}
		for _, it := range Choices(seed).Items {
			question, rest, _ := strings.Cut(it.Prompt, "\n\n")
			options, _, _ := strings.Cut(rest, "\n\n")
			var texts []string
			for i, line := range strings.Split(options, "\n") {
				text, ok := strings.CutPrefix(line, fmt.Sprintf("%c) ", 'A'+i))
				if !ok {
					t.Fatalf("seed %d %s: option %q", seed, it.ID, line)
				}
				texts = append(texts, text)
			}
			if len(texts) != choiceOptions || len(slices.Compact(slices.Sorted(slices.Values(texts)))) != choiceOptions {
				t.Errorf("seed %d %s: options %q; want %d different ones", seed, it.ID, texts, choiceOptions)
			}
			right := 0
			for _, text := range texts {
				if slices.Contains(byQuestion[question].Answers, text) {
					right++
				}
				if number(text) != number(texts[0]) || len(text) == 1 && !number(text) {
					t.Errorf("seed %d %s: %q beside %q", seed, it.ID, text, texts[0])
				}
			}
			if right != 1 {
				t.Errorf("seed %d %s: %d of the options %q are right", seed, it.ID, right, texts)
			}
			for start, class := range classes {
				if strings.HasPrefix(question, start) && !(start == "How many" || start == "Which number") {
					for _, text := range texts {
						if !class[text] {
							t.Errorf("seed %d %s: %q is no answer to %q", seed, it.ID, text, start)
						}
					}
				}
			}
			kinds[it.Tags[0]]++
		}
		for _, kind := range []string{"capital", "element", "planet", "count", "days", "quantity", "sum", "product", "numeral"} {
			if kinds[kind] < 4 {
				t.Errorf("seed %d: %d items of the kind %s", seed, kinds[kind], kind)
			}
		}
	}
}

// number tells a number from a name.
func number(text string) bool { return strings.Trim(text, "0123456789") == "" }

// TestChoiceLetterAndTextMustAgree answers every item with each letter beside each text:
// only the right letter, alone or with its own text, scores.
func TestChoiceLetterAndTextMustAgree(t *testing.T) {
	for seed := range uint64(choiceSeeds) {
		s := Choices(seed)
		for _, it := range s.Items {
			c := it.Check.(choiceCheck)
			score := func(text string) (float64, string) {
				got := s.Score(&archive.Request{Item: it.ID, Status: archive.StatusOK, Finish: "stop", Text: text})
				return got.Score.Or(-1), got.Reason
			}
			for i, own := range c.options {
				letter := string(rune('A' + i))
				want := 0.0
				if letter == it.Key {
					want = 1
				}
				for _, form := range own {
					for _, reply := range []string{letter, letter + ") " + form, "(" + letter + ") " + form + ".", "The answer is " + letter + ": " + form, form + " (" + letter + ")"} {
						if got, why := score(reply); got != want {
							t.Errorf("seed %d %s: %q scores %v (%s); want %v", seed, it.ID, reply, got, why, want)
						}
					}
				}
				for j, other := range c.options {
					if i == j {
						continue
					}
					for _, reply := range []string{letter + ") " + other[0], letter + ". " + other[0], "Answer: " + letter + ") " + other[0], other[0] + " (" + letter + ")"} {
						got, why := score(reply)
						if got != 0 || !strings.Contains(why, "contradicts itself") {
							t.Errorf("seed %d %s: %q scores %v (%q); want 0 with the contradiction named", seed, it.ID, reply, got, why)
						}
					}
				}
				if got, why := score(letter + ") Atlantis"); got != 0 || !strings.Contains(why, "Atlantis") {
					t.Errorf("seed %d %s: a text that is no option scores %v (%q)", seed, it.ID, got, why)
				}
			}
		}
	}
}
