package answer

import (
	"math/big"
	"strings"
	"unicode"
)

// maxTries bounds how many places one rule looks at, from the end of the text backwards,
// so that a reply made of markers alone costs no more than one of prose.
const maxTries = 64

// Method is the rule that found an answer.
type Method string

// The methods, in the order in which they are tried; see the package comment.
const (
	Strict   Method = "strict"
	Boxed    Method = "boxed"
	Marker   Method = "marker"
	Flexible Method = "flexible"
	// None means that there was no number to find.
	None Method = "none"
)

// Extract finds the answer of a reply from which the reasoning has been removed. Text
// from the next question on is ignored: a model in completion mode goes on to invent
// one. It returns nil and None when the reply holds no number.
func Extract(visible string) (*big.Rat, Method) {
	s := beforeNextQuestion(Normal(visible))
	if v := hash(s); v != nil {
		return v, Strict
	}
	if v := boxed(s); v != nil {
		return v, Boxed
	}
	if v := marker(s); v != nil {
		return v, Marker
	}
	if n, ok := Last(s); ok {
		return n.Value, Flexible
	}
	return nil, None
}

// beforeNextQuestion cuts at the first line that starts a new question, if something
// with a digit stands before it.
func beforeNextQuestion(s string) string {
	digits := false
	for at := 0; at < len(s); {
		line := s[at:]
		next := len(s)
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], at+i+1
		}
		head := strings.TrimLeft(line, " #>")
		if digits && (strings.HasPrefix(head, "Question:") || strings.HasPrefix(head, "Q:")) {
			return s[:at]
		}
		digits = digits || strings.ContainsAny(line, "0123456789")
		at = next
	}
	return s
}

// hash reads the last "####" that a number follows. A heading such as "#### Step 2" is
// none: only signs and symbols, "x =" or an answer marker may stand before the number.
func hash(s string) *big.Rat {
	end := len(s)
	for range maxTries {
		i := strings.LastIndex(s[:end], "####")
		if i < 0 {
			return nil
		}
		line := s[i+4:]
		if j := strings.IndexByte(line, '\n'); j >= 0 {
			line = line[:j]
		}
		line = strings.TrimLeft(line, "#")
		if _, after := lastMarker(lowerASCII(line)); after > 0 {
			line = line[after:]
		}
		line = afterEquals(line)
		if n, ok := First(line); ok && !strings.ContainsFunc(line[:n.Start], unicode.IsLetter) {
			return n.Value
		}
		end = i
	}
	return nil
}

// afterEquals returns what follows the last "=" that a digit follows, or all of s.
func afterEquals(s string) string {
	digit := strings.LastIndexAny(s, "0123456789")
	if digit < 0 {
		return s
	}
	return s[strings.LastIndexByte(s[:digit], '=')+1:]
}

// boxed reads the last balanced \boxed{…} or \fbox{…} that holds a number.
func boxed(s string) *big.Rat {
	end := len(s)
	for range maxTries {
		i := max(strings.LastIndex(s[:end], `\boxed`), strings.LastIndex(s[:end], `\fbox`))
		if i < 0 {
			return nil
		}
		if inner, ok := balanced(s[i:end]); ok {
			if n, ok := First(afterEquals(inner)); ok {
				return n.Value
			}
		}
		end = i
	}
	return nil
}

// balanced returns the inside of the first brace pair of s.
func balanced(s string) (string, bool) {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return "", false
	}
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[open+1 : i], true
			}
		}
	}
	return "", false
}

var markerWords = []string{"final answer", "the answer", "answer", "result", "答案"}

// lastMarker finds the last marker of lower-case text: a marker word and "is", ":" or
// "=". It returns where the word starts and where what it announces starts; after is 0
// when there is none.
func lastMarker(low string) (at, after int) {
	best := -1
	for _, w := range markerWords {
		for to := len(low); ; {
			i := strings.LastIndex(low[:to], w)
			if i < 0 || i <= best {
				break
			}
			if n := announces(low[i+len(w):]); n > 0 && !letterASCII(low, i-1) {
				best, after = i, i+len(w)+n
				break
			}
			to = i
		}
	}
	return best, after
}

func letterASCII(s string, i int) bool { return i >= 0 && s[i] >= 'a' && s[i] <= 'z' }

// lowerASCII lowers A-Z and leaves every byte where it was.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// announces returns the length of "is", ":" or "=" at the start of s, spaces included.
func announces(s string) int {
	t := strings.TrimLeft(s, " ")
	lead := len(s) - len(t)
	switch {
	case strings.HasPrefix(t, "is:"):
		return lead + 3
	case strings.HasPrefix(t, "is") && !letterASCII(t+" ", 2):
		return lead + 2
	case strings.HasPrefix(t, ":"), strings.HasPrefix(t, "="):
		return lead + 1
	case strings.HasPrefix(t, "是"):
		return lead + len("是")
	}
	return 0
}

// marker reads the number after the last marker that announces one.
func marker(s string) *big.Rat {
	low := lowerASCII(s)
	end := len(low)
	for range maxTries {
		at, after := lastMarker(low[:end])
		if at < 0 {
			return nil
		}
		if n, ok := First(afterEquals(segment(s[after:]))); ok {
			return n.Value
		}
		end = at
	}
	return nil
}

// segment is the rest of the line, or the next line with text on it when the rest holds
// no digit, cut at the end of the sentence that holds the first digit.
func segment(s string) string {
	line, rest, _ := strings.Cut(s, "\n")
	if !strings.ContainsAny(line, "0123456789") {
		if strings.TrimLeft(line, " :*$") != "" && !strings.HasSuffix(strings.TrimSpace(line), ":") {
			return ""
		}
		line = ""
		for rest != "" && line == "" {
			line, rest, _ = strings.Cut(rest, "\n")
			line = strings.TrimSpace(line)
		}
	}
	seen := false
	for i, r := range line {
		switch {
		case isDigit(r):
			seen = true
		case seen && r == '。':
			return line[:i]
		case seen && (r == '.' || r == '!' || r == '?') && (i+1 == len(line) || line[i+1] == ' '):
			return line[:i]
		}
	}
	return line
}
