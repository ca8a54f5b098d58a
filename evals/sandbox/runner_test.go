//go:build linux

package sandbox

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func newTestRunner(t *testing.T) *Runner {
	t.Helper()
	r, err := New(context.Background(), Options{})
	if err != nil {
		t.Skip(err)
	}
	return r
}

func TestRun(t *testing.T) {
	r := newTestRunner(t)
	for _, c := range []struct {
		what string
		p    Program
		want Outcome
	}{
		{"asserts without a check function", Program{Code: "def f(xs):\n    return sum(xs)\n", Test: "assert f([1, 2]) == 3\n", Entry: "f"}, Pass},
		{"a wrong answer", Program{Code: "def f(xs):\n    return 0\n", Test: "assert f([1, 2]) == 3\n", Entry: "f"}, Wrong},
		{"every plain type goes there and back", Program{
			Code: "def f(x):\n    return x\n", Entry: "f",
			Test: "for v in [None, True, 0, -5, 10**30, 1.5, float('inf'), '', 'é\\ud800', b'\\x00\\xff', [1, [2]], (1, (2,)), {1: 'a', (2, 3): [4]}, {1, 2}, frozenset({3}), 2+3j]:\n    r = f(v)\n    assert r == v and type(r) is type(v), (v, r)\n"}, Pass},
		{"nan keeps its nature", Program{Code: "def f(x):\n    return x\n", Test: "import math\nassert math.isnan(f(float('nan')))\n", Entry: "f"}, Pass},
		{"a function that changes its argument is seen to do so", Program{Code: "def f(xs):\n    xs.sort()\n    return xs\n", Entry: "f",
			Test: "a = [3, 1]\nf(a)\nassert a == [3, 1], 'input changed'\n"}, Wrong},
		{"a function that should change its argument may", Program{Code: "def f(xs):\n    xs.append(1)\n", Entry: "f",
			Test: "a = [3]\nf(a)\nassert a == [3, 1]\n"}, Pass},
		{"an expected exception is an answer", Program{Code: "def f(x):\n    raise ValueError('no')\n", Entry: "f",
			Test: "try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass\n"}, Pass},
		{"an unexpected one is not", Program{Code: "def f(x):\n    return 1 // 0\n", Test: "assert f(1) == 3\n", Entry: "f"}, Exception},
		{"an assertion of the code's own is an exception, not a wrong answer", Program{Code: "def f(x):\n    assert False\n", Test: "assert f(1) == 3\n", Entry: "f"}, Exception},
		{"a result of the wrong type is wrong", Program{Code: "def f(x):\n    return None\n", Test: "assert f(1) < 3\n", Entry: "f"}, Wrong},
		{"code with characters outside ASCII", Program{Code: "def f(x):\n    # 加一\n    return 'é中' * x\n", Test: "assert f(2) == 'é中é中'\n", Entry: "f"}, Pass},
		{"keyword arguments", Program{Code: "def f(a, b=1):\n    return a - b\n", Test: "assert f(5, b=2) == 3\n", Entry: "f"}, Pass},
		{"the test may use the prelude's helpers", Program{Prelude: "def twice(x):\n    return 2 * x\n", Code: "def f(x):\n    return x + x\n", Test: "def check(candidate):\n    assert candidate(4) == twice(4)\n", Entry: "f"}, Pass},
		{"B103: annotations need the prompt's imports", Program{Code: "from typing import List\ndef f(xs: List[int]) -> int:\n    return sum(xs)\n", Test: "assert f([1,2])==3\n", Entry: "f"}, Pass},
		{"code that does not compile", Program{Code: "def f(x:\n", Test: "assert f(1)\n", Entry: "f"}, Syntax},
		{"code without the function", Program{Code: "def g(x):\n    return x\n", Test: "assert f(1)\n", Entry: "f"}, Missing},
		{"a test that never calls proves nothing", Program{Code: "def f(x):\n    return x\n", Test: "pass\n", Entry: "f"}, Infra},
		{"a broken test is not the code's fault", Program{Code: "def f(x):\n    return x\n", Test: "assert undefined_name\n", Entry: "f"}, Infra},
		{"a test that spins on a huge result ends", Program{Code: "def f(x):\n    return 10**18\n", Test: "n = f(1)\nwhile n:\n    n -= 1\n", Entry: "f"}, Timeout},
		{"the random numbers of the test are the same every time", Program{Code: "def f(x):\n    return x\n", Test: "import random\nassert f(random.random()) == 0.8444218515250481\n", Entry: "f"}, Pass},
		{"a megabyte of text comes back", Program{Code: "def f(x):\n    return 'a' * (1 << 20)\n", Test: "assert len(f(1)) == 1 << 20\n", Entry: "f"}, Pass},
		{"sixteen megabytes do not", Program{Code: "def f(x):\n    return 'a' * (1 << 24)\n", Test: "assert len(f(1)) == 1 << 24\n", Entry: "f"}, Output},
	} {
		res := r.Run(context.Background(), c.p)
		if res.Outcome != c.want {
			t.Errorf("%s: %s (%s) %s; want %s", c.what, res.Outcome, res.Detail, res.Output, c.want)
		}
	}
}

// TestManySlowOnes is B107: many right programs that take their time, on few cores.
func TestManySlowOnes(t *testing.T) {
	r := newTestRunner(t)
	var wg sync.WaitGroup
	results := make([]Result, 64)
	for i := range results {
		wg.Go(func() {
			results[i] = r.Run(context.Background(), Program{Code: "import time\ndef f(x):\n    time.sleep(0.3)\n    return x + 1\n", Test: "assert f(2) == 3\n", Entry: "f"})
		})
	}
	wg.Wait()
	for i, res := range results {
		if res.Outcome != Pass {
			t.Errorf("program %d: %s (%s); want pass", i, res.Outcome, res.Detail)
		}
	}
}

func TestCancelled(t *testing.T) {
	r := newTestRunner(t)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	start := time.Now()
	res := r.Run(ctx, Program{Code: "import time\ndef f(x):\n    time.sleep(600)\n", Test: "assert f(2) == 3\n", Entry: "f"})
	if res.Outcome != Infra || time.Since(start) > 20*time.Second {
		t.Errorf("a cancelled run gives %s after %v; want infra at once", res.Outcome, time.Since(start))
	}
}

func TestUnavailable(t *testing.T) {
	_, err := New(context.Background(), Options{Python: "/bin/true"})
	if err == nil || !strings.Contains(err.Error(), "code checks are off") || !strings.Contains(err.Error(), "/bin/true") {
		t.Errorf("New with an interpreter that is none: %v; want the reason and the path", err)
	}
	_, err = New(context.Background(), Options{Python: "/no/python"})
	if err == nil {
		t.Error("New with a missing interpreter gave no error")
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 中":              "plain é 中",
		"a\x1b[2Jb":              `a\u001b[2Jb`,
		"a\nb":                   "a ⏎ b",
		"\u202eabc\u2066":        `\u202eabc\u2066`,
		"\xff":                   `\ufffd`,
		strings.Repeat("x", 500): strings.Repeat("x", maxDetail) + "…",
	} {
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q; want %q", in, got, want)
		}
	}
}

func ExampleSupport_String() {
	fmt.Println(Support{Mode: ModeLandlock, Landlock: 4, Version: "3.11.2", Missing: []string{"namespaces refused: EPERM; inside a container?"}})
	// Output: code checks: landlock, Landlock ABI 4, seccomp, Python 3.11.2 (namespaces refused: EPERM; inside a container?)
}
