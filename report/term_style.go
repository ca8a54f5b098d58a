package report

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/inferencebench/inferencebench/report/quantity"
)

// TerminalOptions says what the terminal can show.
type TerminalOptions struct {
	Width int  // columns; 80 when 0, never less than 40
	Color bool // ANSI colours may be used
	ASCII bool // only plain ASCII may be used
}

// OptionsFor returns what f can show: colour and its width when it is a terminal and the
// environment allows it (NO_COLOR, TERM=dumb), and plain ASCII when the locale does not
// name UTF-8. getenv is os.Getenv outside tests.
func OptionsFor(f *os.File, getenv func(string) string) TerminalOptions {
	o := TerminalOptions{Width: 80, ASCII: !utf8Locale(getenv)}
	if !term.IsTerminal(int(f.Fd())) {
		return o
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		o.Width = w
	}
	o.Color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return o
}

func utf8Locale(getenv func(string) string) bool {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(getenv(k)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}

// ink is one ANSI style.
type ink string

const (
	bold   ink = "1"
	dim    ink = "2"
	red    ink = "31;1"
	green  ink = "32"
	yellow ink = "33"
	cyan   ink = "36"
)

// paper is a terminal page under construction.
type paper struct {
	o TerminalOptions
	b strings.Builder
}

func (p *paper) width() int {
	switch {
	case p.o.Width == 0:
		return 80
	case p.o.Width < 40:
		return 40
	}
	return min(p.o.Width, 100)
}

// paint colours s where colours may be used.
func (p *paper) paint(i ink, s string) string {
	if !p.o.Color || s == "" {
		return s
	}
	return "\x1b[" + string(i) + "m" + s + "\x1b[0m"
}

// line writes one line that is already within the width.
func (p *paper) line(s string) {
	p.b.WriteString(strings.TrimRight(s, " \t"))
	p.b.WriteByte('\n')
}

// mark is the sign of a check: passed, failed or unknown.
func (p *paper) mark(ok, known bool) string {
	switch {
	case !known:
		return p.paint(yellow, "?")
	case ok && p.o.ASCII:
		return p.paint(green, "ok")
	case ok:
		return p.paint(green, "✓")
	case p.o.ASCII:
		return p.paint(red, "x")
	}
	return p.paint(red, "✗")
}

// clean makes outside text safe and fit for the terminal: one line, no control or
// direction-changing characters, and ASCII only when asked.
func (p *paper) clean(s string) string {
	s = OneLine(s)
	if p.o.ASCII {
		s = quantity.ASCII(s)
		s = strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return '?'
			}
			return r
		}, s)
	}
	return s
}

// OneLine returns s as one line without control characters, escape sequences or
// characters that change the direction of text.
func OneLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
}

// sentence makes a phrase a sentence: a capital first and a full stop last.
func sentence(s string) string {
	s = OneLine(s)
	if s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(r)) + s[n:]
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "!") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

// wrapped writes label, padded to indent columns, and text wrapped to the width beside it.
func (p *paper) wrapped(label string, i ink, indent int, text string) {
	p.wrappedInk(label, i, indent, text, "")
}

func (p *paper) wrappedInk(label string, i ink, indent int, text string, body ink) {
	head := label + strings.Repeat(" ", max(0, indent-utf8.RuneCountInString(label)))
	for n, l := range wrap(p.clean(tidy(text)), p.width()-indent) {
		if body != "" {
			l = p.paint(body, l)
		}
		if n == 0 {
			p.line(p.paint(i, label) + head[len(label):] + l)
			continue
		}
		p.line(strings.Repeat(" ", indent) + l)
	}
}

// wrap breaks s into lines of at most width runes, at spaces where there are any.
func wrap(s string, width int) []string {
	width = max(width, 16)
	var out []string
	line := ""
	for _, w := range strings.Split(s, " ") {
		for utf8.RuneCountInString(w) > width {
			if line != "" {
				out, line = append(out, line), ""
			}
			r := []rune(w)
			out, w = append(out, string(r[:width])), string(r[width:])
		}
		switch {
		case line == "":
			line = w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) <= width:
			line += " " + w
		default:
			out, line = append(out, line), w
		}
	}
	return append(out, line)
}
