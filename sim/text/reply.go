package text

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Ask is what a reply is written for.
type Ask struct {
	User string // the last user message, or the whole prompt
	Seed uint64 // equal seeds and users give equal replies
	Min  int    // least tokens
	Max  int    // most tokens, at least 1
	// Endless goes on until Max, as with ignore_eos.
	Endless bool
	// Answer is the right answer of a checkpoint item, "" when it is not one; Right says
	// whether the reply gives it or a wrong one.
	Answer string
	Right  bool
}

// Reply writes an answer and returns its tokens and whether it came to its natural end
// within Max tokens.
func Reply(a Ask) (tokens []string, ended bool) {
	w := writer{rng: rand.New(rand.NewPCG(a.Seed, Hash(a.User))), words: Keywords(a.User)}
	var b strings.Builder
	switch {
	case a.Answer != "":
		w.answer(&b, a)
	case strings.Contains(a.User, "####"):
		w.answer(&b, Ask{User: a.User, Answer: strconv.Itoa(1 + w.rng.IntN(400)), Right: true})
	default:
		w.prose(&b)
	}
	tokens = Tokens(b.String())
	for len(tokens) < a.Min || (a.Endless && len(tokens) < a.Max) {
		b.Reset()
		b.WriteString("\n\n")
		w.prose(&b)
		tokens = append(tokens, Tokens(b.String())...)
	}
	if len(tokens) > a.Max {
		return tokens[:a.Max], false
	}
	return tokens, !a.Endless
}

type writer struct {
	rng   *rand.Rand
	words []string
	used  int
}

// prose writes paragraphs of lognormal length, median 130 words.
func (w *writer) prose(b *strings.Builder) {
	target := int(130 * math.Exp(0.55*w.rng.NormFloat64()))
	target = min(max(target, 18), 700)
	words := w.sentence(b, openers)
	for words < target {
		if w.rng.IntN(5) == 0 {
			b.WriteString("\n\n")
		} else {
			b.WriteByte(' ')
		}
		words += w.sentence(b, middles)
	}
	b.WriteByte(' ')
	w.sentence(b, closers)
}

// sentence writes one filled-in pattern and returns its number of words.
func (w *writer) sentence(b *strings.Builder, from []string) int {
	pattern := from[w.rng.IntN(len(from))]
	words := 1 + strings.Count(pattern, " ")
	for {
		i := strings.IndexByte(pattern, '{')
		if i < 0 {
			b.WriteString(pattern)
			return words
		}
		j := i + strings.IndexByte(pattern[i:], '}')
		b.WriteString(pattern[:i])
		b.WriteString(w.fill(pattern[i+1 : j]))
		pattern = pattern[j+1:]
	}
}

func (w *writer) fill(slot string) string {
	switch slot {
	case "k": // a word of the prompt, so that the reply is about it
		if len(w.words) > 0 && w.rng.IntN(8) != 0 {
			w.used++
			return w.words[(w.used+w.rng.IntN(2))%len(w.words)]
		}
		return nouns[w.rng.IntN(len(nouns))]
	case "n":
		return nouns[w.rng.IntN(len(nouns))]
	case "a":
		return adjectives[w.rng.IntN(len(adjectives))]
	case "v":
		return verbs[w.rng.IntN(len(verbs))]
	case "d":
		return strconv.Itoa(2 + w.rng.IntN(97))
	}
	return slot
}

// answer writes short working and a final line with the answer.
func (w *writer) answer(b *strings.Builder, a Ask) {
	value, numeric := strconv.ParseFloat(strings.ReplaceAll(a.Answer, ",", ""), 64)
	text := a.Answer
	if numeric != nil {
		if !a.Right {
			text = "the " + adjectives[w.rng.IntN(len(adjectives))] + " " + nouns[w.rng.IntN(len(nouns))]
		}
		fmt.Fprintf(b, "%s The answer is %s.", workings[w.rng.IntN(len(workings))], text)
		return
	}
	if !a.Right {
		value = wrong(value, w.rng)
		text = strconv.FormatFloat(value, 'f', -1, 64)
	}
	b.WriteString(workings[w.rng.IntN(len(workings))])
	if nums := numbers(a.User); len(nums) > 1 {
		fmt.Fprintf(b, " The question gives %s and %s", strings.Join(nums[:len(nums)-1], ", "), nums[len(nums)-1])
		b.WriteString(". " + joins[w.rng.IntN(len(joins))])
	}
	part := math.Trunc(value / 2)
	fmt.Fprintf(b, " First part: %s. Second part: %s.", num(part), num(value-part))
	fmt.Fprintf(b, " Together that is %s + %s = %s.\n\n#### %s", num(part), num(value-part), text, text)
}

func num(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// wrong is a near miss of v: off by a little, by a factor of two, or by ten.
func wrong(v float64, rng *rand.Rand) float64 {
	switch rng.IntN(4) {
	case 0:
		return v + 1 + float64(rng.IntN(9))
	case 1:
		if v != 0 {
			return v * 2
		}
	case 2:
		return v - 1 - float64(rng.IntN(9))
	}
	return v + 10
}

// numbers lists up to six numbers of s, in order.
func numbers(s string) (out []string) {
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }) {
		if f = strings.Trim(f, "."); f != "" && len(f) < 12 && len(out) < 6 {
			out = append(out, f)
		}
	}
	return out
}

// Keywords returns up to 24 content words of s, the last ones first, without repetition.
func Keywords(s string) (out []string) {
	const window = 4000
	if len(s) > window {
		s = s[len(s)-window:]
	}
	seen := map[string]bool{}
	words := strings.FieldsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	for i := len(words) - 1; i >= 0 && len(out) < 24; i-- {
		w := strings.ToLower(words[i])
		if len(w) < 5 || len(w) > 16 || stop[w] || seen[w] {
			continue
		}
		seen[w] = true
		out = append(out, w)
	}
	return out
}
