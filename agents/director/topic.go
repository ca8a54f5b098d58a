package director

import (
	"strings"
	"unicode"
)

// tidy makes a model's message fit to send: valid text on few lines without control or
// invisible formatting characters.
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029:
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// han reports whether a text is mostly Chinese.
func han(s string) bool {
	n, all := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			all++
			if unicode.Is(unicode.Han, r) {
				n++
			}
		}
	}
	return n*2 > all
}

// onTopic reports whether a message takes up something of a reply: a number, an uncommon
// word, or two Chinese characters in a row.
func onTopic(message, reply string) bool {
	if len(reply) > 16<<10 {
		reply = reply[:16<<10]
	}
	in := topics(reply)
	for w := range topics(message) {
		if in[w] {
			return true
		}
	}
	return false
}

// common are long words that say nothing about a subject.
var common = map[string]bool{
	"about": true, "after": true, "again": true, "answer": true, "because": true, "before": true, "being": true, "between": true, "could": true,
	"doing": true, "every": true, "example": true, "first": true, "given": true, "going": true, "great": true, "here's": true, "might": true,
	"never": true, "other": true, "please": true, "question": true, "really": true, "right": true, "shall": true, "should": true, "since": true,
	"something": true, "still": true, "thank": true, "thanks": true, "that's": true, "their": true, "there": true, "these": true, "thing": true,
	"things": true, "think": true, "those": true, "though": true, "through": true, "under": true, "until": true, "using": true, "where": true,
	"whether": true, "which": true, "while": true, "whole": true, "would": true, "write": true, "years": true, "you're": true, "your": true,
}

// topics are the words of a text that tell its subject.
func topics(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}) {
		runes := []rune(w)
		switch {
		case unicode.Is(unicode.Han, runes[0]):
			for i := 0; i+1 < len(runes); i++ {
				out[string(runes[i:i+2])] = true
			}
		case unicode.IsDigit(runes[0]) && len(runes) >= 2:
			out[w] = true
		case len(runes) >= 5 && !common[w]:
			out[stem(w)] = true
		}
	}
	return out
}

// stem drops the commonest endings, so that "crates" takes up "crate".
func stem(w string) string {
	for _, end := range []string{"ing", "ed", "s"} {
		if t, ok := strings.CutSuffix(w, end); ok && len(t) >= 4 {
			w = t
			break
		}
	}
	return strings.TrimSuffix(w, "e")
}
