package judge

import (
	"context"
	"fmt"
	"strings"
)

// needRight is how many planted pairs a judge has to tell right to be used.
const needRight = 18

// UnfitError means that a judge does not tell good answers from bad ones.
type UnfitError struct {
	Name         string
	Right, Asked int
}

func (e *UnfitError) Error() string {
	return fmt.Sprintf("judge %s tells %d of %d planted pairs right, needs %d: its verdicts are not used; choose a stronger model", e.Name, e.Right, e.Asked, needRight)
}

// Qualify asks the judge about twenty planted pairs of a good and a damaged answer. A nil
// error means that it may be used. A failed call counts as a wrong verdict.
func (j *Judge) Qualify(ctx context.Context) error {
	right := 0
	pairs := planted()
	for i, p := range pairs {
		want := A
		if i%2 == 1 {
			p.A, p.B, want = p.B, p.A, B
		}
		if v, _, err := j.Compare(ctx, p); err == nil && v == want {
			right++
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if right < needRight {
		return &UnfitError{j.Name, right, len(pairs)}
	}
	return nil
}

// planted makes pairs whose A is good and whose B is cut, looped, wrong or beside the
// question.
func planted() []Pair {
	good := []struct{ ask, answer, wrong string }{
		{"What is 17 plus 25?", "17 plus 25 is 42.", "17 plus 25 is 39."},
		{"Name the capital of Norway and one fact about it.", "The capital of Norway is Oslo, which lies at the head of a fjord.", "The capital of Norway is Madrid, which lies on a high plain."},
		{"Why does ice float on water?", "Ice is less dense than liquid water, because its molecules form an open lattice.", "Ice floats because it is heavier than water and pushes it down."},
		{"Give two uses of a lever.", "A lever can lift a heavy stone with little force, and a pair of scissors cuts with two levers.", "A lever is a kind of fruit that grows on trees in the south."},
		{"Summarise: The ferry was late because of fog, and the passengers waited two hours.", "Fog delayed the ferry, and its passengers waited for two hours.", "The ferry was early because of the sun, and nobody waited."},
	}
	var out []Pair
	for i, g := range good {
		for _, bad := range []string{
			g.wrong,
			g.answer[:len(g.answer)/3],
			g.answer[:10] + strings.Repeat(" and the and the", 20),
			good[(i+1)%len(good)].answer,
		} {
			out = append(out, Pair{Prompt: g.ask, Reference: g.answer, A: g.answer, B: bad})
		}
	}
	return out
}
