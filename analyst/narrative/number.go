package narrative

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// quantity is a number with its unit, and how many digits were shown after the point.
type quantity struct {
	v      float64
	unit   string
	digits int
}

// dimension returns what a unit measures and how many base units it has. Base units are
// seconds, bytes, and one.
func dimension(unit string) (dim string, factor float64) {
	switch unit {
	case "s", "sec", "秒":
		return "time", 1
	case "ms", "毫秒":
		return "time", 1e-3
	case "µs", "us", "微秒":
		return "time", 1e-6
	case "min", "分钟":
		return "time", 60
	case "h", "小时":
		return "time", 3600
	case "%":
		return "ratio", 0.01
	case "", "ratio":
		return "ratio", 1
	case "bytes", "B":
		return "bytes", 1
	case "KiB":
		return "bytes", 1 << 10
	case "MiB":
		return "bytes", 1 << 20
	case "GiB":
		return "bytes", 1 << 30
	}
	return unit, 1
}

// numberRE finds a number and the unit behind it. Groups of digits are split by commas or
// by no-break spaces.
var numberRE = regexp.MustCompile(`([−+-]?)(\d{1,3}(?:[,\x{202f}\x{00a0}]\d{3})+|\d+)(\.\d+)?[\s\x{202f}\x{00a0}]*(tok/s|req/s|tokens|J/token|USD/Mtok|GiB|MiB|KiB|bytes|ms|µs|us|min|MHz|毫秒|微秒|分钟|小时|秒|%|W\b|J\b|B\b|h\b|s\b|x\b)?`)

// numbers returns the quantities in a text that are claims: not parts of names, ids or
// percentile labels, which the caller has blanked.
func numbers(text string) []quantity {
	var out []quantity
	for _, m := range numberRE.FindAllStringSubmatch(text, -1) {
		whole := strings.Map(func(r rune) rune {
			if r == ',' || r == '\u202f' || r == '\u00a0' {
				return -1
			}
			return r
		}, m[2])
		v, err := strconv.ParseFloat(whole+m[3], 64)
		if err != nil {
			continue
		}
		if m[1] == "-" || m[1] == "−" {
			v = -v
		}
		unit := m[4]
		if unit == "x" {
			unit = ""
		}
		out = append(out, quantity{v, unit, max(0, len(m[3])-1)})
	}
	return out
}

// follows reports whether a shown number follows from a source: the same dimension, and
// the same value within half a unit of the last digit shown.
func (q quantity) follows(from quantity) bool {
	d1, f1 := dimension(q.unit)
	d2, f2 := dimension(from.unit)
	if d1 != d2 {
		return false
	}
	v := from.v * f2 / f1
	half := 0.5 * math.Pow(10, -float64(q.digits))
	if q.digits == 0 && math.Abs(q.v) >= 1000 && math.Mod(q.v, 10) == 0 {
		half = math.Max(half, math.Abs(q.v)*0.005) // three significant digits of a large number
	}
	return math.Abs(q.v-v) <= half*(1+1e-9)+1e-12
}

// show writes a quantity with three significant digits in a unit that suits it.
func show(v float64, unit string) string {
	switch {
	case unit == "ms" && math.Abs(v) >= 1000:
		v, unit = v/1000, "s"
	case unit == "ms" && v != 0 && math.Abs(v) < 1:
		v, unit = v*1000, "µs"
	case unit == "ratio":
		unit = ""
	}
	s := digits3(v)
	switch unit {
	case "":
		return s
	case "%":
		return s + "%"
	}
	return s + " " + unit
}

// share writes a ratio as a percentage.
func share(v float64) string { return show(100*v, "%") }

func digits3(v float64) string {
	dec := 0
	if a := math.Abs(v); a > 0 && a < 100 {
		dec = min(6, 2-int(math.Floor(math.Log10(a))))
	}
	s := strconv.FormatFloat(v, 'f', dec, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		s = "0"
	}
	return s
}
