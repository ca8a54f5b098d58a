// Package token counts tokens, or estimates how many there are.
package token

import (
	"unicode"
	"unicode/utf8"
)

// Estimate is how many tokens a text has in a typical byte-level BPE vocabulary of about
// 100,000 entries, by a rule of thumb that needs no vocabulary. It is within about
// 15 % for ordinary prose and worse for code and for rare scripts; a [Calibration] turns
// it into the count of one server's model.
//
// The rule, per run of equal character class: a word of ASCII letters is one token for
// up to nine letters and one more for every further five; digits are one token for each
// pair begun; one space before a word is free and a longer run of spaces or a line break
// is one token; other ASCII signs are one token for each pair of equal signs begun; Han,
// kana and Hangul characters are 0.75 token each; letters of other scripts are half a
// token; anything else is two.
func Estimate(s string) int {
	var t float64
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case isLetter(c):
			j := i + 1
			for j < len(s) && isLetter(s[j]) {
				j++
			}
			t++
			if n := j - i; n > 9 {
				t += float64((n - 9 + 4) / 5)
			}
			i = j
		case c >= '0' && c <= '9':
			j := i + 1
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			t += float64((j - i + 1) / 2)
			i = j
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			j := i + 1
			for j < len(s) && (s[j] == ' ' || s[j] == '\n' || s[j] == '\t' || s[j] == '\r') {
				j++
			}
			if j-i > 1 || c != ' ' {
				t++
			}
			i = j
		case c < utf8.RuneSelf:
			j := i + 1
			for j < len(s) && s[j] == c {
				j++
			}
			t += float64((j - i + 1) / 2)
			i = j
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			t += runeTokens(r)
			i += n
		}
	}
	return int(t + 0.5)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func runeTokens(r rune) float64 {
	switch {
	case r >= 0x4E00 && r < 0xA000:
		return 0.75
	case r >= 0x3000 && r < 0x3040, r >= 0xFF00 && r < 0xFFF0: // full-width punctuation
		return 1
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return 0.75
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return 0.5
	}
	return 2
}
