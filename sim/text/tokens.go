// Package text is the words of the simulated engine: a tokeniser that is close enough to a
// real one for counting and prefix matching, and replies that a later turn can react to.
package text

import (
	"unicode"
	"unicode/utf8"
)

// maxPiece is the longest run of letters that is one token, in bytes.
const maxPiece = 7

// Tokens splits s into tokens. Joined, they give s again. The rules are those of
// byte-pair tokenisers in outline: a word takes its leading space, long words fall into
// pieces, digits go three at a time, white space and punctuation stand apart. English
// prose comes out at about 1.3 tokens a word.
//
// Splitting looks only forward from the start of a token, so that a text which continues
// another at a token's end begins with the same tokens.
func Tokens(s string) []string {
	out := make([]string, 0, len(s)/4+1)
	for len(s) > 0 {
		n := tokenLen(s)
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// tokenLen is the length in bytes of the first token of s, which is not empty.
func tokenLen(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	i := 0
	if r == ' ' && len(s) > 1 {
		next, n := utf8.DecodeRuneInString(s[1:])
		if unicode.IsLetter(next) || unicode.IsPunct(next) || unicode.IsSymbol(next) {
			i, r, size = 1, next, n
		}
	}
	switch {
	case r == utf8.RuneError && size == 1:
		return i + 1
	case unicode.IsLetter(r):
		return i + letters(s[i:])
	case unicode.IsDigit(r):
		return i + run(s[i:], 3, unicode.IsDigit)
	case unicode.IsSpace(r):
		return i + run(s[i:], 16, unicode.IsSpace)
	default:
		return i + run(s[i:], 3, func(r rune) bool {
			return r != utf8.RuneError && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r)
		})
	}
}

// letters is the length of the first piece of the word that s starts with: the whole word
// when it is short, else four to six bytes, cut between runes.
func letters(s string) int {
	word := run(s, len(s), unicode.IsLetter)
	if word <= maxPiece {
		return word
	}
	cut := 4 + int(s[0]+s[2])%3
	for !utf8.RuneStart(s[cut]) {
		cut++
	}
	return cut
}

// run is the length in bytes of the leading runes of s that ok accepts, at most limit of
// them and at least one.
func run(s string, limit int, ok func(rune) bool) int {
	n := 0
	for i, r := range s {
		if i > 0 && (!ok(r) || n >= limit) {
			return i
		}
		n++
	}
	return len(s)
}

// Hash identifies a token's content (64-bit FNV-1a).
func Hash(token string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(token) {
		h = (h ^ uint64(token[i])) * 1099511628211
	}
	return h
}

// BlockKeys returns the key of every full block of size tokens.
func BlockKeys(size int, hashes []uint64) []uint64 {
	keys := make([]uint64, 0, len(hashes)/size)
	for len(hashes) >= size {
		h := uint64(14695981039346656037)
		for _, t := range hashes[:size] {
			h = (h ^ t) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
		keys = append(keys, h)
		hashes = hashes[size:]
	}
	return keys
}
