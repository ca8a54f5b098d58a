package text

import (
	"slices"
	"strings"
	"testing"
)

func TestTokensJoinToTheText(t *testing.T) {
	for _, s := range []string{
		"", " ", "Hello, world!", "  two  spaces\n\nand 12345 numbers", "naïve café straßenbahnhaltestelle", "\xff\xfe broken", "日本語のテキストです",
		"a\tb", "1,234.50 + 7 = #### 12", "x\xe2\x82",
	} {
		toks := Tokens(s)
		if got := strings.Join(toks, ""); got != s {
			t.Errorf("Tokens(%q) join to %q", s, got)
		}
		for _, tok := range toks {
			if tok == "" {
				t.Errorf("Tokens(%q) has an empty token", s)
			}
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("The quick brown fox, 42 times over.\n")
	f.Add("straßenbahnhaltestellenschild\xff")
	f.Fuzz(func(t *testing.T, s string) {
		toks := Tokens(s)
		if strings.Join(toks, "") != s {
			t.Fatalf("Tokens(%q) do not join to it", s)
		}
		// A reply cut after any token and sent back as history has the same tokens.
		cut := strings.Join(toks[:len(toks)/2], "")
		if again := Tokens(cut); len(again) > len(toks)/2+1 {
			t.Fatalf("Tokens(%q) = %q; want about the first half of %q", cut, again, toks)
		}
	})
}

func TestEnglishCountsLikeARealTokeniser(t *testing.T) {
	toks, _ := Reply(Ask{User: "Tell me about the harbour schedule in winter.", Seed: 1, Max: 2000, Min: 500})
	text := strings.Join(toks, "")
	ratio := float64(len(toks)) / float64(len(strings.Fields(text)))
	if ratio < 1.1 || ratio > 1.6 {
		t.Errorf("%.2f tokens a word; want 1.1-1.6", ratio)
	}
}

func TestReply(t *testing.T) {
	join := func(a Ask) (string, bool) { toks, end := Reply(a); return strings.Join(toks, ""), end }
	ask := Ask{User: "How should I water the tomatoes in my greenhouse?", Seed: 7, Max: 4000}
	one, ended := join(ask)
	if two, _ := join(ask); one != two {
		t.Error("the same question and seed gave two replies")
	}
	if !ended || !strings.Contains(one, "tomatoes") && !strings.Contains(one, "greenhouse") {
		t.Errorf("reply ended = %v and does not speak of the question: %.200q", ended, one)
	}
	ask.Seed = 8
	if other, _ := join(ask); other == one {
		t.Error("another seed gave the same reply")
	}
	for seed := range uint64(50) {
		q := Ask{User: "A ferry takes 18 cars and makes 5 crossings. How many cars?", Seed: seed, Max: 400, Answer: "1,338.5", Right: true}
		text, _ := join(q)
		if !strings.HasSuffix(text, "\n\n#### 1,338.5") {
			t.Fatalf("right answer is missing at the end of %q", text)
		}
		q.Right = false
		if text, _ := join(q); strings.Contains(text, "1338.5\n") || strings.HasSuffix(text, "#### 1,338.5") || !strings.Contains(text, "#### ") {
			t.Fatalf("wrong answer expected, got %q", text)
		}
	}
	toks, ended := Reply(Ask{User: "hi", Max: 10, Endless: true})
	if len(toks) != 10 || ended {
		t.Errorf("endless reply of at most 10 tokens has %d, ended %v", len(toks), ended)
	}
	toks, _ = Reply(Ask{User: "hi", Max: 5000, Min: 900})
	if len(toks) < 900 {
		t.Errorf("reply has %d tokens; at least 900 were asked for", len(toks))
	}
}

func TestAReplyKeepsItsTokensInHistory(t *testing.T) {
	for seed := range uint64(30) {
		toks, _ := Reply(Ask{User: "What is the state of the archive?", Seed: seed, Max: 60})
		if again := Tokens(strings.Join(toks, "")); !slices.Equal(again, toks) {
			t.Fatalf("seed %d: %q came back as %q", seed, toks, again)
		}
	}
}
