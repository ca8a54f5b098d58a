package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/report/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs; run with -update after looking at it:\n%s", name, d)
	}
}

func terminal(t *testing.T, kind reporttest.Kind, o TerminalOptions) string {
	t.Helper()
	run, a := reporttest.Build(t, kind)
	var b bytes.Buffer
	if err := Terminal(&b, run, a, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTerminalGolden(t *testing.T) {
	for _, kind := range reporttest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			golden(t, "terminal-"+string(kind)+".txt", []byte(terminal(t, kind, TerminalOptions{Width: 96})))
		})
	}
	golden(t, "terminal-narrow-ascii.txt", []byte(terminal(t, reporttest.Saturated, TerminalOptions{Width: 60, ASCII: true})))
	golden(t, "terminal-color.txt", []byte(terminal(t, reporttest.Saturated, TerminalOptions{Width: 80, Color: true})))
}

func TestTerminalKeepsToTheWidthAndIsSafe(t *testing.T) {
	for _, kind := range reporttest.Kinds() {
		for _, width := range []int{40, 60, 80, 200} {
			out := terminal(t, kind, TerminalOptions{Width: width})
			for _, l := range strings.Split(out, "\n") {
				if n := utf8.RuneCountInString(l); n > width {
					t.Errorf("%s at %d columns: a line of %d: %q", kind, width, n, l)
				}
			}
			if strings.ContainsAny(out, "\x1b\u202e\r") {
				t.Errorf("%s at %d columns: control characters from outside reach the terminal", kind, width)
			}
			if strings.Contains(out, "NaN") || strings.Contains(out, "Inf") {
				t.Errorf("%s: NaN or Inf is printed", kind)
			}
		}
		ascii := terminal(t, kind, TerminalOptions{Width: 80, ASCII: true})
		for _, r := range ascii {
			if r >= utf8.RuneSelf {
				t.Errorf("%s: %q in plain ASCII output", kind, r)
				break
			}
		}
	}
}

func TestOptionsForFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		why  string
		env  map[string]string
		want TerminalOptions
	}{
		{"a file gets no colour; UTF-8 by LANG", map[string]string{"LANG": "en_GB.UTF-8"}, TerminalOptions{Width: 80}},
		{"LC_ALL wins over LANG", map[string]string{"LC_ALL": "C", "LANG": "en_GB.UTF-8"}, TerminalOptions{Width: 80, ASCII: true}},
		{"no locale means ASCII", nil, TerminalOptions{Width: 80, ASCII: true}},
	} {
		got := OptionsFor(f, func(k string) string { return c.env[k] })
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.why, d)
		}
	}
}
