package answer

import (
	"math/big"
	"strings"
)

// maxDigits bounds the digits of a number that is taken as an answer: longer runs are
// the output of a broken server, and exact arithmetic on them would be slow.
const maxDigits = 60

// Number is one number of a text.
type Number struct {
	Value      *big.Rat
	Start, End int // bytes of the normalised text, sign and currency included
}

// scan reads the number whose first digit (or leading point) is at i of normalised text.
// It returns a nil Value and the end of the digits for what is no usable number.
func scan(s string, i int) Number {
	value, end, plain := unsigned(s, i)
	if value == nil {
		return Number{End: end}
	}
	start, negative, paren := before(s, i)
	value, end = fractionOf(s, value, end, plain, paren)
	value, end = multiplied(s, value, end)
	if negative {
		value.Neg(value)
	}
	return Number{Value: value, Start: start, End: end}
}

// unsigned reads digits with commas, decimals and an exponent. plain is true when there
// were digits only.
func unsigned(s string, i int) (value *big.Rat, end int, plain bool) {
	var digits strings.Builder
	plain = true
	j := i
	for j < len(s) && (isDigit(rune(s[j])) || s[j] == ',' && j > i && digitAt(s, j+1)) {
		if s[j] != ',' {
			digits.WriteByte(s[j])
		} else {
			plain = false
		}
		j++
	}
	if j < len(s) && s[j] == '.' && digitAt(s, j+1) {
		plain = false
		digits.WriteByte('.')
		for j++; j < len(s) && isDigit(rune(s[j])); j++ {
			digits.WriteByte(s[j])
		}
	}
	if digits.Len() > maxDigits {
		return nil, j, false
	}
	if exp, n := exponent(s[j:]); n > 0 {
		plain = false
		digits.WriteString(exp)
		j += n
	}
	text := digits.String()
	if strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, j, false
	}
	return value, j, plain
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && isDigit(rune(s[i])) }

func letterAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] >= 0x80)
}

// exponent reads e or E, a sign and one or two digits that nothing alphanumeric follows.
func exponent(s string) (text string, n int) {
	if s == "" || s[0]|0x20 != 'e' {
		return "", 0
	}
	j := 1
	if j < len(s) && (s[j] == '+' || s[j] == '-') {
		j++
	}
	from := j
	for j < len(s) && isDigit(rune(s[j])) {
		j++
	}
	if j == from || j-from > 2 || letterAt(s, j) {
		return "", 0
	}
	return s[:j], j
}

var currencies = []string{"$", "€", "£", "¥", "₹"}

// before looks at what precedes the digits: currency, sign and an opening bracket. A
// hyphen right after a letter, a digit, a closing bracket or a per cent sign is a range
// or a subtraction, not a sign.
func before(s string, i int) (start int, negative, paren bool) {
	start = i
	j := skipCurrency(s, i)
	if j > 0 && s[j-1] == '(' {
		paren = true
		j = skipCurrency(s, j-1)
	}
	if j > 0 && (s[j-1] == '-' || s[j-1] == '+') {
		k := j - 1
		ranged := k > 0 && (digitAt(s, k-1) || letterAt(s, k-1) || s[k-1] == ')' || s[k-1] == '%')
		if !ranged {
			start, negative = skipCurrency(s, k), s[k] == '-'
			return start, negative, paren
		}
	}
	return start, false, paren
}

func skipCurrency(s string, i int) int {
	j := i
	for j > 0 && s[j-1] == ' ' && j > i-2 {
		j--
	}
	for _, c := range currencies {
		if strings.HasSuffix(s[:j], c) {
			return j - len(c)
		}
	}
	return i
}

// fractionOf extends a number to a/b, (a)/(b) or the mixed a b/c.
func fractionOf(s string, value *big.Rat, end int, plain, paren bool) (*big.Rat, int) {
	if j := end; paren && strings.HasPrefix(s[j:], ")/(") && digitAt(s, j+3) {
		if d, e, _ := unsigned(s, j+3); d != nil && d.Sign() != 0 && strings.HasPrefix(s[e:], ")") {
			return value.Quo(value, d), e + 1
		}
	}
	if j := skipSlash(s, end); j > 0 && digitAt(s, j) {
		if d, e, _ := unsigned(s, j); d != nil && d.Sign() != 0 {
			return value.Quo(value, d), e
		}
	}
	if plain && strings.HasPrefix(s[end:], " ") && digitAt(s, end+1) {
		top, e, ok := unsigned(s, end+1)
		if ok && top != nil && strings.HasPrefix(s[e:], "/") && digitAt(s, e+1) {
			bottom, e2, ok := unsigned(s, e+1)
			if ok && bottom != nil && bottom.Sign() != 0 && top.Cmp(bottom) < 0 {
				return value.Add(value, top.Quo(top, bottom)), e2
			}
		}
	}
	return value, end
}

// skipSlash returns where the denominator starts after "/" or " / ", or 0.
func skipSlash(s string, i int) int {
	if strings.HasPrefix(s[i:], "/") {
		return i + 1
	}
	if strings.HasPrefix(s[i:], " / ") {
		return i + 3
	}
	return 0
}

var multipliers = []struct {
	word   string
	factor int64
}{{"thousand", 1e3}, {"million", 1e6}, {"billion", 1e9}, {"trillion", 1e12}}

// multiplied applies a following thousand, million, billion, trillion or attached k.
func multiplied(s string, value *big.Rat, end int) (*big.Rat, int) {
	times := func(f int64) *big.Rat { return value.Mul(value, new(big.Rat).SetInt64(f)) }
	if end < len(s) && s[end]|0x20 == 'k' && !letterAt(s, end+1) && !digitAt(s, end+1) {
		return times(1e3), end + 1
	}
	j := end
	if j < len(s) && s[j] == ' ' {
		j++
	}
	for _, m := range multipliers {
		if e := j + len(m.word); e <= len(s) && strings.EqualFold(s[j:e], m.word) && !letterAt(s, e) {
			return times(m.factor), e
		}
	}
	return value, end
}

// First returns the first number of normalised text.
func First(s string) (Number, bool) {
	for i := 0; i < len(s); {
		if !starts(s, i) {
			i++
			continue
		}
		n := scan(s, i)
		if n.Value != nil {
			return n, true
		}
		i = max(n.End, i+1)
	}
	return Number{}, false
}

// Last returns the last number of normalised text.
func Last(s string) (Number, bool) {
	var last Number
	found := false
	for i := 0; i < len(s); {
		if !starts(s, i) {
			i++
			continue
		}
		n := scan(s, i)
		if n.Value != nil {
			last, found = n, true
		}
		i = max(n.End, i+1)
	}
	return last, found
}

// starts reports whether a number starts at i: a digit, or a point before a digit that
// no digit precedes.
func starts(s string, i int) bool {
	return isDigit(rune(s[i])) || s[i] == '.' && digitAt(s, i+1) && !digitAt(s, i-1)
}

// Parse reads a gold answer: text that holds one number and nothing else but currency,
// a unit or a full stop.
func Parse(text string) (*big.Rat, bool) {
	n, ok := First(Normal(text))
	if !ok {
		return nil, false
	}
	return n.Value, true
}

// Same reports whether got answers gold: equal as exact numbers, or, when gold is not an
// integer, within one part in a million of it.
func Same(got, gold *big.Rat) bool {
	if got.Cmp(gold) == 0 {
		return true
	}
	if gold.IsInt() {
		return false
	}
	diff := new(big.Rat).Sub(got, gold)
	limit := new(big.Rat).Mul(gold, big.NewRat(1, 1_000_000))
	return diff.Abs(diff).Cmp(limit.Abs(limit)) <= 0
}

// Format writes a number as people do: an integer, a finite decimal, or a fraction.
func Format(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	if n, exact := r.FloatPrec(); exact && n <= 12 {
		return r.FloatString(n)
	}
	return r.RatString()
}
