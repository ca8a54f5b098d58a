package tasks

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// SyntaxError says what is wrong in a short text such as a length or a mix, and where.
type SyntaxError struct {
	Input  string
	Offset int // bytes from the start of Input
	Msg    string
}

// Error shows the input with the place marked.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%q, column %d: %s", e.Input, e.Offset+1, e.Msg)
}

const lengthForms = `write a number such as 512, or uniform(100,200), normal(500,100), lognormal(6.2,0.9), ` +
	`geometric(2.5), exponential(300), pareto(100,1.5), or preset:chat, each with an optional [min,max] after it`

// ParseLength reads a length: a whole number, a function with its parameters, or a
// preset, each with optional bounds.
//
//	512                       always 512
//	uniform(100,200)          every whole number from 100 to 200
//	normal(500,100)           mean and standard deviation
//	lognormal(6.2,0.9)        mu and sigma of the natural logarithm
//	geometric(2.5)            mean
//	exponential(300)          mean
//	pareto(100,1.5)           smallest value and exponent
//	preset:chat               input or output table of the preset, by use
//	preset:chat.in            the input table, whatever the use
//	lognormal(6.2,0.9)[8,4096]  bounds on every draw
//
// The error is a *SyntaxError.
func ParseLength(s string) (Length, error) {
	fail := func(at int, format string, args ...any) (Length, error) {
		return Length{}, &SyntaxError{s, at, fmt.Sprintf(format, args...)}
	}
	body := strings.TrimRight(s, " ")
	at := len(body) - len(strings.TrimLeft(body, " "))
	if at == len(body) {
		return fail(0, "the length is empty; %s", lengthForms)
	}
	lo, hi := 0, 0
	if strings.HasSuffix(body, "]") {
		i := strings.LastIndexByte(body, '[')
		if i < 0 {
			return fail(len(body)-1, "] without [")
		}
		nums, where, err := numbers(s, body[i+1:len(body)-1], i+1)
		if err != nil {
			return Length{}, err
		}
		if len(nums) != 2 || nums[0] < 1 || nums[1] < nums[0] || nums[1] > maxLength || nums[0] != math.Trunc(nums[0]) || nums[1] != math.Trunc(nums[1]) {
			return fail(where[0], "bounds are two whole numbers from 1 up, the smaller first, such as [8,4096]")
		}
		lo, hi = int(nums[0]), int(nums[1])
		body = strings.TrimRight(body[:i], " ")
	}
	if at >= len(body) {
		return fail(at, "bounds without a length before them; %s", lengthForms)
	}
	l, err := parseShape(s, body, at)
	if err != nil {
		return Length{}, err
	}
	l.min, l.max = max(l.min, lo), bound(l.max, hi)
	l.text = strings.TrimSpace(s)
	return l, nil
}

func parseShape(s, body string, at int) (Length, error) {
	fail := func(at int, format string, args ...any) (Length, error) {
		return Length{}, &SyntaxError{s, at, fmt.Sprintf(format, args...)}
	}
	word := body[at:]
	if name, ok := strings.CutPrefix(word, "preset:"); ok {
		base, side, _ := strings.Cut(name, ".")
		p, ok := LookupPreset(base)
		if !ok {
			return fail(at+7, "no preset is called %q; there are %s", base, strings.Join(PresetNames(), ", "))
		}
		l := Length{shape: shapePreset, preset: p}
		switch side {
		case "":
			return l, nil
		case "in":
			return l.Input(), nil
		case "out":
			return l.Output(), nil
		}
		return fail(at+7+len(base), "a preset's side is .in or .out, not .%s", side)
	}
	if c := word[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		n, err := strconv.Atoi(word)
		if err != nil {
			return fail(at, "%q is not a whole number; %s", word, lengthForms)
		}
		if n < 1 || n > maxLength {
			return fail(at, "%d is not between 1 and %d", n, maxLength)
		}
		return Fixed(n), nil
	}
	name, rest, ok := strings.Cut(word, "(")
	if !ok {
		return fail(at, "%q is not a length; %s", word, lengthForms)
	}
	args, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return fail(len(body), "the closing ) is missing")
	}
	nums, where, err := numbers(s, args, at+len(name)+1)
	if err != nil {
		return Length{}, err
	}
	return shapeOf(name, nums, func(i int, msg string) error {
		if i < 0 {
			return &SyntaxError{s, at, msg}
		}
		return &SyntaxError{s, where[i], msg}
	})
}

// numbers reads comma-separated finite numbers; base is where text starts in s.
func numbers(s, text string, base int) (nums []float64, where []int, err error) {
	for len(nums) < 8 {
		word, rest, more := strings.Cut(text, ",")
		at := base + len(word) - len(strings.TrimLeft(word, " "))
		x, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil, &SyntaxError{s, at, fmt.Sprintf("%q is not a number", strings.TrimSpace(word))}
		}
		nums, where = append(nums, x), append(where, at)
		if !more {
			return nums, where, nil
		}
		base += len(word) + 1
		text = rest
	}
	return nil, nil, &SyntaxError{s, base, "too many numbers"}
}

// shapeOf checks the parameters of a function. bad(i, msg) makes an error that points at
// parameter i, or at the name for a negative i.
func shapeOf(name string, p []float64, bad func(int, string) error) (Length, error) {
	type form struct {
		shape shape
		n     int
		usage string
		ok    func(i int) string
	}
	pos := func(what string, i int) string {
		if !(p[i] > 0) || p[i] > maxLength {
			return fmt.Sprintf("%s is %g; it must be above 0", what, p[i])
		}
		return ""
	}
	forms := map[string]form{
		"uniform": {shapeUniform, 2, "uniform(low,high)", func(i int) string {
			switch {
			case p[i] < 1 || p[i] != math.Trunc(p[i]) || p[i] > maxLength:
				return fmt.Sprintf("%g is not a whole number from 1 to %d", p[i], maxLength)
			case i == 1 && p[1] < p[0]:
				return fmt.Sprintf("high %g is below low %g", p[1], p[0])
			}
			return ""
		}},
		"normal": {shapeNormal, 2, "normal(mean,sd)", func(i int) string { return pos([]string{"the mean", "the standard deviation"}[i], i) }},
		"lognormal": {shapeLognormal, 2, "lognormal(mu,sigma)", func(i int) string {
			if i == 0 && (p[0] < 0 || p[0] > 16) {
				return fmt.Sprintf("mu is %g; it is the mean of the natural logarithm, between 0 and 16 (6.2 is a median of 493 tokens)", p[0])
			}
			if i == 1 && (p[1] <= 0 || p[1] > 5) {
				return fmt.Sprintf("sigma is %g; it must be above 0 and at most 5", p[1])
			}
			return ""
		}},
		"geometric": {shapeGeometric, 1, "geometric(mean)", func(int) string {
			if p[0] < 1 || p[0] > maxLength {
				return fmt.Sprintf("the mean is %g; it must be at least 1", p[0])
			}
			return ""
		}},
		"exponential": {shapeExponential, 1, "exponential(mean)", func(int) string { return pos("the mean", 0) }},
		"pareto":      {shapePareto, 2, "pareto(smallest,exponent)", func(i int) string { return pos([]string{"the smallest value", "the exponent"}[i], i) }},
	}
	f, ok := forms[name]
	if !ok {
		return Length{}, bad(-1, fmt.Sprintf("no distribution is called %q; %s", name, lengthForms))
	}
	if len(p) != f.n {
		return Length{}, bad(-1, fmt.Sprintf("%d numbers given; write %s", len(p), f.usage))
	}
	for i := range p {
		if msg := f.ok(i); msg != "" {
			return Length{}, bad(i, msg)
		}
	}
	l := Length{shape: f.shape, a: p[0]}
	if f.n == 2 {
		l.b = p[1]
	}
	return l, nil
}

// ParsePause reads a think time: "0" or "" for none, a duration such as "5s" for always
// that, or "lognormal(5s,0.6)" for a median and the sigma of the logarithm. The error is
// a *SyntaxError.
func ParsePause(s string) (Pause, error) {
	t := strings.TrimSpace(s)
	if t == "" || t == "0" {
		return Pause{}, nil
	}
	at := strings.Index(s, t)
	med, sigma := t, 0.0
	if args, ok := strings.CutPrefix(t, "lognormal("); ok {
		in, ok := strings.CutSuffix(args, ")")
		if !ok {
			return Pause{}, &SyntaxError{s, at + len(t), "the closing ) is missing"}
		}
		m, sg, ok := strings.Cut(in, ",")
		if !ok {
			return Pause{}, &SyntaxError{s, at, "write lognormal(median,sigma), such as lognormal(5s,0.6)"}
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(sg), 64)
		if err != nil || !(x >= 0 && x <= 3) {
			return Pause{}, &SyntaxError{s, at + len("lognormal(") + len(m) + 1, fmt.Sprintf("sigma %q is not a number from 0 to 3", strings.TrimSpace(sg))}
		}
		med, sigma = strings.TrimSpace(m), x
		at += len("lognormal(")
	}
	d, err := time.ParseDuration(med)
	if err != nil || d < 0 || d > maxPause {
		return Pause{}, &SyntaxError{s, at, fmt.Sprintf("%q is not a duration from 0 to 1h; write 5s or lognormal(5s,0.6)", med)}
	}
	return Pause{Median: d, Sigma: sigma}, nil
}
