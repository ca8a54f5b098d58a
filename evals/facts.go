package evals

import (
	"context"
	"fmt"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/evals/items"
)

// factFormat is the demanded form of a factual answer.
const factFormat = "Answer with the shortest possible answer: one word, one name or one number, and no sentence."

// factMaxTokens leaves room for a model that writes a sentence all the same.
const factMaxTokens = 48

// Facts returns the project's own questions about stable facts, and computed ones for the
// seed. Facts sit at the ceiling for good models: they show a broken server, not a small
// loss.
func Facts(seed uint64) *Set {
	s := &Set{Kind: KindFacts, Name: fmt.Sprintf("own-facts/%d@%d", items.FactsVersion, seed)}
	for _, f := range items.Facts(seed) {
		s.Items = append(s.Items, Item{
			ID:        f.ID,
			Prompt:    f.Question + "\n\n" + factFormat,
			Expected:  strings.Join(f.Answers, " or "),
			Key:       bare(f.Answers[0]),
			Reply:     f.Answers[0],
			MaxTokens: factMaxTokens,
			Check:     factCheck{f},
		})
	}
	return s
}

// bare marks a number as an answer of its own, so that the simulated engine does not show
// the working of a maths problem for it.
func bare(key string) string {
	if strings.Trim(key, "-0123456789.") == "" {
		return "**" + key + "**"
	}
	return key
}

type factCheck struct{ f items.Fact }

// Check looks for an accepted answer as whole words, and for none that is forbidden.
func (c factCheck) Check(_ context.Context, a Answer) Verdict {
	v := Verdict{Method: "whole_words"}
	found, ok := answer.Fact(a.Text, c.f.Answers)
	if !ok {
		v.Reason = "no accepted answer in the reply"
		return wrong(v)
	}
	v.Extracted = archive.Some(found)
	if bad, ok := answer.Fact(a.Text, c.f.Forbidden); ok {
		v.Reason = "names " + bad + " as well"
		return wrong(v)
	}
	return right(v)
}
