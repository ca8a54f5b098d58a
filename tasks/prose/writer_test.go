package prose

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func writer(seed uint64, l Lang) *Writer { return New(rand.New(rand.NewPCG(seed, 1)), l) }

func TestWriterIsAFunctionOfItsStream(t *testing.T) {
	for _, l := range Langs() {
		for _, b := range Blocks() {
			var texts [2]string
			for i := range texts {
				w := writer(9, l)
				var dst []byte
				for n := range 12 {
					dst = w.AppendPiece(dst, b, n)
				}
				texts[i] = w.Open(b) + string(dst) + w.Close(b)
			}
			if texts[0] != texts[1] {
				t.Errorf("%s in %s: two writers with the same stream differ", b, l)
			}
			if !utf8.ValidString(texts[0]) {
				t.Errorf("%s in %s is not valid UTF-8", b, l)
			}
			for _, slot := range []string{"{role}", "{name}", "{num}", "{small}", "{things}", "{dec}", "{big}", "{clock}", "{year}"} {
				if strings.Contains(texts[0], slot) {
					t.Errorf("%s in %s leaves %s unfilled", b, l, slot)
				}
			}
		}
	}
}

func TestSentencesHardlyEverRepeat(t *testing.T) {
	for _, l := range Langs() {
		w := writer(3, l)
		seen := map[string]int{}
		const n = 5000
		for range n {
			seen[w.Sentence()]++
		}
		if len(seen) < n*95/100 {
			t.Errorf("%s: %d different sentences of %d; want at least 95 %%", l, len(seen), n)
		}
	}
}

func TestSentencesAreWellFormed(t *testing.T) {
	w := writer(4, English)
	for range 2000 {
		s := w.Sentence()
		if c := s[0]; c < 'A' || c > 'Z' {
			t.Fatalf("%q does not start with a capital", s)
		}
		if !strings.HasSuffix(s, ".") || strings.Contains(s, "  ") {
			t.Fatalf("%q is not one sentence", s)
		}
	}
}

func TestEveryTemplateSlotExists(t *testing.T) {
	for _, l := range Langs() {
		g := grammarOf(l)
		for i := range g.fields {
			w := writer(uint64(i), l)
			w.f = &g.fields[i]
			for _, s := range g.sentences {
				if out := w.Expand(s); strings.ContainsAny(out, "{}") {
					t.Errorf("%s: %q leaves %q", l, s, out)
				}
			}
		}
	}
}

func TestSwitchChangesTheField(t *testing.T) {
	w := writer(5, English)
	for range 100 {
		was := w.Topic()
		if w.Switch(); w.Topic() == was {
			t.Fatalf("Switch stays with %s", was)
		}
	}
}
