package answer

import "strings"

var reasoningTags = []string{"think", "thinking", "thought", "reasoning"}

// Visible removes a reply's reasoning: <think>…</think>, and the same with thinking,
// thought and reasoning, in any case. A closing tag without an opening one (chat
// templates put the opening one into the prompt) removes all that precedes it. An
// opening tag that is never closed means that the token budget ran out while the model
// was still reasoning: then there is no answer, and cut is true.
func Visible(text string) (visible string, cut bool) {
	if !strings.Contains(text, "<") {
		return text, false
	}
	var out strings.Builder
	rest, inside := text, false
	for {
		at, end, closing := nextTag(rest)
		if at < 0 {
			if inside {
				return "", true
			}
			out.WriteString(rest)
			return out.String(), false
		}
		switch {
		case closing && inside:
			inside = false
		case closing:
			out.Reset()
		case !inside:
			out.WriteString(rest[:at])
			inside = true
		}
		rest = rest[end:]
	}
}

// nextTag finds the first reasoning tag of s: its bounds, and whether it closes.
func nextTag(s string) (at, end int, closing bool) {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '<')
		if i < 0 {
			return -1, 0, false
		}
		at = from + i
		body := s[at+1:]
		closing = strings.HasPrefix(body, "/")
		if closing {
			body = body[1:]
		}
		for _, name := range reasoningTags {
			if len(body) > len(name) && body[len(name)] == '>' && strings.EqualFold(body[:len(name)], name) {
				return at, len(s) - len(body) + len(name) + 1, closing
			}
		}
		from = at + 1
	}
}
