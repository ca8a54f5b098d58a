package answer

import (
	"strings"
	"unicode"
)

// maxFactWords is how many words of a reply are searched: a model that lists everything
// it knows has not answered.
const maxFactWords = 40

// Fact looks for one of the accepted answers in the first 40 words of a reply, as whole
// words, without regard to case, punctuation or articles, and returns the one it found.
// Digits may have thousands commas.
func Fact(visible string, accepted []string) (string, bool) {
	words := factWords(visible)
	words = words[:min(len(words), maxFactWords)]
	text := " " + strings.Join(words, " ") + " "
	for _, a := range accepted {
		if w := factWords(a); len(w) > 0 && strings.Contains(text, " "+strings.Join(w, " ")+" ") {
			return a, true
		}
	}
	return "", false
}

// factWords are the lower-case words of a text without articles. Apostrophes and commas
// inside numbers vanish; every other character that is no letter or digit separates.
func factWords(s string) []string {
	if len(s) > 4096 {
		s = s[:4096]
	}
	s = Normal(s)
	var b strings.Builder
	for i, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.M, r), unicode.Is(unicode.No, r):
			b.WriteRune(unicode.ToLower(r))
		case r == ',' && digitAt(s, i-1) && digitAt(s, i+1), r == '.' && digitAt(s, i-1) && digitAt(s, i+1):
			if r == '.' {
				b.WriteRune(r)
			}
		case r == '-' && digitAt(s, i+1) && (i == 0 || s[i-1] == ' '):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	var out []string
	for _, w := range strings.Fields(b.String()) {
		if w != "a" && w != "an" && w != "the" || len(s) < 3 {
			out = append(out, w)
		}
	}
	return out
}
