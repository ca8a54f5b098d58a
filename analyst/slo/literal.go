package slo

import (
	"math"
	"strconv"
	"strings"
)

// constant is a number of an expression in its base unit.
type constant struct {
	value float64
	dim   dimension
	bare  bool // written without a unit
	text  string
}

// literal reads a number with an optional unit.
func literal(s string) (constant, bool) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµμ%/")
	unit := s[len(digits):]
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return constant{}, false
	}
	c := constant{value: v, text: s}
	switch unit {
	case "":
		c.bare = true
	case "ns":
		c.dim, c.value = seconds, v*1e-9
	case "us", "µs", "μs":
		c.dim, c.value = seconds, v*1e-6
	case "ms":
		c.dim, c.value = seconds, v*1e-3
	case "s":
		c.dim = seconds
	case "m", "min":
		c.dim, c.value = seconds, v*60
	case "h":
		c.dim, c.value = seconds, v*3600
	case "%":
		c.dim, c.value = ratio, v/100
	case "/s", "rps", "qps", "tps":
		c.dim = rate
	default:
		return constant{}, false
	}
	return c, true
}

// literalLength returns the number of runes of the number, with its unit, at the start of
// s; 0 when there is none.
func literalLength(s []rune) int {
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	n := 0
	for digit(n) || n < len(s) && s[n] == '.' && (digit(n+1) || n > 0) {
		n++
	}
	if n == 0 {
		return 0
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		exp := n + 1
		if exp < len(s) && (s[exp] == '+' || s[exp] == '-') {
			exp++
		}
		if digit(exp) {
			for digit(exp) {
				exp++
			}
			n = exp
		}
	}
	if n < len(s) && s[n] == '%' {
		return n + 1
	}
	if n+1 < len(s) && s[n] == '/' && s[n+1] == 's' && (n+2 == len(s) || !wordRune(s[n+2])) {
		return n + 2
	}
	for n < len(s) && (wordRune(s[n]) || s[n] == 'µ' || s[n] == 'μ') {
		n++
	}
	return n
}
