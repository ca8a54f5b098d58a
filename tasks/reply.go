package tasks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A reply is read as data, and only this much of it.
const (
	replyHead  = 24 << 10 // bytes read from the start of a reply
	maxQuote   = 160      // characters quoted from a reply
	maxPicks   = 64       // candidates kept of each sort
	minLetters = 12       // letters that a usable reply has
)

// facts are the things in a reply that a next user turn can ask about. Every string is
// valid UTF-8 on one line, without control characters and at most maxQuote characters.
type facts struct {
	sentences []string
	numbers   []string // with the word that follows, such as "42 boats"
	terms     []string // uncommon words
	items     []string // entries of a list
	code      bool     // holds a fenced code block
	garbage   string   // why nothing of it can be used; "" when it can
}

// readReply collects facts. It never fails: what cannot be used is called garbage.
func readReply(reply string) facts {
	var f facts
	text := clean(answerOnly(reply))
	if why := garbage(text); why != "" {
		f.garbage = why
		return f
	}
	f.code = strings.Contains(text, "```")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if item, ok := listItem(line); ok && len(f.items) < maxPicks {
			if q := quote(item); len([]rune(q)) >= 4 {
				f.items = append(f.items, q)
			}
		}
		for _, s := range splitSentences(line) {
			q := quote(s)
			if n := len([]rune(q)); n >= 12 && len(f.sentences) < maxPicks {
				f.sentences = append(f.sentences, q)
			}
		}
	}
	f.numbers = numbersIn(text)
	f.terms = termsIn(text)
	if len(f.sentences)+len(f.numbers)+len(f.terms)+len(f.items) == 0 {
		f.garbage = "nothing to ask about"
	}
	return f
}

// answerOnly drops a leading thinking block, which is not part of the answer.
func answerOnly(reply string) string {
	if t := strings.TrimLeft(reply, " \n\r\t"); strings.HasPrefix(t, "<think>") {
		if i := strings.Index(t, "</think>"); i >= 0 {
			return t[i+len("</think>"):]
		}
		return ""
	}
	return reply
}

// clean bounds a reply and makes it valid text without control characters and without
// invisible formatting, which could hide text from a reader.
func clean(reply string) string {
	if len(reply) > replyHead {
		cut := replyHead
		for cut > 0 && !utf8.RuneStart(reply[cut]) {
			cut--
		}
		reply = reply[:cut]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029:
			return -1
		}
		return r
	}, reply)
}

// garbage says why a reply is not worth a follow-up.
func garbage(text string) string {
	var letters, bad, all int
	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		switch {
		case unicode.IsLetter(r):
			letters++
		case r == utf8.RuneError:
			bad++
		}
	}
	switch {
	case all == 0:
		return "empty"
	case bad*50 > all:
		return "not text"
	case letters < minLetters || letters*4 < all:
		return "hardly any words"
	case repetitive(text):
		return "repetitive"
	}
	return ""
}

// repetitive reports whether a text of some length says hardly anything new: few
// different words, or, without spaces, few different characters.
func repetitive(text string) bool {
	words := strings.Fields(text)
	seen := make(map[string]struct{}, len(words))
	for _, w := range words {
		seen[w] = struct{}{}
	}
	if len(words) >= 24 && len(seen)*8 < len(words) && len(seen) < 40 {
		return true
	}
	runes := make(map[rune]struct{})
	n := 0
	for _, r := range text {
		if !unicode.IsSpace(r) {
			n++
			runes[r] = struct{}{}
		}
	}
	return n >= 40 && len(runes) <= 6
}

// listItem takes the text of a line that starts with a list mark.
func listItem(line string) (string, bool) {
	for _, mark := range []string{"- ", "* ", "• ", "+ "} {
		if t, ok := strings.CutPrefix(line, mark); ok {
			return t, true
		}
	}
	i := 0
	for i < len(line) && i < 3 && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i > 0 && i < len(line) {
		for _, mark := range []string{". ", ") ", "、", "．"} {
			if t, ok := strings.CutPrefix(line[i:], mark); ok {
				return t, true
			}
		}
	}
	return "", false
}

func splitSentences(line string) []string {
	var out []string
	start := 0
	for i, r := range line {
		n := utf8.RuneLen(r)
		end := r == '。' || r == '！' || r == '？'
		if r == '.' || r == '!' || r == '?' {
			end = i+1 == len(line) || line[i+1] == ' '
		}
		if end {
			out = append(out, line[start:i+n])
			start = i + n
		}
	}
	return append(out, line[start:])
}

// quote makes a fragment fit to stand between quotation marks: one line, no marks of
// its own that would end the quotation, bounded length.
func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '"', '“', '”', '`', '「', '」':
			return '\''
		case '\n', '\t', '\u00a0':
			return ' '
		}
		return r
	}, s)
	s = strings.Trim(strings.Join(strings.Fields(s), " "), "*_#>|- .。'")
	runes := []rune(s)
	if len(runes) <= maxQuote {
		return s
	}
	cut := maxQuote
	for i := maxQuote; i > maxQuote/2; i-- {
		if runes[i] == ' ' {
			cut = i
			break
		}
	}
	return strings.TrimRight(string(runes[:cut]), " ,;:") + "…"
}

// numbersIn finds figures, each with the word after it where there is one.
func numbersIn(text string) []string {
	var out []string
	fields := strings.Fields(text)
	for i, raw := range fields {
		if len(raw) <= 3 && strings.HasSuffix(raw, ".") || len(raw) <= 3 && strings.HasSuffix(raw, ")") {
			continue // the number of a list's entry
		}
		w := strings.Trim(raw, "()[]*_.,;:!?\"'`")
		if len(w) == 0 || len(w) > 12 || w[0] < '0' || w[0] > '9' {
			continue
		}
		n := w
		if i+1 < len(fields) {
			if next := strings.Trim(fields[i+1], "()[]*_.,;:!?\"'`"); allLetters(next) && len(next) <= 20 {
				n += " " + next
			}
		}
		if out = append(out, quote(n)); len(out) == maxPicks {
			break
		}
	}
	return out
}

func allLetters(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return s != ""
}

// termsIn finds words that are likely to mean something: long ones, and, in a script
// without spaces, short runs between punctuation.
func termsIn(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '_' }) {
		n := len([]rune(w))
		han := strings.ContainsFunc(w, func(r rune) bool { return unicode.Is(unicode.Han, r) })
		if (han && n >= 2 && n <= 10 || !han && n >= 7 && n <= 28) && !seen[w] {
			seen[w] = true
			if q := quote(w); q != "" {
				out = append(out, q)
			}
			if len(out) == maxPicks {
				break
			}
		}
	}
	return out
}
