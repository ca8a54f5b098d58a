// Package token counts tokens, or estimates how many there are.
package token

import (
	"unicode"
	"unicode/utf8"
)

// The features of a text that its token count is made of.
const (
	fWords      = iota // runs of ASCII letters
	fLong              // further fives of letters beyond the ninth of a run
	fLetters           // ASCII letters
	fDigits            // pairs of digits begun
	fSpaces            // line breaks, tabs, and runs of white space but single spaces
	fSigns             // pairs of equal ASCII signs begun
	fHan               // Han, kana and Hangul characters
	fWide              // full-width punctuation
	fOther             // letters and marks of other scripts
	fRest              // anything else, such as pictographs
	fDigitChars        // digits
	fSignChars         // ASCII signs
	fSpaceChars        // characters of white space, but single spaces
	fSpaceDigit        // single spaces before a digit, which many vocabularies do not join
	fSpaceWide         // single spaces before a character that is not ASCII
	fUpper             // words that start with a capital
	features
)

// ruleOfThumb are the tokens that each feature stands for when nothing is known of the
// vocabulary.
var ruleOfThumb = [features]float64{fWords: 1, fLong: 1, fLetters: 0, fDigits: 1, fSpaces: 1, fSigns: 1, fHan: 0.75, fWide: 1, fOther: 0.5, fRest: 2}

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
func Estimate(s string) int { return round(dot(measure(s), ruleOfThumb)) }

func round(x float64) int {
	if x < 0 {
		return 0
	}
	return int(x + 0.5)
}

func dot(a, b [features]float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// measure counts the features of a text.
func measure(s string) (f [features]float64) {
	for i := 0; i < len(s); {
		c := s[i]
		j := i + 1
		switch {
		case isLetter(c):
			for j < len(s) && isLetter(s[j]) {
				j++
			}
			f[fWords]++
			if c <= 'Z' {
				f[fUpper]++
			}
			f[fLetters] += float64(j - i)
			if n := j - i; n > 9 {
				f[fLong] += float64((n - 9 + 4) / 5)
			}
		case c >= '0' && c <= '9':
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			f[fDigits] += float64((j - i + 1) / 2)
			f[fDigitChars] += float64(j - i)
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			for j < len(s) && (s[j] == ' ' || s[j] == '\n' || s[j] == '\t' || s[j] == '\r') {
				j++
			}
			switch {
			case j-i > 1 || c != ' ':
				f[fSpaces]++
				f[fSpaceChars] += float64(j - i)
			case j < len(s) && s[j] >= '0' && s[j] <= '9':
				f[fSpaceDigit]++
			case j < len(s) && s[j] >= utf8.RuneSelf:
				f[fSpaceWide]++
			}
		case c < utf8.RuneSelf:
			for j < len(s) && s[j] == c {
				j++
			}
			f[fSigns] += float64((j - i + 1) / 2)
			f[fSignChars] += float64(j - i)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			f[featureOf(r)]++
			j = i + n
		}
		i = j
	}
	return f
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func featureOf(r rune) int {
	switch {
	case r >= 0x4E00 && r < 0xA000:
		return fHan
	case r >= 0x3000 && r < 0x3040, r >= 0xFF00 && r < 0xFFF0:
		return fWide
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return fHan
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return fOther
	}
	return fRest
}
