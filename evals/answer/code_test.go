package answer

import (
	"strings"
	"testing"
	"time"
)

const codePrompt = "from typing import List\n\ndef f(xs: List[int]) -> int:\n    \"\"\"sum\"\"\"\n"

func TestCode(t *testing.T) {
	for _, c := range []struct {
		what, reply string
		method      Method
		has, lacks  []string
	}{
		{"B103: the prompt's imports come first", "```python\ndef f(xs: List[int]) -> int:\n    return sum(xs)\n```", CodeFence, []string{"from typing import List", "return sum(xs)"}, []string{`"""sum"""`}},
		{"B105: the block that defines the function counts", "```python\nprint(f([1]))\n```\nand\n```python\ndef f(xs): return sum(xs)\n```", CodeFence, []string{"return sum(xs)"}, []string{"print"}},
		{"B105: a body alone goes under the prompt", "    return sum(xs)", CodeBody, []string{`"""sum"""`, "    return sum(xs)"}, nil},
		{"the last of two versions counts", "```python\ndef f(xs): return 1\n```\nBetter:\n```python\ndef f(xs): return 2\n```", CodeFence, []string{"return 2"}, []string{"return 1"}},
		{"a usage block after it does not", "```python\ndef f(xs): return 1\n```\nUse:\n```python\nf([1])\n```", CodeFence, []string{"return 1"}, nil},
		{"a shell block is no Python", "```bash\npip install x\n```\n```python\ndef f(xs): return 1\n```", CodeFence, []string{"return 1"}, []string{"pip"}},
		{"asserts, calls and loops go", "```python\ndef f(xs):\n    return 1\n\nassert f([]) == 2\nprint(f([1]))\nfor i in range(3):\n    f([i])\n```", CodeFence, []string{"return 1"}, []string{"assert", "print", "range(3)"}},
		{"the main block goes", "```python\nimport sys\ndef f(xs):\n    return 1\nif __name__ == \"__main__\":\n    sys.exit(1)\n```", CodeFence, []string{"import sys", "return 1"}, []string{"exit"}},
		{"a helper after the function stays", "```python\ndef f(xs):\n    return g(xs)\n\ndef g(xs):\n    return 1\n```", CodeFence, []string{"def g"}, nil},
		{"constants, classes, decorators, try and if stay", "```python\nimport functools\nLIMIT = 5\nTABLE = {\n    1: 2,\n}\n@functools.cache\ndef g(x):\n    return x\nclass N:\n    pass\ntry:\n    import zlib\nexcept ImportError:\n    zlib = None\nif LIMIT > 3:\n    BIG = True\nelse:\n    BIG = False\ndef f(xs):\n    return 1\n```", CodeFence, []string{"LIMIT = 5", "1: 2", "@functools.cache", "class N", "zlib = None", "BIG = False"}, nil},
		{"a lambda defines", "```python\nf = lambda xs: sum(xs)\n```", CodeFence, []string{"f = lambda"}, nil},
		{"a comparison does not", "```python\nf == 3\n```", None, nil, nil},
		{"an unindented body is indented", "```python\ntotal = sum(xs)\nreturn total\n```", CodeBody, []string{"    return total"}, nil},
		{"an unclosed fence runs to the end", "```python\ndef f(xs):\n    return 1", CodeFence, []string{"return 1"}, nil},
		{"four back-ticks may hold three", "````python\ndef f(xs):\n    \"\"\"\n    ```\n    \"\"\"\n    return 1\n````", CodeFence, []string{"return 1"}, nil},
		{"a fence in a list is dedented", "1. Like so:\n   ```python\n   def f(xs):\n       return 1\n   ```", CodeFence, []string{"def f(xs):\n    return 1"}, nil},
		{"Windows line ends", "```python\r\ndef f(xs):\r\n    return 1\r\n```", CodeFence, []string{"return 1"}, []string{"\r"}},
		{"a class around it does not define the function", "```python\nclass Solution:\n    def f(self, xs):\n        return 1\n```", None, nil, nil},
		{"a docstring with code at the margin is no statement", "```python\ndef f(xs):\n    \"\"\"Text\nfor i in x:\n\"\"\"\n    return 1\nprint(2)\n```", CodeFence, []string{"for i in x", "return 1"}, []string{"print(2)"}},
		{"prose alone is no code", "I would add the numbers.", None, nil, nil},
		{"nothing is no code", "", None, nil, nil},
	} {
		got, method := Code(c.reply, codePrompt, "f")
		if method != c.method {
			t.Errorf("%s: found by %s; want %s:\n%s", c.what, method, c.method, got)
			continue
		}
		for _, w := range c.has {
			if !strings.Contains(got, w) {
				t.Errorf("%s: lacks %q:\n%s", c.what, w, got)
			}
		}
		for _, w := range c.lacks {
			if strings.Contains(got, w) {
				t.Errorf("%s: has %q:\n%s", c.what, w, got)
			}
		}
	}
}

func TestCodeHostile(t *testing.T) {
	for _, unit := range []string{"```\n", "def f(", "\"\"\"", "'", "\\\n", "(\n", "@a\n", "~~~python\ndef f(x):\n", "f = "} {
		text := strings.Repeat(unit, 1_000_000/len(unit))
		start := time.Now()
		Code(text, codePrompt, "f")
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("1 MB of %q took %v", unit, took)
		}
	}
}

func FuzzCode(f *testing.F) {
	f.Add("```python\ndef f(xs):\n    return 1\n```", "f")
	f.Add("    return 1", "f")
	f.Add("~~~\n'''\n\\\n", "")
	f.Fuzz(func(t *testing.T, reply, entry string) {
		program, method := Code(reply, codePrompt, entry)
		if (program == "") != (method == None) && method == None {
			t.Errorf("Code(%q) = %q by %s", reply, program, method)
		}
	})
}
