package answer

import (
	"regexp"
	"strings"
)

// Code methods say where a program was found.
const (
	CodeFence Method = "fence" // a fenced block that defines the function
	CodeBody  Method = "body"  // a function body, put under the prompt
	CodePlain Method = "plain" // a program without a fence
)

// Code turns a reply, reasoning removed, into a program that defines the function entry
// of the problem whose text is prompt: a signature with a docstring.
//
// It takes the last fenced Python block that defines the function; else the last block,
// or the indented text, as the body of the prompt's own signature; else plain text from
// its first definition on. Of a program it keeps imports, definitions, assignments, try
// and if statements; example calls, asserts, loops and the __main__ block are not part
// of the answer. The prompt's imports and helpers come first. None means that the reply
// holds no code.
func Code(visible, prompt, entry string) (program string, method Method) {
	if len(visible) > maxText {
		visible = visible[len(visible)-maxText:]
	}
	visible = strings.ReplaceAll(visible, "\r\n", "\n")
	prelude := Prelude(prompt, entry)
	blocks := fences(visible)
	for i := len(blocks) - 1; i >= 0; i-- {
		if b := dedent(blocks[i]); defines(b, entry) {
			return prelude + keep(b), CodeFence
		}
	}
	if len(blocks) > 0 {
		if body, ok := asBody(blocks[len(blocks)-1]); ok {
			return under(prompt, body), CodeBody
		}
		return "", None
	}
	if defines(visible, entry) {
		return prelude + keep(visible), CodePlain
	}
	if body, ok := asBody(visible); ok {
		return under(prompt, body), CodeBody
	}
	return "", None
}

// Prelude is the part of a code prompt before the function's own definition: imports and
// helpers. A prompt that does not define the function is prelude as a whole.
func Prelude(prompt, entry string) string {
	if at := definition(prompt, entry); at >= 0 {
		return prompt[:at]
	}
	return prompt
}

// definition finds "def entry(" at the start of a line.
func definition(text, entry string) int {
	for _, word := range []string{"def " + entry, "async def " + entry} {
		for from := 0; ; {
			i := strings.Index(text[from:], word)
			if i < 0 {
				break
			}
			at := from + i
			rest := strings.TrimLeft(text[at+len(word):], " ")
			if (at == 0 || text[at-1] == '\n') && strings.HasPrefix(rest, "(") {
				return at
			}
			from = at + len(word)
		}
	}
	return -1
}

// defines reports whether a program defines the function at its top level, by def or by
// assignment.
func defines(program, entry string) bool {
	if definition(program, entry) >= 0 {
		return true
	}
	for _, line := range strings.Split(program, "\n") {
		if rest, ok := strings.CutPrefix(line, entry); ok {
			rest = strings.TrimLeft(rest, " ")
			if strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") {
				return true
			}
		}
	}
	return false
}

var pythonTags = map[string]bool{"": true, "python": true, "py": true, "python3": true}

// fences returns the insides of all fenced blocks that are Python or untagged. A last
// block that is not closed runs to the end.
func fences(text string) []string {
	var out []string
	var block []string
	mark, indent, take := "", 0, false
	for _, line := range strings.Split(text, "\n") {
		bare := strings.TrimLeft(line, " \t")
		run := fenceRun(bare)
		switch {
		case mark == "" && run != "":
			tag := strings.Fields(strings.ToLower(bare[len(run):]) + " -")[0]
			if tag == "-" {
				tag = ""
			}
			mark, indent, take, block = run, len(line)-len(bare), pythonTags[strings.Trim(tag, "{}.")], nil
		case mark != "" && run != "" && run[0] == mark[0] && len(run) >= len(mark) && strings.TrimSpace(bare[len(run):]) == "":
			if take {
				out = append(out, strings.Join(block, "\n"))
			}
			mark = ""
		case mark != "":
			block = append(block, cutIndent(line, indent))
		}
	}
	if mark != "" && take {
		out = append(out, strings.Join(block, "\n"))
	}
	return out
}

// fenceRun is the run of three or more back-ticks or tildes at the start of a line.
func fenceRun(s string) string {
	for _, c := range []string{"`", "~"} {
		n := len(s) - len(strings.TrimLeft(s, c))
		if n >= 3 {
			return s[:n]
		}
	}
	return ""
}

func cutIndent(line string, n int) string {
	for n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		line, n = line[1:], n-1
	}
	return line
}

// dedent removes the indentation that all lines with text share.
func dedent(s string) string {
	lines := strings.Split(s, "\n")
	n := -1
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if lead := len(l) - len(strings.TrimLeft(l, " \t")); n < 0 || lead < n {
			n = lead
		}
	}
	if n <= 0 {
		return s
	}
	for i, l := range lines {
		lines[i] = cutIndent(l, n)
	}
	return strings.Join(lines, "\n")
}

// asBody takes text as a function body. Indented text ends where the indentation does;
// other text must hold a return statement of its own and is indented.
func asBody(s string) (string, bool) {
	lines := strings.Split(strings.TrimRight(s, " \t\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return "", false
	}
	indented := lines[0][0] == ' ' || lines[0][0] == '\t'
	returns := false
	for i, l := range lines {
		if indented && l != "" && l[0] != ' ' && l[0] != '\t' {
			lines = lines[:i]
			break
		}
		word := l // at the margin: a method's return is not the body's
		returns = returns || strings.HasPrefix(word, "return") || strings.HasPrefix(word, "yield") || strings.HasPrefix(word, "raise")
		if !indented && strings.TrimSpace(l) != "" {
			lines[i] = "    " + l
		}
	}
	if !indented && !returns {
		return "", false
	}
	return strings.Join(lines, "\n") + "\n", true
}

// under puts a body below the prompt's signature and docstring.
func under(prompt, body string) string {
	return strings.TrimRight(prompt, " \t\n") + "\n" + body
}

var (
	importLine = regexp.MustCompile(`^(import [\w., ]+|from [\w.]+ import .+)$`)
	defLine    = regexp.MustCompile(`^(async )?def \w+ *\(|^class \w+ *[(:]|^@\w`)
	blockLine  = regexp.MustCompile(`^(try *:|if\b.*:)`)
	mainLine   = regexp.MustCompile(`^if\b.*__name__`)
	assignLine = regexp.MustCompile(`^[A-Za-z_][\w.]*( *, *[A-Za-z_]\w*)*( *: *[\w\[\]., |"']+)? *(=|\+=|\|=)[^=]`)
	assignPart = regexp.MustCompile(`^[A-Za-z_]\w*\[[^\]]*\] *=[^=]`)
	tailLine   = regexp.MustCompile(`^(else *:|elif\b|except\b|finally *:)`)
)

// keep drops the top-level statements that are no part of an answer.
func keep(program string) string {
	var out strings.Builder
	keeping := false
	for _, st := range statements(program) {
		head := st
		if i := strings.IndexByte(st, '\n'); i >= 0 {
			head = st[:i]
		}
		code := strings.TrimRight(stripComment(head), " \t")
		switch {
		case tailLine.MatchString(code):
			// Belongs to the statement before it.
		case mainLine.MatchString(code):
			keeping = false
		default:
			keeping = importLine.MatchString(code) || strings.HasPrefix(code, "from ") && strings.HasSuffix(code, "(") || defLine.MatchString(code) ||
				blockLine.MatchString(code) || assignLine.MatchString(code+" ") || assignPart.MatchString(code+" ")
		}
		if keeping {
			out.WriteString(st)
		}
	}
	return out.String()
}

func stripComment(line string) string {
	if i := strings.Index(line, " #"); i >= 0 && !strings.ContainsAny(line[:i], `"'`) {
		return line[:i]
	}
	return line
}

// statements cuts a program into its top-level statements, each with the lines below it
// that are indented, inside brackets, inside a triple-quoted string or continued.
func statements(program string) []string {
	var out []string
	var open state
	start := 0
	for at := 0; at < len(program); {
		end := len(program)
		if i := strings.IndexByte(program[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := program[at:end]
		top := open.closed() && line[0] != ' ' && line[0] != '\t' && strings.TrimSpace(line) != "" && line[0] != '#' && line[0] != ')' && line[0] != ']' && line[0] != '}'
		if top && at > start {
			out = append(out, program[start:at])
			start = at
		}
		open.read(line)
		at = end
	}
	if start < len(program) {
		last := program[start:]
		if !strings.HasSuffix(last, "\n") {
			last += "\n"
		}
		out = append(out, last)
	}
	return out
}

// state tracks what a line of Python leaves open.
type state struct {
	depth     int
	quote     string // the triple quote that is open, or ""
	continued bool
}

func (s *state) closed() bool { return s.depth == 0 && s.quote == "" && !s.continued }

// read follows one line.
func (s *state) read(line string) {
	s.continued = false
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case s.quote != "":
			if strings.HasPrefix(rest, `\`) {
				i += 2
				continue
			}
			if strings.HasPrefix(rest, s.quote) {
				i += 3
				s.quote = ""
				continue
			}
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, `'''`):
			s.quote = rest[:3]
			i += 3
			continue
		case rest[0] == '#':
			return
		case rest[0] == '"' || rest[0] == '\'':
			i += 1 + stringEnd(rest[1:], rest[0])
			continue
		case strings.IndexByte("([{", rest[0]) >= 0:
			s.depth++
		case strings.IndexByte(")]}", rest[0]) >= 0:
			s.depth = max(0, s.depth-1)
		case rest == "\\\n":
			s.continued = true
		}
		i++
	}
}

// stringEnd is how many bytes a one-line string still has, its closing quote included.
func stringEnd(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(s)
}
