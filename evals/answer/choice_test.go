package answer

import "testing"

func TestChoice(t *testing.T) {
	for _, c := range []struct {
		what, reply string
		want        byte
	}{
		{"the letter alone", "B", 'B'},
		{"with a bracket and text", "(C) Oslo", 'C'},
		{"with a full stop", "D.", 'D'},
		{"announced", "I compared them. The answer is **B**.", 'B'},
		{"the last announcement counts", "Answer: A? No. Answer: C", 'C'},
		{"the only one that stands alone", "It must be B because of the harbour", 'B'},
		{"two candidates are none", "Either B or C", 0},
		{"an article is no choice", "A harbour is near", 0},
		{"a letter outside the options is none", "E", 0},
		{"a word is none", "Because", 0},
		{"nothing", "", 0},
		{"option written out", "Option D", 'D'},
	} {
		if got := Choice(c.reply, 4); got != c.want {
			t.Errorf("%s: Choice(%q) = %q; want %q", c.what, c.reply, got, c.want)
		}
	}
}
