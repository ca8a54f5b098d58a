package tasks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Share is the weight of one task kind in a mix.
type Share struct {
	Task   string  // one of [Kinds]
	Weight float64 // relative to the other shares; above 0
}

// DefaultMix is the mix of a general assistant: mostly questions, advice and writing,
// some code, a little of everything else.
func DefaultMix() []Share {
	return []Share{
		{"qa", 22}, {"chat", 20}, {"creative", 14}, {"summarise", 12}, {"code", 8}, {"reasoning", 6},
		{"rag", 4}, {"translate", 4}, {"extract", 4}, {"classify", 3}, {"review", 2}, {"agent", 1},
	}
}

// ParseMix reads a mix such as "chat=3,code=1" or "qa". A kind without a weight has
// weight 1. The error is a *SyntaxError.
func ParseMix(s string) ([]Share, error) {
	var mix []Share
	at := 0
	for _, part := range strings.Split(s, ",") {
		name, num, weighted := strings.Cut(part, "=")
		word := strings.TrimSpace(name)
		here := at + len(name) - len(strings.TrimLeft(name, " "))
		if lookupKind(word) == nil {
			return nil, &SyntaxError{s, here, fmt.Sprintf("no task kind is called %q; there are %s", word, strings.Join(Kinds(), ", "))}
		}
		if slices.ContainsFunc(mix, func(x Share) bool { return x.Task == word }) {
			return nil, &SyntaxError{s, here, fmt.Sprintf("%s is given twice", word)}
		}
		w := 1.0
		if weighted {
			var err error
			w, err = strconv.ParseFloat(strings.TrimSpace(num), 64)
			if err != nil || !(w > 0 && w <= 1e6) {
				return nil, &SyntaxError{s, at + len(name) + 1, fmt.Sprintf("weight %q is not a number above 0", strings.TrimSpace(num))}
			}
		}
		mix = append(mix, Share{word, w})
		at += len(part) + 1
	}
	return mix, nil
}
