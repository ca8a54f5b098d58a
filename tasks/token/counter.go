package token

import "unicode/utf8"

// Counter counts the tokens of a text on its own, without special tokens and without
// what a chat template adds. Implementations are safe for concurrent use.
type Counter interface {
	Count(text string) int
}

// CounterFunc makes a function a Counter.
type CounterFunc func(text string) int

// Count calls f.
func (f CounterFunc) Count(text string) int { return f(text) }

// Estimator is the Counter that [Estimate] is.
var Estimator Counter = CounterFunc(Estimate)

// Cut returns the longest prefix of text that ends at a word boundary and that c counts
// as at most limit tokens. For a text with no boundary within the limit it cuts between
// characters, so the result is empty only where even one character is over the limit.
func Cut(c Counter, text string, limit int) string {
	if limit <= 0 {
		return ""
	}
	if c.Count(text) <= limit {
		return text
	}
	if cut := longest(c, text, limit, boundaries(text)); cut != "" {
		return cut
	}
	return longest(c, text, limit, characters(text, 4*limit+16))
}

// longest is the longest of the prefixes ending at ends, which ascend, that is within
// the limit. Counts grow with length but for a token or so, so it bisects.
func longest(c Counter, text string, limit int, ends []int) string {
	lo, hi := 0, len(ends) // ends[:lo] fit, ends[hi:] do not
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if c.Count(text[:ends[mid]]) <= limit {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return ""
	}
	return text[:ends[lo-1]]
}

// boundaries are the offsets at which a word ends: before white space or a sign that
// follows a letter or figure, and after every character of a script without spaces.
func boundaries(text string) []int {
	var ends []int
	word := false // the character before is part of a word
	space := true
	for i, r := range text {
		white := r == ' ' || r == '\n' || r == '\t' || r == '\r'
		part := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 0x7f
		if white && !space || word && !part {
			ends = append(ends, i)
		}
		space, word = white, part
		if r >= 0x2E80 && r < 0xFFF0 {
			ends = append(ends, i+utf8.RuneLen(r))
			word = false
		}
	}
	return append(ends, len(text))
}

// characters are the ends of the first n characters.
func characters(text string, n int) []int {
	var ends []int
	for i := 0; i < len(text) && len(ends) < n; {
		_, w := utf8.DecodeRuneInString(text[i:])
		i += w
		ends = append(ends, i)
	}
	return ends
}
