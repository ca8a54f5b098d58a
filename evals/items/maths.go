package items

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
)

// MathsVersion changes whenever a template is added or changed: sets of different
// versions are not comparable.
const MathsVersion = 1

// Problem is one word problem with its exact answer.
type Problem struct {
	ID     string // template and number of the draw, such as "ferry-queue/2"
	Band   int    // difficulty: 1 is one or two steps, 3 is several with a trap
	Text   string
	Answer *big.Rat // an integer or a finite decimal
}

// params are the drawn numbers of one problem, by name.
type params map[string]int

// span is the range that a parameter is drawn from: low, low+step, … up to high.
type span struct {
	name            string
	low, high, step int
}

// template is one kind of problem.
type template struct {
	name  string
	band  int
	text  string // with {name} for parameters and {who} for a person
	spans []span
	where func(params) bool // nil accepts every draw
	solve func(params) *big.Rat
}

func in(name string, low, high int) span       { return span{name, low, high, 1} }
func by(name string, low, high, step int) span { return span{name, low, high, step} }
func whole(n int) *big.Rat                     { return new(big.Rat).SetInt64(int64(n)) }
func ratio(a, b int) *big.Rat                  { return big.NewRat(int64(a), int64(b)) }
func spans(s ...span) []span                   { return s }
func always(f func(params) int) func(params) *big.Rat {
	return func(p params) *big.Rat { return whole(f(p)) }
}

var people = []string{"Amara", "Bogdan", "Chiara", "Dilan", "Esra", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kavya", "Lars", "Mina", "Noor", "Omar", "Pilar", "Rosa", "Sven", "Tamar", "Yusuf"}

// maxDraws bounds the search for parameters that satisfy a template.
const maxDraws = 10_000

// Maths draws `each` problems of every template. The same seed always gives the same
// problems, and the order of the result does not depend on the seed.
func Maths(seed uint64, each int) []Problem {
	var out []Problem
	for i, t := range templates() {
		// One generator a template, so that adding a template moves no other.
		r := rand.New(rand.NewPCG(seed, uint64(i)<<32|MathsVersion))
		seen := map[string]bool{}
		for len(seen) < each {
			p := t.draw(r)
			text := t.render(p, people[r.IntN(len(people))])
			if seen[text] {
				continue
			}
			id := fmt.Sprintf("%s/%d", t.name, len(seen))
			seen[text] = true
			out = append(out, Problem{ID: id, Band: t.band, Text: text, Answer: t.solve(p)})
		}
	}
	return out
}

// draw picks parameters. A template whose condition cannot be met is a fault of this
// package that its tests rule out.
func (t template) draw(r *rand.Rand) params {
	for range maxDraws {
		p := params{}
		for _, s := range t.spans {
			p[s.name] = s.low + s.step*r.IntN((s.high-s.low)/s.step+1)
		}
		if t.where == nil || t.where(p) {
			return p
		}
	}
	panic("items: no draw satisfies template " + t.name)
}

func (t template) render(p params, who string) string {
	pairs := []string{"{who}", who}
	for _, s := range t.spans {
		pairs = append(pairs, "{"+s.name+"}", strconv.Itoa(p[s.name]))
	}
	return strings.NewReplacer(pairs...).Replace(t.text)
}

func templates() []template {
	var all []template
	all = append(all, templatesTrade()...)
	all = append(all, templatesTime()...)
	all = append(all, templatesParts()...)
	return append(all, templatesCount()...)
}
