package delta

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unquote returns the text of the inside of a JSON string, and whether the inside is one
// that encoding/json reads as it stands. What has no escape is returned where it lies.
func (c *Decoder) unquote(s []byte) ([]byte, bool) {
	plain, ascii := true, true
	for _, b := range s {
		if usual[b] {
			continue
		}
		switch {
		case b == '"' && plain, b < ' ':
			return nil, false
		case b == '\\':
			plain = false
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii && !utf8.Valid(s) {
		return nil, false
	}
	if plain {
		return s, true
	}
	out := c.scratch[:0]
	for i := 0; i < len(s); {
		b := s[i]
		if b == '"' {
			return nil, false
		}
		if b != '\\' {
			out = append(out, b)
			i++
			continue
		}
		if i+1 >= len(s) {
			return nil, false
		}
		i += 2
		switch s[i-1] {
		case '"', '\\', '/':
			out = append(out, s[i-1])
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(s[i:])
			if !ok {
				return nil, false
			}
			i += 4
			if utf16.IsSurrogate(r) {
				pair := rune(utf8.RuneError)
				if i+1 < len(s) && s[i] == '\\' && s[i+1] == 'u' {
					if low, ok := hex4(s[i+2:]); ok {
						pair = utf16.DecodeRune(r, low)
					}
				}
				if r = pair; r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			return nil, false
		}
	}
	c.scratch = out
	return out, true
}

// usual are the bytes that stand for themselves in a JSON string.
var usual = func() (t [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for _, b := range s[:4] {
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b && b <= 'f':
			b -= 'a' - 10
		case 'A' <= b && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	return r, true
}
