package bpe

import (
	"unicode"
	"unicode/utf8"
)

// splitter cuts a text into the pieces that are encoded on their own. next returns the
// length of the first piece of s, which is not empty.
type splitter interface {
	next(s string) int
}

// class is what the splitting rules ask of a character.
func letter(r rune) bool { return unicode.IsLetter(r) }
func number(r rune) bool { return unicode.Is(unicode.N, r) }
func space(r rune) bool {
	return unicode.IsSpace(r) // \s of Unicode: White_Space
}
func sign(r rune) bool { return !letter(r) && !number(r) && !space(r) }
func line(r rune) bool { return r == '\n' || r == '\r' }

// run is the length of the longest prefix of s whose characters are all in a class, with
// at most max characters; max 0 is no limit.
func run(s string, in func(rune) bool, max int) int {
	n, count := 0, 0
	for n < len(s) && (max == 0 || count < max) {
		r, w := utf8.DecodeRuneInString(s[n:])
		if !in(r) {
			break
		}
		n += w
		count++
	}
	return n
}

// contraction is the length of 's, 't, 're, 've, 'm, 'll or 'd at the start of s.
func contraction(s string, anyCase bool) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	low := func(c byte) byte {
		if anyCase && c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}
	switch low(s[1]) {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(s) > 2 && low(s[2]) == 'e' {
			return 3
		}
	case 'l':
		if len(s) > 2 && low(s[2]) == 'l' {
			return 3
		}
	}
	if anyCase { // the long s of U+017F folds to s
		if r, w := utf8.DecodeRuneInString(s[1:]); r == 'ſ' {
			return 1 + w
		}
	}
	return 0
}

// white is the length of the white-space piece that s starts with: a run of white space
// leaves its last character to the word after it.
func white(s string) int {
	n := run(s, space, 0)
	if n == 0 || n == len(s) {
		return n
	}
	_, w := utf8.DecodeLastRuneInString(s[:n])
	if n > w {
		return n - w
	}
	return n
}

// gpt2 is the splitting rule of GPT-2:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
type gpt2 struct{}

func (gpt2) next(s string) int {
	if n := contraction(s, false); n > 0 {
		return n
	}
	lead := 0
	if s[0] == ' ' {
		lead = 1
	}
	for _, in := range []func(rune) bool{letter, number, sign} {
		if n := run(s[lead:], in, 0); n > 0 {
			return lead + n
		}
	}
	return max(white(s), 1)
}

// cl100k is the splitting rule of cl100k, Llama 3 (digits 3) and Qwen 2 (digits 1):
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
type cl100k struct{ digits int }

func (c cl100k) next(s string) int {
	if n := contraction(s, true); n > 0 {
		return n
	}
	if n := lead(s); n >= 0 {
		if m := run(s[n:], letter, 0); m > 0 {
			return n + m
		}
	}
	if n := run(s, number, c.digits); n > 0 {
		return n
	}
	if n := signs(s, line); n > 0 {
		return n
	}
	if n := lines(s); n > 0 {
		return n
	}
	return max(white(s), 1)
}

// lead is the length of the optional character before a word: any but a letter, a number
// and a line break.
func lead(s string) int {
	r, w := utf8.DecodeRuneInString(s)
	if !letter(r) && !number(r) && !line(r) {
		return w
	}
	return 0
}

// signs is the length of " ?[^\s\p{L}\p{N}]+" and what may follow it.
func signs(s string, after func(rune) bool) int {
	n := 0
	if s[0] == ' ' {
		n = 1
	}
	m := run(s[n:], sign, 0)
	if m == 0 {
		return 0
	}
	n += m
	return n + run(s[n:], after, 0)
}

// lines is the length of "\s*[\r\n]+": white space up to its last line break.
func lines(s string) int {
	n := run(s, space, 0)
	for i := n; i > 0; i-- {
		if s[i-1] == '\n' || s[i-1] == '\r' {
			return i
		}
	}
	return 0
}

// o200k is the splitting rule of o200k, which cuts where a word turns to capitals:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|…)?|
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|…)?|
//	\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
type o200k struct{}

func upper(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M)
}
func lower(r rune) bool { return unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M) }

func (o200k) next(s string) int {
	// The optional first character is tried first, and then without it.
	starts := []int{lead(s), 0}
	if starts[0] == 0 {
		starts = starts[:1]
	}
	for _, form := range []func(string) int{lowerWord, upperWord} {
		for _, at := range starts {
			if n := form(s[at:]); n > 0 {
				n += at
				return n + contraction(s[n:], true)
			}
		}
	}
	if n := run(s, number, 3); n > 0 {
		return n
	}
	if n := signs(s, func(r rune) bool { return line(r) || r == '/' }); n > 0 {
		return n
	}
	if n := lines(s); n > 0 {
		return n
	}
	return max(white(s), 1)
}

// lowerWord is "upper* lower+", the first part as long as it may be.
func lowerWord(s string) int {
	for a := run(s, upper, 0); ; {
		if b := run(s[a:], lower, 0); b > 0 {
			return a + b
		}
		if a == 0 {
			return 0
		}
		_, w := utf8.DecodeLastRuneInString(s[:a])
		a -= w
	}
}

// upperWord is "upper+ lower*".
func upperWord(s string) int {
	a := run(s, upper, 0)
	if a == 0 {
		return 0
	}
	return a + run(s[a:], lower, 0)
}

// smol is GPT-2's rule after every digit was cut off on its own.
type smol struct{}

func (smol) next(s string) int {
	r, w := utf8.DecodeRuneInString(s)
	if number(r) {
		return w
	}
	end := len(s)
	for i, r := range s {
		if number(r) {
			end = i
			break
		}
	}
	return gpt2{}.next(s[:end])
}
