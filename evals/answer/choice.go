package answer

import "strings"

// Choice finds the chosen letter of a multiple-choice reply with the options A to
// 'A'+options-1: after the last answer marker, else a reply that is the letter alone or
// starts with it ("B", "(B)", "B) Oslo"), else the only letter that stands alone. It
// returns 0 when the reply chooses none or several.
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
