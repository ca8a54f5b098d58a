package nonsense

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	tailWindow  = 4000 // characters of the end that are searched for a period
	maxPeriod   = 400
	minCovered  = 80
	minRepeats  = 4
	minShare    = 0.10
	minOrnament = 200 // for units without letter or digit, such as table rules
	minRun      = 20
)

// charRun flags a run of ! or ? at the end: token 0 of many vocabularies is "!", and that
// is what a sampler makes of NaN.
func charRun(text string, _ Reply) (Flag, bool) {
	t := strings.TrimRight(text, " \n")
	n := len(t) - len(strings.TrimRight(t, "!?"))
	if n < minRun {
		return Flag{}, false
	}
	return Flag{Rule: CharRun, Message: fmt.Sprintf("ends in %d exclamation or question marks", n)}, true
}

// tailLoop flags a text whose end repeats: the smallest period p ≤ 400 such that at least
// 80 characters, 4 repeats and a tenth of the text are covered. It is found with the
// Z-function of the reversed end, in linear time.
func tailLoop(text string, _ Reply) (Flag, bool) {
	total := utf8.RuneCountInString(text)
	if total < minCovered {
		return Flag{}, false
	}
	rev := reversedTail(text)
	z := zFunction(rev)
	for p := 1; p < len(rev) && p <= maxPeriod; p++ {
		covered := z[p] + p
		if covered < minCovered || covered/p < minRepeats || float64(covered) < minShare*float64(total) {
			continue
		}
		if ornament(rev[:p]) && covered < minOrnament {
			continue
		}
		return Flag{Rule: TailLoop, Message: fmt.Sprintf("the last %d characters repeat every %d", covered, p)}, true
	}
	return Flag{}, false
}

// reversedTail returns the last characters of a text, last first, without trailing space.
func reversedTail(text string) []rune {
	text = strings.TrimRight(text, " \n")
	out := make([]rune, 0, tailWindow)
	for len(out) < tailWindow && text != "" {
		r, n := utf8.DecodeLastRuneInString(text)
		out = append(out, r)
		text = text[:len(text)-n]
	}
	return out
}

// zFunction gives for every i the length of the longest common prefix of s and s[i:].
func zFunction(s []rune) []int {
	z := make([]int, len(s))
	for i, l, r := 1, 0, 0; i < len(s); i++ {
		if i < r {
			z[i] = min(r-i, z[i-l])
		}
		for i+z[i] < len(s) && s[z[i]] == s[i+z[i]] {
			z[i]++
		}
		if i+z[i] > r {
			l, r = i, i+z[i]
		}
	}
	return z
}

func ornament(unit []rune) bool {
	for _, r := range unit {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '!' || r == '?' {
			return false
		}
	}
	return true
}

const (
	minRepetitive = 600  // bytes
	maxCopied     = 0.40 // share of characters in repeated runs of ten words
	maxZlib       = 8.0
	gram          = 10
)

// repetitive flags prose of which most is copies of itself without a fixed period. Code,
// tables and data repeat by nature and are passed over.
func repetitive(text string, _ Reply) (Flag, bool) {
	if len(text) < minRepetitive || structured(text) {
		return Flag{}, false
	}
	if r := ratio(text); r > maxZlib {
		return Flag{Rule: Repetitive, Message: fmt.Sprintf("compresses %.1f times, ordinary prose about 2", r)}, true
	}
	words := strings.Fields(text)
	if len(words) < 3*gram {
		return Flag{}, false
	}
	seen := map[string]bool{}
	copied, all, until := 0, 0, 0
	for i := range words {
		all += len(words[i])
		if i+gram > len(words) {
			continue
		}
		key := strings.Join(words[i:i+gram], " ")
		if seen[key] {
			for j := max(i, until); j < i+gram; j++ {
				copied += len(words[j])
			}
			until = i + gram
		}
		seen[key] = true
	}
	if share := float64(copied) / float64(all); share > maxCopied {
		return Flag{Rule: Repetitive, Message: fmt.Sprintf("%.0f %% of the words are in repeated runs of ten", 100*share)}, true
	}
	return Flag{}, false
}

// structured reports whether a text is code, a table, a list or data rather than prose.
func structured(text string) bool {
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		return true
	}
	marks, lines, listed := 0, 0, 0
	for _, r := range text {
		if strings.ContainsRune("{}[]|<>=\\/_\"#", r) {
			marks++
		}
	}
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if t == "" {
			continue
		}
		lines++
		if line[0] == ' ' || line[0] == '\t' || listItem(t) {
			listed++
		}
	}
	return float64(marks) > 0.03*float64(len(text)) || listed*2 > lines
}

// listItem reports whether a line is a list item, a heading, a quotation or a table row.
func listItem(t string) bool {
	if t == "" {
		return false
	}
	if strings.ContainsRune("-*•|#>+", []rune(t)[0]) {
		return true
	}
	digits := len(t) - len(strings.TrimLeft(t, "0123456789"))
	if digits > 0 && digits < 4 && len(t) > digits && (t[digits] == '.' || t[digits] == ')' || t[digits] == ':') {
		return true
	}
	return strings.HasPrefix(t, "Step ")
}
