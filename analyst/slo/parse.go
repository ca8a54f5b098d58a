package slo

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// maxLength bounds an expression, in bytes.
const maxLength = 4096

// Expr is an objective that was read and checked. It is immutable and safe for concurrent
// use.
type Expr struct {
	source string
	root   condition
	target bool // it asks something of attainment itself
}

// String returns the expression as the user wrote it.
func (e *Expr) String() string { return e.source }

// SyntaxError says what is wrong with an expression, and where.
type SyntaxError struct {
	Source  string // the whole expression
	Column  int    // 1 for the first character
	Message string
}

// Error gives the message, the place and the expression.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("slo %q, column %d: %s", e.Source, e.Column, e.Message)
}

// Parse reads an objective. The error is a [*SyntaxError].
func Parse(source string) (*Expr, error) {
	if len(source) > maxLength {
		return nil, &SyntaxError{source[:40] + "…", maxLength + 1, fmt.Sprintf("longer than %d bytes", maxLength)}
	}
	e := &Expr{source: source}
	var err error
	if pairs.MatchString(source) {
		e.root, err = parsePairs(source)
	} else {
		e.root, err = parseClauses(source)
	}
	if err != nil {
		var at *posError
		if errors.As(err, &at) {
			return nil, &SyntaxError{source, at.pos + 1, at.msg}
		}
		return nil, &SyntaxError{source, 1, err.Error()}
	}
	for c := range comparisons(e.root) {
		for _, r := range c.references() {
			e.target = e.target || r.name == "attainment"
		}
	}
	return e, nil
}

// posError is an error at a rune of the source, counted from 0.
type posError struct {
	pos int
	msg string
}

func (e *posError) Error() string { return e.msg }

func at(n ast.Node, format string, args ...any) error {
	return &posError{n.Location().From, fmt.Sprintf(format, args...)}
}

// pairs matches the form of the vLLM client, such as "ttft:200 tpot:20".
var pairs = regexp.MustCompile(`^\s*[A-Za-z_]\w*\s*:\s*[^\s:,]+([\s,]+[A-Za-z_]\w*\s*:\s*[^\s:,]+)*\s*$`)

var pair = regexp.MustCompile(`([A-Za-z_]\w*)\s*:\s*([^\s:,]+)`)

// parsePairs reads the vLLM form, whose numbers without a unit are milliseconds.
func parsePairs(source string) (condition, error) {
	var all condition
	for _, m := range pair.FindAllStringSubmatchIndex(source, -1) {
		name, value := source[m[2]:m[3]], source[m[4]:m[5]]
		r, err := resolve(name)
		if err != nil {
			return nil, &posError{m[2], err.Error()}
		}
		if r.dim != seconds || r.stat != "" {
			return nil, &posError{m[2], fmt.Sprintf("%s cannot be limited in the form name:milliseconds; write it as a comparison", name)}
		}
		limit, ok := literal(value)
		if ok && limit.bare {
			limit, ok = literal(value + "ms")
		}
		if !ok || limit.dim != seconds || limit.value <= 0 {
			return nil, &posError{m[4], fmt.Sprintf("%q is not a positive number of milliseconds", value)}
		}
		all = and(all, &comparison{op: "<=", left: ref{r}, right: limit, text: name + " <= " + limit.text})
	}
	return all, nil
}

// parseClauses reads comma-separated expressions.
func parseClauses(source string) (condition, error) {
	runes := []rune(source)
	var all condition
	for from := 0; from <= len(runes); {
		to := from
		for to < len(runes) && runes[to] != ',' {
			to++
		}
		c, err := parseClause(runes, from, to)
		if err != nil {
			return nil, err
		}
		all = and(all, c)
		from = to + 1
	}
	return all, nil
}

// parseClause reads runes[from:to]. What lies before is blanked, so that positions are
// those of the whole source; so is every literal with a unit, which expr-lang does not
// know, replaced by a name of the same length.
func parseClause(runes []rune, from, to int) (condition, error) {
	if strings.TrimSpace(string(runes[from:to])) == "" {
		return nil, &posError{from, "an objective is missing here; such as ttft_p99 < 500ms"}
	}
	text := make([]rune, to)
	for i := range from {
		text[i] = ' '
	}
	copy(text[from:], runes[from:to])
	b := builder{source: runes, literals: map[int]constant{}}
	for i := from; i < to; {
		n := literalLength(text[i:])
		switch {
		case n > 0 && !(i > from && wordRune(text[i-1])):
			written := string(text[i : i+n])
			c, ok := literal(written)
			if !ok {
				return nil, &posError{i, fmt.Sprintf("%q is not a number with a unit; the units are ns us ms s m h and %%", written)}
			}
			b.literals[i] = c
			for j := range n {
				text[i+j] = 'u'
			}
			i += n
		case wordRune(text[i]):
			for i < to && wordRune(text[i]) {
				i++
			}
		default:
			i++
		}
	}
	tree, err := parser.Parse(string(text))
	if err != nil {
		var located *file.Error
		if errors.As(err, &located) {
			return nil, &posError{min(located.From, to), plain(located.Message)}
		}
		return nil, err
	}
	return b.condition(tree.Node)
}

// plain turns a message of the parser, which speaks of tokens, into the words of this
// package.
func plain(message string) string {
	if strings.HasPrefix(message, "unexpected token EOF") {
		return "the expression ends too early"
	}
	if what, ok := strings.CutPrefix(message, "unexpected token "); ok {
		if _, quoted, ok := strings.Cut(what, `("`); ok {
			what, _, _ = strings.Cut(quoted, `")`)
		}
		return fmt.Sprintf("unexpected %q", what)
	}
	return message
}

// wordRune reports a rune that may be inside a name.
func wordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
