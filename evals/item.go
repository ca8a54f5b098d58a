package evals

import (
	"context"

	"github.com/inferencebench/inferencebench/archive"
)

// Item is one question with the rule that scores its answer.
type Item struct {
	// ID names the item within its set.
	ID string
	// System is the system message; "" for none.
	System string
	// Prompt is the user message as sent, the demanded answer format included.
	Prompt string
	// Expected is the right answer in words for a reader.
	Expected string
	// Key is the bare answer, such as a number: what a simulated engine has to know.
	Key string
	// Reply is a whole answer that the rule scores as right.
	Reply string
	// MaxTokens is the output limit asked of the server.
	MaxTokens int
	// Tags group items in a report, such as "band-2".
	Tags []string
	// Check scores an answer.
	Check Check
}

// Answer is what a check gets to see of a reply.
type Answer struct {
	// Text is the visible answer: reasoning has been removed.
	Text string
	// Truncated is true when the server stopped at the token limit.
	Truncated bool
}

// Verdict is what a check says.
type Verdict struct {
	// Score is 1 for right, 0 for wrong, between them for partly right; unknown when
	// the answer could not be scored, and then Reason says why.
	Score archive.Opt[float64]
	// Extracted is the answer found; unknown when there was none.
	Extracted archive.Opt[string]
	// Method is the rule that found or judged it.
	Method string
	// Reason is one sentence for a reader: why a wrong answer is wrong, or why there is
	// no score. It is empty when there is nothing to say.
	Reason string
}

// Check scores one item's answers. It is safe for concurrent use and never panics,
// whatever the answer holds.
type Check interface {
	Check(ctx context.Context, a Answer) Verdict
}

// CheckFunc makes a function a Check.
type CheckFunc func(ctx context.Context, a Answer) Verdict

// Check calls f.
func (f CheckFunc) Check(ctx context.Context, a Answer) Verdict { return f(ctx, a) }

func right(v Verdict) Verdict { v.Score = archive.Some(1.0); return v }
func wrong(v Verdict) Verdict { v.Score = archive.Some(0.0); return v }
