package items

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// FactsVersion changes whenever a fact is added or changed.
const FactsVersion = 1

// Fact is a short question with its accepted answers.
type Fact struct {
	ID       string
	Question string
	// Kind is what the answer is, such as "capital" or "count": answers of one kind can
	// stand beside each other as options. "" is a fact that has no others of its kind, or
	// whose answer is a letter, which an option's own letter could be taken for.
	Kind      string
	Answers   []string // any of them is right
	Forbidden []string // an answer that names one of these as well is wrong
}

//go:embed facts.txt
var factsText string

// computed is how many facts are drawn by code.
const computed = 40

// Facts returns the facts: known ones that do not depend on the date, and computed ones
// about words, numerals and small sums that the seed draws.
func Facts(seed uint64) []Fact {
	var out []Fact
	for i, line := range strings.Split(strings.TrimSpace(factsText), "\n") {
		line, forbidden, _ := strings.Cut(line, "!")
		parts := strings.Split(line, "|")
		f := Fact{ID: fmt.Sprintf("fact/%d", i), Kind: parts[0], Question: parts[1], Answers: parts[2:]}
		if forbidden != "" {
			f.Forbidden = []string{forbidden}
		}
		out = append(out, f)
	}
	r := rand.New(rand.NewPCG(seed, FactsVersion))
	seen := map[string]bool{}
	for len(seen) < computed {
		f := computedFact(r, len(seen)%5)
		if seen[f.Question] {
			continue
		}
		f.ID = fmt.Sprintf("computed/%d", len(seen))
		seen[f.Question] = true
		out = append(out, f)
	}
	return out
}

var longWords = []string{"harbour", "lantern", "mountain", "elephant", "notebook", "calendar", "sandwich", "keyboard", "triangle", "blanket", "whistle", "cabinet", "penguin"}

func computedFact(r *rand.Rand, kind int) Fact {
	switch kind {
	case 0:
		a, b := 11+r.IntN(80), 11+r.IntN(80)
		return Fact{Kind: "sum", Question: fmt.Sprintf("What is %d plus %d?", a, b), Answers: []string{strconv.Itoa(a + b)}}
	case 1:
		a, b := 3+r.IntN(10), 3+r.IntN(10)
		return Fact{Kind: "product", Question: fmt.Sprintf("What is %d times %d?", a, b), Answers: []string{strconv.Itoa(a * b)}}
	case 2:
		w := longWords[r.IntN(len(longWords))]
		return Fact{Kind: "count", Question: fmt.Sprintf("How many letters has the word %q?", w), Answers: []string{strconv.Itoa(len(w)), numberWord(len(w))}}
	case 3:
		n := 4 + r.IntN(86)
		return Fact{Kind: "numeral", Question: fmt.Sprintf("Which number is the Roman numeral %s?", roman(n)), Answers: []string{strconv.Itoa(n)}}
	}
	w := longWords[r.IntN(len(longWords))]
	return Fact{Question: fmt.Sprintf("Which letter is the last one of the word %q?", w), Answers: []string{w[len(w)-1:]}}
}

func numberWord(n int) string {
	return []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}[n]
}

func roman(n int) string {
	var b strings.Builder
	for _, d := range []struct {
		v int
		s string
	}{{90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= d.v; n -= d.v {
			b.WriteString(d.s)
		}
	}
	return b.String()
}
