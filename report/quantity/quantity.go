// Package quantity writes numbers for people: three significant digits, a unit scaled to
// the size of the number, and thousands apart.
//
// Every function is pure and safe for concurrent use.
package quantity

import (
	"math"
	"strconv"
	"strings"
)

// thin is the narrow no-break space that keeps a number and its unit, and groups of
// three digits, together.
const thin = "\u202f"

// Split returns v, given in unit, as a number of three significant digits and the unit
// that suits its size: Split(1234, "ms") is "1.23" and "s". An unknown unit is kept as
// it is. A value that is not finite is "–".
func Split(v float64, unit string) (number, scaled string) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–", unit
	}
	f, u := Scale(v, unit)
	return Digits(v*f, 3), u
}

// Format returns Split joined by a narrow space, or by nothing before a percent sign.
func Format(v float64, unit string) string {
	n, u := Split(v, unit)
	return join(n, u)
}

// Range returns "low – high" with one unit, the one that suits high.
func Range(low, high float64, unit string) string {
	f, u := Scale(math.Max(math.Abs(low), math.Abs(high)), unit)
	return join(Digits(low*f, 3)+" – "+Digits(high*f, 3), u)
}

func join(n, u string) string {
	switch u {
	case "":
		return n
	case "%":
		return n + "%"
	}
	return n + thin + u
}

// Scale returns the factor and the unit in which a value as large as v, given in unit,
// reads well. An axis uses it once, with its largest value.
func Scale(v float64, unit string) (factor float64, scaled string) {
	a := math.Abs(v)
	switch unit {
	case "ratio", "":
		return 1, ""
	case "s":
		return seconds(a, 1)
	case "ms":
		return seconds(a/1e3, 1e-3)
	case "us", "µs":
		return seconds(a/1e6, 1e-6)
	case "ns":
		return seconds(a/1e9, 1e-9)
	case "B", "bytes":
		return binary(a)
	}
	if f, p := metric(a); scalable[unit] {
		return f, p + unit
	}
	return 1, unit
}

// scalable lists the units that take a metric prefix.
var scalable = map[string]bool{"W": true, "J": true, "FLOP/s": true, "B/s": true, "bytes/s": true}

// seconds scales a seconds to a unit of time; base is how many seconds the given unit has.
func seconds(a, base float64) (float64, string) {
	switch {
	case a == 0:
		if base == 1 {
			return 1, "s"
		}
		return base * 1e3, "ms"
	case a < 1e-6:
		return base * 1e9, "ns"
	case a < 1e-3:
		return base * 1e6, "µs"
	case a < 1:
		return base * 1e3, "ms"
	case a < 600:
		return base, "s"
	case a < 2*3600:
		return base / 60, "min"
	}
	return base / 3600, "h"
}

func binary(a float64) (float64, string) {
	f, units := 1.0, []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for a*f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	return f, units[i]
}

func metric(a float64) (float64, string) {
	switch {
	case a >= 1e12:
		return 1e-12, "T"
	case a >= 1e9:
		return 1e-9, "G"
	case a >= 1e6:
		return 1e-6, "M"
	case a >= 1e4:
		return 1e-3, "k"
	}
	return 1, ""
}

// Digits writes v with n significant digits, never in exponent form for magnitudes from
// 1e-4 to 1e15, and groups thousands. Digits before the point are never dropped.
func Digits(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	a := math.Abs(v)
	if a != 0 && (a < 1e-4 || a >= 1e15) {
		return strconv.FormatFloat(v, 'g', n, 64)
	}
	dec := 0
	if a > 0 {
		dec = n - 1 - int(math.Floor(math.Log10(a)))
	}
	if dec < 0 {
		dec = 0
	}
	s := strconv.FormatFloat(v, 'f', dec, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		s = "0"
	}
	return Group(s)
}

// Fixed writes v with dec digits after the point and thousands apart.
func Fixed(v float64, dec int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return Group(strconv.FormatFloat(v, 'f', dec, 64))
}

// Int writes n with thousands apart.
func Int(n int) string { return Group(strconv.Itoa(n)) }

// Group puts a narrow space between groups of three digits before the point, from five
// digits on.
func Group(s string) string {
	sign, rest := "", s
	if strings.HasPrefix(s, "-") {
		sign, rest = "−", s[1:]
	}
	whole, frac, point := strings.Cut(rest, ".")
	if len(whole) > 4 {
		var b strings.Builder
		for i, r := range whole {
			if i > 0 && (len(whole)-i)%3 == 0 {
				b.WriteString(thin)
			}
			b.WriteRune(r)
		}
		whole = b.String()
	}
	if point {
		return sign + whole + "." + frac
	}
	return sign + whole
}

// ASCII replaces the typographic characters that this package writes by plain ones.
func ASCII(s string) string {
	return asciiOf.Replace(s)
}

var asciiOf = strings.NewReplacer(thin, " ", "–", "-", "−", "-", "µ", "u", "≥", ">=", "≤", "<=", "·", "-", "…", "...", "×", "x", "’", "'", "“", `"`, "”", `"`, "→", "->")
