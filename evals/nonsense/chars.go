package nonsense

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxBad = 0.005
	// One replacement character may be the model's own; two inside a text are damage.
	minUndecodable = 2
	minScript      = 100 // characters
	maxForeign     = 0.10
	maxAskedWith   = 0.01
)

// badChars flags characters that no language uses. One that is cut off at the very end by
// the token limit is the server's unit, not damage.
func badChars(text string, r Reply) (Flag, bool) {
	if r.Finish == "length" {
		text = strings.TrimSuffix(text, "\ufffd")
		if c, n := utf8.DecodeLastRuneInString(text); c == utf8.RuneError && n == 1 {
			text = text[:len(text)-1]
		}
	}
	bad, total, undecodable := 0, 0, 0
	for i, c := range text {
		total++
		switch {
		case c == utf8.RuneError:
			bad++
			undecodable++
		case c == '\n' || c == '\t' || c == '\r' || c == '\ufeff' && i == 0:
		case !unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cf):
			bad++
		}
	}
	if undecodable < minUndecodable && float64(bad) <= maxBad*float64(total) {
		return Flag{}, false
	}
	return Flag{Rule: BadChars, Message: fmt.Sprintf("%d of %d characters are undecodable, control or unassigned ones", bad, total)}, true
}

// scripts are told apart as a reader would: the three of Japanese are one.
var scripts = []struct {
	name   string
	tables []*unicode.RangeTable
}{
	{"Latin", []*unicode.RangeTable{unicode.Latin}},
	{"Han or kana", []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo}},
	{"Cyrillic", []*unicode.RangeTable{unicode.Cyrillic}},
	{"Greek", []*unicode.RangeTable{unicode.Greek}},
	{"Hangul", []*unicode.RangeTable{unicode.Hangul}},
	{"Arabic", []*unicode.RangeTable{unicode.Arabic}},
	{"Hebrew", []*unicode.RangeTable{unicode.Hebrew}},
	{"Devanagari", []*unicode.RangeTable{unicode.Devanagari}},
	{"Thai", []*unicode.RangeTable{unicode.Thai}},
}

// scriptShares counts letters by script; the last entry is all others.
func scriptShares(text string) (counts []int, total int) {
	counts = make([]int, len(scripts)+1)
	for _, c := range text {
		if c < 0x80 {
			if c|0x20 >= 'a' && c|0x20 <= 'z' {
				counts[0]++
				total++
			}
			continue
		}
		if !unicode.IsLetter(c) && !unicode.Is(unicode.M, c) {
			continue
		}
		total++
		at := len(scripts)
		for i, s := range scripts {
			if unicode.In(c, s.tables...) {
				at = i
				break
			}
		}
		counts[at]++
	}
	return counts, total
}

// languageWords in a prompt ask for another script.
var languageWords = []string{"translat", "chinese", "japanese", "korean", "russian", "ukrainian", "greek", "arabic", "hebrew", "hindi", "thai", "mandarin", "language", "script", "alphabet", "unicode", "persian", "urdu", "bulgarian", "serbian", "kanji"}

// scriptDrift flags letters of scripts that do not belong: at least three scripts with a
// share each; an end in another script than the beginning; or, when the prompt is known,
// more than a tenth of letters from scripts that it neither uses nor asks for.
func scriptDrift(text string, r Reply) (Flag, bool) {
	if utf8.RuneCountInString(text) < minScript {
		return Flag{}, false
	}
	prompt := strings.ToLower(r.Prompt)
	for _, w := range languageWords {
		if strings.Contains(prompt, w) {
			return Flag{}, false
		}
	}
	counts, total := scriptShares(text)
	if total < minScript/2 {
		return Flag{}, false
	}
	present := 0
	for _, n := range counts {
		if float64(n) >= 0.05*float64(total) {
			present++
		}
	}
	if present >= 3 {
		return Flag{Rule: ScriptDrift, Message: fmt.Sprintf("letters of %d scripts are mixed", present)}, true
	}
	if name, ok := lateDrift(text); ok {
		return Flag{Rule: ScriptDrift, Message: "begins in " + name + " letters and ends in others"}, true
	}
	asked, n := scriptShares(r.Prompt)
	if n == 0 {
		return Flag{}, false
	}
	foreign := 0
	for i, c := range counts {
		if float64(asked[i]) < maxAskedWith*float64(n) {
			foreign += c
		}
	}
	if share := float64(foreign) / float64(total); share > maxForeign && float64(asked[0]) > 0.99*float64(n) {
		return Flag{Rule: ScriptDrift, Message: fmt.Sprintf("%.0f %% of the letters are of scripts that the prompt does not use", 100*share)}, true
	}
	return Flag{}, false
}

// lateDrift compares the scripts of the first 40 % with those of the last 30 %.
func lateDrift(text string) (string, bool) {
	a, na := scriptShares(text[:len(text)*4/10])
	b, nb := scriptShares(text[len(text)*7/10:])
	if na < 40 || nb < 20 {
		return "", false
	}
	for i := range scripts {
		if float64(a[i]) >= 0.95*float64(na) && float64(b[i]) <= 0.2*float64(nb) {
			return scripts[i].name, true
		}
	}
	return "", false
}
