package evals

import (
	"fmt"
	"slices"
	"strings"
)

// Selection says which sets to open.
type Selection struct {
	// Kinds are Kind constants, or "all"; none is KindMaths alone.
	Kinds []string
	// Seed draws the generated sets.
	Seed uint64
	// GSM8K and HumanEval are files of the real sets; "" takes the project's own.
	GSM8K, HumanEval string
	// Runner judges code; with nil, code items have no score and Off is the reason.
	Runner CodeRunner
	Off    error
	// LongTokens are the lengths of long documents, in tokens; none is 2,000.
	LongTokens []int
}

// Kinds lists the kinds that Open knows.
func Kinds() []string {
	return []string{KindMaths, KindCode, KindFacts, KindFormat, KindChoice, KindLong}
}

// Open makes the sets of a selection, in the order of its kinds. The error names an
// unknown kind with the known ones, or the file and line that cannot be read.
func Open(sel Selection) (Mix, error) {
	kinds := sel.Kinds
	switch {
	case len(kinds) == 0:
		kinds = []string{KindMaths}
	case slices.Contains(kinds, "all"):
		kinds = Kinds()
	}
	var out Mix
	for _, k := range kinds {
		s, err := open(k, sel)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func open(kind string, sel Selection) (*Set, error) {
	switch kind {
	case KindMaths:
		if sel.GSM8K != "" {
			return LoadGSM8K(sel.GSM8K)
		}
		return Own(sel.Seed), nil
	case KindCode:
		if sel.HumanEval != "" {
			return LoadHumanEval(sel.HumanEval, sel.Runner, sel.Off)
		}
		return Code(sel.Runner, sel.Off)
	case KindFacts:
		return Facts(sel.Seed), nil
	case KindFormat:
		return Formats()
	case KindChoice:
		return Choices(sel.Seed), nil
	case KindLong:
		if len(sel.LongTokens) == 0 {
			return LongDocs(sel.Seed, 2000), nil
		}
		return LongDocs(sel.Seed, sel.LongTokens...), nil
	}
	return nil, fmt.Errorf("unknown checkpoint kind %.40q: known are %s, and all", kind, strings.Join(Kinds(), ", "))
}
