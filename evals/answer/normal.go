package answer

import (
	"strings"
	"unicode/utf8"
)

// Normal rewrites the typography and LaTeX that models wrap around numbers into plain
// ASCII: no-break and thin spaces between digits become commas, full-width forms their
// ASCII twins, the minus sign and the en dash a hyphen; emphasis, \left, \( and the like
// go; \text{x} becomes x and \frac{a}{b} becomes (a)/(b).
//
// Only the last 256 KiB are looked at: an answer stands at the end.
func Normal(s string) string {
	if len(s) > maxText {
		s = s[len(s)-maxText:]
	}
	return unTeX(unType(strings.ToValidUTF8(s, "\ufffd")))
}

// maxText bounds the text that is searched for an answer.
const maxText = 256 << 10

func unType(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var prev rune
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch {
		case isThinSpace(r):
			if isDigit(unWide(prev)) && isDigit(unWide(next)) {
				b.WriteByte(',')
			} else {
				b.WriteByte(' ')
			}
		case r == '\u2212' || r == '\u2013' || r == '\ufe63':
			b.WriteByte('-')
		case r == '\u200b' || r == '\ufeff' || r == '\u2060':
		default:
			b.WriteRune(unWide(r))
		}
		prev = r
	}
	return b.String()
}

func isThinSpace(r rune) bool {
	return r == '\u00a0' || r == '\u202f' || r == '\u2009' || r == '\u2007' || r == '\u2008'
}

// unWide maps a full-width form to its ASCII twin.
func unWide(r rune) rune {
	switch {
	case r >= '\uff01' && r <= '\uff5e':
		return r - 0xfee0
	case r == '\u3000':
		return ' '
	}
	return r
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// texDrop are commands that carry no meaning for a number.
var texDrop = []string{`\left`, `\right`, `\displaystyle`, `\!`, `\,`, `\;`, `\:`, `\(`, `\)`, `\[`, `\]`}

// texKeep are commands of which only the argument is kept.
var texKeep = []string{`\text{`, `\textbf{`, `\textit{`, `\mathrm{`, `\mathbf{`, `\mbox{`, `\textrm{`}

func unTeX(s string) string {
	s = strings.ReplaceAll(s, "{,}", ",")
	var b strings.Builder
	b.Grow(len(s))
	// dropped tells, for each open brace, whether its opening was dropped.
	var dropped []bool
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\\':
			n, put, opened := texCommand(s[i:])
			b.WriteString(put)
			if opened {
				dropped = append(dropped, true)
			}
			i += n
			continue
		case c == '{':
			dropped = append(dropped, false)
		case c == '}' && len(dropped) > 0:
			was := dropped[len(dropped)-1]
			dropped = dropped[:len(dropped)-1]
			if was {
				i++
				continue
			}
		case c == '`':
			i++
			continue
		case (c == '*' || c == '_') && i+1 < len(s) && s[i+1] == c:
			power := c == '*' && i > 0 && i+2 < len(s) && isDigit(rune(s[i-1])) && isDigit(rune(s[i+2]))
			if !power {
				i += 2
				continue
			}
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

// texCommand reads the command at the start of s: how much of s it takes, what to write
// in its place, and whether it opened a brace that must vanish with its closing one.
func texCommand(s string) (n int, put string, opened bool) {
	for _, f := range []string{`\dfrac`, `\tfrac`, `\cfrac`, `\frac`} {
		if strings.HasPrefix(s, f) {
			if top, bottom, used, ok := fraction(s[len(f):]); ok {
				return len(f) + used, "(" + top + ")/(" + bottom + ")", false
			}
			return len(f), "", false
		}
	}
	for _, k := range texKeep {
		if strings.HasPrefix(s, k) {
			return len(k), "", true
		}
	}
	for _, d := range texDrop {
		if strings.HasPrefix(s, d) {
			return len(d), "", false
		}
	}
	if len(s) > 1 && (s[1] == '$' || s[1] == '%' || s[1] == '#' || s[1] == '&') {
		return 2, s[1:2], false
	}
	return 1, `\`, false
}

// fraction reads the two arguments of \frac: {a}{b} without inner braces, or two digits.
func fraction(s string) (top, bottom string, used int, ok bool) {
	if len(s) >= 2 && isDigit(rune(s[0])) && isDigit(rune(s[1])) {
		return s[:1], s[1:2], 2, true
	}
	top, n := braced(s)
	if n == 0 {
		return "", "", 0, false
	}
	bottom, m := braced(s[n:])
	if m == 0 {
		return "", "", 0, false
	}
	return top, bottom, n + m, true
}

func braced(s string) (inner string, n int) {
	if s == "" || s[0] != '{' {
		return "", 0
	}
	end := strings.IndexAny(s[1:], "{}")
	if end < 0 || s[1+end] != '}' {
		return "", 0
	}
	return s[1 : 1+end], end + 2
}
