package nonsense

import (
	"strings"
	"unicode/utf8"
)

// Reply is what is inspected.
type Reply struct {
	Text      string // the answer
	Reasoning string // reasoning that the server sent apart, or ""
	Finish    string // the server's finish reason, or ""
	Prompt    string // what was asked, or "" when it is not known
}

// Rule names a kind of damage.
type Rule string

// The rules.
const (
	Empty       Rule = "empty"        // no visible character although the model stopped by itself
	TailLoop    Rule = "tail_loop"    // the end repeats with a fixed period
	CharRun     Rule = "char_run"     // ends in a run of ! or ?, as NaN logits give
	BadChars    Rule = "bad_chars"    // replacement, control, private-use or unassigned characters
	ScriptDrift Rule = "script_drift" // letters of scripts that nobody asked for
	TokenSoup   Rule = "token_soup"   // long text without the redundancy of language
	WordSalad   Rule = "word_salad"   // English words in no order
	Repetitive  Rule = "repetitive"   // most of a prose text is copies of itself
	CutShort    Rule = "cut_short"    // stops in mid-sentence, in an open code block or open JSON, without having met a limit
)

// Flag is one finding.
type Flag struct {
	Rule Rule `json:"rule"`
	// Message is one sentence for a reader, with the figure that crossed the limit.
	Message string `json:"message"`
	// Evidence is the end of the offending text, at most 120 bytes.
	Evidence string `json:"evidence,omitempty"`
}

// maxInspect bounds how much of one reply is looked at, from its end.
const maxInspect = 256 << 10

// Inspect applies all rules to a reply and to its reasoning.
func Inspect(r Reply) []Flag {
	var out []Flag
	text := clip(r.Text)
	if r.Finish != "length" && strings.TrimSpace(text) == "" && r.Finish != "tool_calls" {
		return append(out, Flag{Rule: Empty, Message: "the model stopped without a visible character"})
	}
	out = append(out, body(text, r)...)
	if f, ok := cutShort(text, r.Finish); ok {
		out = append(out, f)
	}
	if r.Reasoning != "" {
		for _, f := range body(clip(r.Reasoning), r) {
			f.Message = "in the reasoning: " + f.Message
			out = append(out, f)
		}
	}
	return out
}

// body applies the rules that hold for any text.
func body(text string, r Reply) []Flag {
	var out []Flag
	for _, rule := range []func(string, Reply) (Flag, bool){charRun, tailLoop, badChars, scriptDrift, tokenSoup, wordSalad, repetitive} {
		if f, ok := rule(text, r); ok {
			f.Evidence = tail(text)
			out = append(out, f)
			if f.Rule == CharRun || f.Rule == TailLoop {
				// One loop would trip several of the rules below.
				break
			}
		}
	}
	return out
}

// clip keeps the end of an over-long text, at a character's start.
func clip(s string) string {
	if len(s) <= maxInspect {
		return s
	}
	s = s[len(s)-maxInspect:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// tail is the end of a text as evidence.
func tail(s string) string {
	const most = 120
	if len(s) <= most {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	return strings.ToValidUTF8(s[len(s)-most:], "\ufffd")
}
