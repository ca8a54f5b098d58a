package answer

import "strings"

// Choice finds the chosen letter of a multiple-choice reply with the options A to
// 'A'+options-1: after the last answer marker, else a reply that is the letter alone or
// starts with it ("B", "(B)", "B) Oslo"), else the only letter that stands alone. It
// returns 0 when the reply chooses none or several, as one does that lists the options.
func Choice(visible string, options int) byte {
	s := strings.TrimSpace(Normal(visible))
	isOption := func(c byte) bool { return c >= 'A' && int(c-'A') < options }
	low := lowerASCII(s)
	end := len(low)
	for range maxTries {
		at, after := lastMarker(low[:end])
		if at < 0 {
			break
		}
		if c := lead(s[after:]); isOption(c) {
			return c
		}
		end = at
	}
	if listed(s, options) > 1 {
		return 0
	}
	if c := lead(s); isOption(c) {
		return c
	}
	var only byte
	for i := range len(s) {
		alone := !letterAt(s, i-1) && !digitAt(s, i-1) && !letterAt(s, i+1) && !digitAt(s, i+1)
		// "A" alone is an article far more often than an answer.
		if !alone || !isOption(s[i]) || s[i] == 'A' && i+1 < len(s) && s[i+1] == ' ' {
			continue
		}
		if only != 0 && only != s[i] {
			return 0
		}
		only = s[i]
	}
	return only
}

// lead is the option letter at the start of s, if what follows does not make it a word.
func lead(s string) byte {
	s = strings.TrimLeft(s, " \n([\"'*")
	s = strings.TrimPrefix(s, "option ")
	s = strings.TrimPrefix(s, "Option ")
	if s == "" || letterAt(s, 1) || digitAt(s, 1) || len(s) > 2 && s[1] == ' ' && letterAt(s, 2) && s[0] == 'A' {
		return 0
	}
	return s[0]
}

// listed counts the option letters that begin a line as a list does: "A) ", "(B) ", "C. ".
func listed(s string, options int) int {
	seen := map[byte]bool{}
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimLeft(line, " \t(*-")
		if len(line) > 1 && line[0] >= 'A' && int(line[0]-'A') < options && strings.IndexByte(").:", line[1]) >= 0 {
			seen[line[0]] = true
		}
	}
	return len(seen)
}

// Contradicts reports whether a reply that chooses a letter says another answer in words,
// and which. options holds the accepted forms of each option's text, A first; question is
// what was asked, as words that only repeat it say nothing. A reply that names the text of its letter does not contradict itself, whatever else it names.
// One that does not contradicts itself when
//
//   - the words right after the letter ("B) Havana", "B: Havana") begin with the text of
//     another option, or are as short as an option and are none of them, or
//   - it names exactly one other option, and does not merely rule it out ("not Havana").
func Contradicts(visible string, letter byte, question string, options [][]string) (said string, ok bool) {
	own := int(letter) - 'A'
	if own < 0 || own >= len(options) {
		return "", false
	}
	text := Normal(visible)
	if _, named := Fact(text, options[own]); named {
		return "", false
	}
	if label, short := labelOf(text, letter, options); label != "" {
		for i, o := range options {
			if i != own && startsWith(label, o) {
				return o[0], true
			}
		}
		if _, repeats := Fact(question, []string{label}); short && !repeats && !startsWith(label, comments) {
			return label, true
		}
	}
	words := " " + strings.Join(factWords(text), " ") + " "
	for i, o := range options {
		if i == own {
			continue
		}
		name, named := Fact(text, o)
		if !named {
			continue
		}
		w := " " + strings.Join(factWords(name), " ") + " "
		for _, no := range []string{" not", " isn't", " nor", " than", " neither"} {
			words = strings.ReplaceAll(words, strings.Join(factWords(no), " ")+w, " ")
		}
		if !strings.Contains(words, w) {
			continue
		}
		if said != "" {
			return "", false
		}
		said = o[0]
	}
	return said, said != ""
}

// comments begin what is said about a choice and is no option's text: "B) is correct".
var comments = []string{"is", "because", "since", "as", "correct", "right", "yes"}

// labelOf is the text that stands directly behind the first mark of a letter, up to the
// end of its clause; short when it is set off as an option's text is and has no more words
// than the longest option.
func labelOf(text string, letter byte, options [][]string) (label string, short bool) {
	at := -1
	for i := range len(text) {
		if text[i] == letter && !letterAt(text, i-1) && !digitAt(text, i-1) && !letterAt(text, i+1) && !digitAt(text, i+1) {
			at = i
			break
		}
	}
	if at < 0 {
		return "", false
	}
	rest := strings.TrimLeft(text[at+1:], " \t*\"'")
	label = strings.TrimLeft(rest, " \t*\"')].:=-")
	if end := strings.IndexAny(label, "\n,;!?()"); end >= 0 {
		label = label[:end]
	}
	label = strings.TrimRight(label, " \t*\"'.")
	// "B, since ...": an explanation follows, not the option's text.
	set := rest != "" && strings.IndexByte(")].:=-", rest[0]) >= 0
	longest := 0
	for _, o := range options {
		longest = max(longest, len(factWords(o[0])))
	}
	n := len(factWords(label))
	return label, set && n > 0 && n <= longest
}

// startsWith reports whether a text begins with one of the forms, as whole words.
func startsWith(text string, forms []string) bool {
	words := " " + strings.Join(factWords(text), " ") + " "
	for _, f := range forms {
		if w := factWords(f); len(w) > 0 && strings.HasPrefix(words, " "+strings.Join(w, " ")+" ") {
			return true
		}
	}
	return false
}
