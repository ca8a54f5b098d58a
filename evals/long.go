package evals

import (
	"context"
	"fmt"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/evals/longdoc"
)

const longFormat = "Answer with the seal number or the number alone, and with " + longdoc.NotStated + " if the text does not say it."

const (
	longMaxTokens = 64
	longVersion   = 1
	// charsPerToken is a cautious figure for English text: the documents are a little
	// shorter in tokens than asked, never longer.
	charsPerToken = 3.6
)

// longDepths are where the asked fact stands.
var longDepths = []float64{0.05, 0.25, 0.5, 0.75, 0.95}

// LongDocs returns questions about generated documents of about the given lengths in
// tokens: every kind of question at every depth, so 25 items a length. Each item has a
// document of its own, so that no prefix cache helps; tags name its length and depth.
// Damage to the key-value cache shows as a loss at early depths or long lengths alone.
func LongDocs(seed uint64, tokens ...int) *Set {
	s := &Set{Kind: KindLong, Name: fmt.Sprintf("own-longdoc/%d@%d", longVersion, seed)}
	n := uint64(0)
	for _, length := range tokens {
		for _, ask := range longdoc.Asks() {
			for _, depth := range longDepths {
				n++
				d := longdoc.Write(longdoc.Spec{Seed: seed<<16 + n, Chars: int(float64(length) * charsPerToken), Depth: depth, Ask: ask})
				s.Items = append(s.Items, Item{
					ID:        fmt.Sprintf("longdoc/%d/%s/%.0f", length, ask, 100*depth),
					Prompt:    d.Text + "\n" + d.Question + "\n\n" + longFormat,
					Expected:  d.Answer,
					Key:       bare(d.Answer),
					Reply:     d.Answer,
					MaxTokens: longMaxTokens,
					Tags:      []string{fmt.Sprintf("tokens-%d", length), fmt.Sprintf("depth-%.0f", 100*depth), "ask-" + string(ask)},
					Check:     longCheck{d.Answer, d.Decoys},
				})
			}
		}
	}
	return s
}

type longCheck struct {
	want   string
	decoys []string
}

// Check looks for the answer as whole words and for no other seal of the document.
func (c longCheck) Check(_ context.Context, a Answer) Verdict {
	v := Verdict{Method: "whole_words"}
	for _, d := range c.decoys {
		if strings.Contains(a.Text, d) {
			v.Extracted = archive.Some(d)
			v.Reason = "names the seal of another place or time"
			return wrong(v)
		}
	}
	if _, ok := answer.Fact(a.Text, []string{c.want}); !ok {
		v.Reason = "the answer is not in the reply"
		return wrong(v)
	}
	v.Extracted = archive.Some(c.want)
	return right(v)
}
