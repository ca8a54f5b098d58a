package evals

import (
	"context"
	"fmt"
	"math/big"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/evals/items"
)

// mathsFormat is the answer format that a zero-shot chat prompt demands. An answer that
// keeps it is extracted by the method "strict".
const mathsFormat = `Work through the problem step by step. Then finish with one last line of the form
#### N
where N is the final answer as a plain number, without a unit.`

// mathsMaxTokens is the output limit of a maths item for models that do not reason at
// length first.
const mathsMaxTokens = 512

// ownEach is how many problems are drawn from each template.
const ownEach = 4

// Own returns the project's own maths problems for a seed: at least 150 of graded
// difficulty, tagged band-1 to band-3. The seed is part of the name.
func Own(seed uint64) *Set {
	s := &Set{Kind: KindMaths, Name: fmt.Sprintf("own-maths/%d@%d", items.MathsVersion, seed)}
	for _, p := range items.Maths(seed, ownEach) {
		it := mathsItem(p.ID, p.Text, p.Answer)
		it.Tags = []string{fmt.Sprintf("band-%d", p.Band)}
		s.Items = append(s.Items, it)
	}
	return s
}

func mathsItem(id, question string, gold *big.Rat) Item {
	text := answer.Format(gold)
	return Item{
		ID:        id,
		Prompt:    question + "\n\n" + mathsFormat,
		Expected:  text,
		Key:       text,
		Reply:     "Worked out step by step, the result is as follows.\n#### " + text,
		MaxTokens: mathsMaxTokens,
		Check:     numberCheck{gold},
	}
}

// numberCheck scores a number by the rules of package answer.
type numberCheck struct{ gold *big.Rat }

// Check extracts and compares.
func (c numberCheck) Check(_ context.Context, a Answer) Verdict {
	got, method := answer.Extract(a.Text)
	v := Verdict{Method: string(method)}
	if got == nil {
		v.Reason = "no number found in the answer"
		return wrong(v)
	}
	v.Extracted = archive.Some(answer.Format(got))
	if !answer.Same(got, c.gold) {
		return wrong(v)
	}
	return right(v)
}
