package token

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		about, text string
		low, high   int
	}{
		{"nothing is nothing", "", 0, 0},
		{"a short sentence is about a token a word", "The boats stayed in the harbour until noon.", 8, 11},
		{"a long word is several tokens", "internationalisation", 2, 5},
		{"a long number is several tokens", "1234567890", 4, 6},
		{"a run of spaces is one token", "a                b", 3, 3},
		{"Chinese is less than a token a character", "今天码头上很安静", 5, 8},
		{"a pictograph is two", "🚚", 2, 2},
		{"Russian is more than a token a word", "рыболовная гавань", 5, 10},
	} {
		if got := Estimate(c.text); got < c.low || got > c.high {
			t.Errorf("%s: Estimate(%q) = %d; want %d..%d", c.about, c.text, got, c.low, c.high)
		}
	}
}

func TestCutIsTheLongestPrefixWithin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z]{1,12}[ \n.,]){0,40}`)).Draw(rt, "text")
		limit := rapid.IntRange(-1, 60).Draw(rt, "limit")
		cut := Cut(Estimator, text, limit)
		if !strings.HasPrefix(text, cut) {
			rt.Fatalf("Cut gives %q, which is no prefix", cut)
		}
		if n := Estimate(cut); n > max(limit, 0) {
			rt.Fatalf("Cut to %d gives %d tokens", limit, n)
		}
		if limit > 0 && Estimate(text) <= limit && cut != text {
			rt.Fatalf("Cut shortens a text that is within the limit")
		}
	})
	if got := Cut(Estimator, strings.Repeat("x", 400), 10); len(got) < 20 {
		t.Errorf("a text of one word is cut to %d characters; want some", len(got))
	}
}
