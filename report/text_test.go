package report

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/inferencebench/inferencebench/report/reporttest"
)

// FuzzText holds what every shown text must keep to, whatever a server sent.
func FuzzText(f *testing.F) {
	f.Add(reporttest.HostileText, 20)
	f.Add("a\r\nb\x00\x9b31m\u2066c\u200f \xff\xfe", 3)
	f.Add(strings.Repeat("é", 300), 17)
	f.Fuzz(func(t *testing.T, s string, width int) {
		for name, got := range map[string]string{"OneLine": OneLine(s), "Visible": Visible(s), "ascii": (&paper{o: TerminalOptions{ASCII: true}}).clean(s)} {
			if !utf8.ValidString(got) {
				t.Errorf("%s(%q) is not UTF-8: %q", name, s, got)
			}
			for _, r := range got {
				allowed := name == "Visible" && (r == '\n' || r == '\t')
				if unicode.IsControl(r) && !allowed || unicode.Is(unicode.Bidi_Control, r) || name == "ascii" && r >= utf8.RuneSelf {
					t.Errorf("%s(%q) keeps %q", name, s, r)
				}
			}
		}
		width = 16 + (width&0x7fffffff)%200
		for _, l := range wrap(OneLine(s), width) {
			if utf8.RuneCountInString(l) > width {
				t.Errorf("wrap to %d leaves a line of %d", width, utf8.RuneCountInString(l))
			}
		}
	})
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{"": "", "the program was stopped": "The program was stopped.", "Done.": "Done.", "a\nb": "A b.", "éa": "Éa."} {
		if got := sentence(in); got != want {
			t.Errorf("sentence(%q) = %q; want %q", in, got, want)
		}
	}
}
