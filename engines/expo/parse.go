package expo

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse reads a page. It never fails; what it did not understand is counted in the result.
func Parse(b []byte) *Page {
	p := &Page{Types: map[string]Type{}, byName: map[string][]int{}}
	if len(b) > MaxPage {
		b = b[:bytes.LastIndexByte(b[:MaxPage], '\n')+1]
		p.Truncated = fmt.Sprintf("page over %d bytes", MaxPage)
	}
	p.Samples = make([]Sample, 0, min(bytes.Count(b, []byte("\n"))+1, 4096))
	// One copy of the page: names and label values are cut from it.
	rest := string(b)
	var labels arena
	for rest != "" {
		line := rest
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		line = strings.Trim(line, " \t\r")
		switch {
		case line == "":
		case len(line) > MaxLine:
			p.bad(line)
		case line[0] == '#':
			if line == "# EOF" {
				return p
			}
			p.comment(line)
		default:
			if len(p.Samples) == MaxSamples {
				p.Truncated = fmt.Sprintf("more than %d samples", MaxSamples)
				return p
			}
			s, ok := parseSample(line, &labels)
			if !ok {
				p.bad(line)
				continue
			}
			p.byName[s.Name] = append(p.byName[s.Name], len(p.Samples))
			p.Samples = append(p.Samples, s)
		}
	}
	return p
}

// arena hands out room for the labels of one sample after another, many samples to one
// allocation.
type arena struct {
	room  []Label // of the sample at hand
	chunk []Label
}

// start makes room for a new sample's labels.
func (a *arena) start() {
	const size = 512
	if cap(a.chunk)-len(a.chunk) < 16 {
		a.chunk = make([]Label, 0, size)
	}
	a.room = a.chunk[len(a.chunk):len(a.chunk):cap(a.chunk)]
}

func (a *arena) add(l Label) { a.room = append(a.room, l) }

// done returns the sample's labels.
func (a *arena) done() []Label {
	n := len(a.room)
	if n == 0 {
		return nil
	}
	if end := len(a.chunk) + n; end <= cap(a.chunk) && &a.room[0] == &a.chunk[:end][end-n] {
		a.chunk = a.chunk[:end]
	}
	return a.room[:n:n]
}

func (p *Page) bad(line string) {
	p.Bad++
	if p.FirstBad == "" {
		const keep = 120
		if len(line) > keep {
			line = line[:keep]
		}
		p.FirstBad = strings.ToValidUTF8(strings.Clone(line), "?")
	}
}

// comment reads a TYPE line; every other comment is skipped.
func (p *Page) comment(line string) {
	f := strings.Fields(line[1:])
	if len(f) < 3 || f[0] != "TYPE" {
		return
	}
	name, typ := f[1], f[2]
	if quoted, rest, ok := quotedName(strings.TrimSpace(line[1:])); ok {
		name, typ = quoted, rest
	}
	if _, seen := p.Types[name]; !seen {
		p.Types[name] = Type(strings.ToLower(typ))
	}
}

// quotedName reads `TYPE "name" type`.
func quotedName(s string) (name, typ string, ok bool) {
	s = strings.TrimSpace(strings.TrimPrefix(s, "TYPE"))
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	name, rest, ok := quoted(s)
	return name, strings.TrimSpace(rest), ok
}

func parseSample(s string, labels *arena) (Sample, bool) {
	var out Sample
	labels.start()
	n := nameLen(s, true)
	out.Name = s[:n]
	s = strings.TrimLeft(s[n:], " \t")
	if strings.HasPrefix(s, "{") {
		var ok bool
		if s, ok = parseLabels(s[1:], &out, labels); !ok {
			return Sample{}, false
		}
	}
	if out.Name == "" {
		return Sample{}, false
	}
	out.Labels = labels.done()
	word, rest := cutWord(s)
	v, ok := parseValue(word)
	if !ok {
		return Sample{}, false
	}
	out.Value = v
	// A timestamp and an exemplar may follow; both are read past, not used.
	if rest != "" && rest[0] != '#' {
		word, rest = cutWord(rest)
		if _, ok := parseValue(word); !ok {
			return Sample{}, false
		}
	}
	if rest != "" && (rest[0] != '#' || !strings.HasPrefix(strings.TrimLeft(rest[1:], " \t"), "{")) {
		return Sample{}, false
	}
	return out, true
}

// parseLabels reads what follows an opening brace, up to and with the closing one.
func parseLabels(s string, out *Sample, labels *arena) (rest string, ok bool) {
	for {
		s = strings.TrimLeft(s, " \t")
		switch {
		case s == "":
			return "", false
		case s[0] == '}':
			return s[1:], true
		case len(labels.room) == maxLabels:
			return "", false
		}
		var name string
		if s[0] == '"' {
			if name, s, ok = quoted(s); !ok || name == "" {
				return "", false
			}
		} else {
			n := nameLen(s, false)
			name, s = s[:n], s[n:]
		}
		s = strings.TrimLeft(s, " \t")
		switch {
		case name == "":
			return "", false
		case strings.HasPrefix(s, "="):
			var value string
			if value, s, ok = quoted(strings.TrimLeft(s[1:], " \t")); !ok {
				return "", false
			}
			labels.add(Label{Name: name, Value: value})
		case out.Name == "":
			out.Name = name // the quoted form {"metric name", label="value"}
		default:
			return "", false
		}
		s = strings.TrimLeft(s, " \t")
		if strings.HasPrefix(s, ",") {
			s = s[1:]
		} else if !strings.HasPrefix(s, "}") {
			return "", false
		}
	}
}

// nameLen is the length of the metric name (colons allowed) or label name that s starts with.
func nameLen(s string, colon bool) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case c == ':' && colon:
		case '0' <= c && c <= '9' && i > 0:
		default:
			return i
		}
	}
	return len(s)
}

// quoted reads a quoted string with the escapes \\, \" and \n.
func quoted(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	s = s[1:]
	i := strings.IndexAny(s, `"\`)
	if i < 0 {
		return "", "", false
	}
	if s[i] == '"' {
		return s[:i], s[i+1:], utf8.ValidString(s[:i])
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), s[i+1:], utf8.ValidString(b.String())
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case '\\', '"':
				b.WriteByte(s[i])
			default:
				return "", "", false
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t")
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

// parseValue reads a decimal number, NaN or an infinity. Hexadecimal numbers and digit
// separators, which Go would take, are no part of the format.
func parseValue(s string) (float64, bool) {
	if s == "" || strings.ContainsAny(s, "_xXpP") {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}
