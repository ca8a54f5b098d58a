package evals

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/evals/items"
	"github.com/inferencebench/inferencebench/evals/sandbox"
)

// codeFormat is the demanded form of a code answer. No stop sequences are sent with it: a
// model may define a helper after the function.
const codeFormat = "Write the complete function in Python, together with every import and helper that it needs, in one fenced code block. Do not add tests or examples."

// codeMaxTokens is the output limit of a code item.
const codeMaxTokens = 1024

// CodeRunner runs model-written programs; *sandbox.Runner is one.
type CodeRunner interface {
	Run(ctx context.Context, p sandbox.Program) sandbox.Result
}

// codeProblem is one function to write.
type codeProblem struct {
	id, prompt, entry, solution, test string
	tags                              []string
}

// codeItem makes an item. With a nil runner its answers have no score, and why is the
// reason.
func codeItem(p codeProblem, run CodeRunner, why string) Item {
	reply := "```python\n" + strings.TrimRight(p.prompt, " \n") + "\n" + strings.TrimRight(p.solution, "\n") + "\n```"
	return Item{
		ID:        p.id,
		Prompt:    "```python\n" + strings.TrimRight(p.prompt, " \n") + "\n```\n\n" + codeFormat,
		Expected:  "a function " + p.entry + " that passes its tests",
		Key:       "\n" + reply + "\n",
		Reply:     reply,
		MaxTokens: codeMaxTokens,
		Tags:      p.tags,
		Check:     codeCheck{p, run, why},
	}
}

type codeCheck struct {
	p   codeProblem
	run CodeRunner
	why string
}

// Check extracts a program and runs it against the tests.
func (c codeCheck) Check(ctx context.Context, a Answer) Verdict {
	program, method := answer.Code(a.Text, c.p.prompt, c.p.entry)
	v := Verdict{Method: string(method)}
	if method == answer.None {
		v.Reason = "no_code: the answer holds no code for " + c.p.entry
		return wrong(v)
	}
	v.Extracted = archive.Some(program)
	if c.run == nil {
		v.Reason = "not scored: " + c.why
		return v
	}
	res := c.run.Run(ctx, sandbox.Program{
		Prelude: answer.Prelude(c.p.prompt, c.p.entry), Code: program, Test: c.p.test, Entry: c.p.entry,
	})
	v.Reason = string(res.Outcome)
	if res.Detail != "" {
		v.Reason += ": " + res.Detail
	}
	switch res.Outcome {
	case sandbox.Pass:
		v.Reason = ""
		return right(v)
	case sandbox.Infra:
		v.Reason = "not scored: " + v.Reason
		return v
	}
	return wrong(v)
}

// errNoRunner is the reason for unscored code items when none is given.
var errNoRunner = errors.New("code checks are off")

func reasonOff(off error) string {
	if off == nil {
		off = errNoRunner
	}
	return off.Error()
}

// Code returns the project's own code problems, judged by run; see LoadHumanEval for a
// nil run.
func Code(run CodeRunner, off error) (*Set, error) {
	problems, err := items.CodeProblems()
	if err != nil {
		return nil, err
	}
	s := &Set{Kind: KindCode, Name: fmt.Sprintf("own-code/%d", items.CodeVersion), Deferred: true}
	for _, p := range problems {
		s.Items = append(s.Items, codeItem(codeProblem{p.ID, p.Prompt, p.Entry, p.Solution, p.Test, nil}, run, reasonOff(off)))
	}
	return s, nil
}
