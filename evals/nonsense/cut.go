package nonsense

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	minCutText = 80 // characters: shorter replies may be a name or a number
	minCutLine = 40 // characters: shorter last lines may be a heading or a result
)

// cutShort flags a reply that stops where nobody stops, although the server says that the
// model ended it: in an open code block, in open JSON, or in the middle of a sentence.
func cutShort(text, finish string) (Flag, bool) {
	if finish == "length" || finish == "" {
		return Flag{}, false
	}
	text = strings.TrimRight(text, " \n\t")
	flag := func(what string) (Flag, bool) {
		return Flag{Rule: CutShort, Message: "the model stopped " + what, Evidence: tail(text)}, true
	}
	if strings.Count(text, "```")%2 == 1 {
		return flag("inside a code block")
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") && !json.Valid([]byte(text)) && strings.Count(text, "{") > strings.Count(text, "}") {
		return flag("inside a JSON object")
	}
	if strings.HasSuffix(text, "```") || utf8.RuneCountInString(text) < minCutText {
		return Flag{}, false
	}
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if strings.Contains(line, "http") || line != strings.TrimLeft(line, " \t") || utf8.RuneCountInString(line) < minCutLine || listItem(line) {
		return Flag{}, false
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	if last == ',' || last == '-' || last == '(' || unicode.IsLetter(last) && !code(line) {
		return flag("in the middle of a sentence")
	}
	return Flag{}, false
}

// code reports whether the end of a line looks like a program or an equation.
func code(line string) bool {
	line = line[max(0, len(line)-60):]
	return strings.ContainsAny(line, "={}<>|\\_") || strings.Contains(line, "):") || strings.Contains(line, "//")
}
