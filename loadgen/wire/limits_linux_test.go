package wire

import (
	"math"
	"strings"
	"testing"
)

// B57: the limits of this machine are found before a run, not blamed on the server.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		why   string
		conns int
		files uint64
		ports string
		codes string
	}{
		{"enough of both", 1000, 20000, "32768\t60999\n", ""},
		{"the files just do", 1000, 1064, "32768 60999", ""},
		{"too few files", 1000, 1063, "32768 60999", "file_limit"},
		{"no limit of files", 1000, math.MaxUint64, "32768 60999", ""},
		{"the ports just do", 100, 20000, "1000 1099", ""},
		{"too few ports", 101, 20000, "1000 1099", "port_limit"},
		{"too few of both", 5000, 100, "1000 1099", "file_limit port_limit"},
		{"a range that cannot be read is none", 5000, 20000, "what", ""},
	} {
		var codes []string
		for _, a := range append(fileLimit(tt.conns, tt.files), portLimit(tt.conns, tt.ports)...) {
			codes = append(codes, a.Code)
		}
		if got := strings.Join(codes, " "); got != tt.codes {
			t.Errorf("%s: %q; want %q", tt.why, got, tt.codes)
		}
	}
	if got := Limits(1); len(got) != 0 {
		t.Errorf("one connection: %v; want no limit in its way", got)
	}
	if got := Limits(1 << 30); len(got) == 0 {
		t.Error("a thousand million connections: no limit found")
	}
}
