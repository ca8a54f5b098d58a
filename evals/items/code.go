package items

import (
	_ "embed"
	"fmt"
	"strings"
)

// CodeVersion changes whenever a code problem is added or changed.
const CodeVersion = 1

// Code is one function to write.
type Code struct {
	ID       string
	Entry    string   // the function's name
	Prompt   string   // imports, signature and docstring with an example
	Solution string   // a reference body, indented
	Test     string   // defines check(candidate)
	Mutants  []string // wrong bodies that the test must reject
}

//go:embed code1.txt
var code1 string

//go:embed code2.txt
var code2 string

//go:embed code3.txt
var code3 string

// CodeProblems returns the code problems. The error names the problem whose text is
// malformed; the embedded ones have none, which a test ensures.
func CodeProblems() ([]Code, error) {
	var out []Code
	for _, text := range []string{code1, code2, code3} {
		for _, part := range strings.Split("\n"+text, "\n@ ")[1:] {
			c, err := parseCode(part)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// parseCode reads one problem: the signature, the description, and after lines of "---"
// the body, the examples "arguments => result", and the mutations "old => new" of the body.
func parseCode(text string) (Code, error) {
	signature, rest, _ := strings.Cut(text, "\n")
	name, _, ok := strings.Cut(signature, "(")
	parts := strings.Split(rest, "\n---\n")
	if !ok || len(parts) != 4 {
		return Code{}, fmt.Errorf("code problem %.40q: needs a signature and four parts", signature)
	}
	c := Code{ID: strings.ReplaceAll(name, "_", "-"), Entry: name, Solution: indent(parts[1])}
	var test strings.Builder
	test.WriteString("def check(candidate):\n")
	example := ""
	for _, line := range lines(parts[2]) {
		args, want, ok := strings.Cut(line, " => ")
		if !ok {
			return Code{}, fmt.Errorf("code problem %s: test %q has no result", name, line)
		}
		if example == "" {
			example = fmt.Sprintf("    >>> %s(%s)\n    %s\n", name, args, want)
		}
		fmt.Fprintf(&test, "    r = candidate(%s)\n    assert r == %s and type(r) is type(%s), r\n", args, want, want)
	}
	c.Test = test.String()
	c.Prompt = imports(signature) + "def " + signature + ":\n    \"\"\"" + strings.ReplaceAll(parts[0], "\n", "\n    ") + "\n\n" + example + "    \"\"\"\n"
	for _, line := range lines(parts[3]) {
		from, to, ok := strings.Cut(line, " =>")
		from, to = strings.ReplaceAll(from, `\n`, "\n"), strings.ReplaceAll(strings.TrimPrefix(to, " "), `\n`, "\n")
		if !ok || !strings.Contains(parts[1], from) {
			return Code{}, fmt.Errorf("code problem %s: mutation %q does not fit the body", name, line)
		}
		c.Mutants = append(c.Mutants, indent(strings.Replace(parts[1], from, to, 1)))
	}
	return c, nil
}

func imports(signature string) string {
	var names []string
	for _, n := range []string{"Dict", "List", "Tuple"} {
		if strings.Contains(signature, n+"[") {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "from typing import " + strings.Join(names, ", ") + "\n\n\n"
}

func lines(s string) []string { return strings.Split(strings.Trim(s, "\n"), "\n") }

func indent(body string) string {
	return "    " + strings.ReplaceAll(strings.Trim(body, "\n"), "\n", "\n    ") + "\n"
}
