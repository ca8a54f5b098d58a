package quantity

import (
	"math"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		why  string
		v    float64
		unit string
		want string
	}{
		{"milliseconds below a second stay", 123.456, "ms", "123 ms"},
		{"milliseconds above a second become seconds", 1234, "ms", "1.23 s"},
		{"sub-millisecond becomes microseconds", 0.25, "ms", "250 µs"},
		{"zero keeps its unit", 0, "ms", "0 ms"},
		{"ten minutes and more are minutes", 900, "s", "15 min"},
		{"token rates keep their unit", 12345.6, "tok/s", "12 346 tok/s"},
		{"a ratio has no unit", 0.123456, "", "0.123"},
		{"a percent sign is tight", 99.5, "%", "99.5%"},
		{"bytes are binary", 3 << 30, "bytes", "3 GiB"},
		{"watts take a prefix", 12000, "W", "12 kW"},
		{"trailing zeros go", 2.5, "req/s", "2.5 req/s"},
		{"negative numbers have a real minus", -4, "req/s", "-4 req/s"},
		{"not a number is a dash", math.NaN(), "ms", "- ms"},
	} {
		if got := ASCII(Format(c.v, c.unit)); got != ASCII(c.want) {
			t.Errorf("%s: Format(%v, %q) = %q; want %q", c.why, c.v, c.unit, got, c.want)
		}
	}
}

func TestRangeUsesOneUnit(t *testing.T) {
	if got, want := ASCII(Range(800, 1200, "ms")), "0.8 - 1.2 s"; got != want {
		t.Errorf("Range(800, 1200, ms) = %q; want %q", got, want)
	}
}

func TestGroup(t *testing.T) {
	for in, want := range map[string]string{
		"1234": "1234", "12345": "12 345", "-1234567.25": "-1 234 567.25", "0": "0",
	} {
		if got := ASCII(Group(in)); got != want {
			t.Errorf("Group(%q) = %q; want %q", in, got, want)
		}
	}
}
