package campaign

import (
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks/bpe"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// NoTokenizer is the value of Workload.Tokenizer that says there is none, in words.
const NoTokenizer = "none"

// counter opens the tokenizer of the workload; nil without one.
func (w Workload) counter() (token.Counter, error) {
	if w.Tokenizer == "" || w.Tokenizer == NoTokenizer {
		return nil, nil
	}
	return bpe.Load(w.Tokenizer)
}

// estimateUsage counts the generated tokens of an ok request whose server did not: once,
// over the joined text, without special tokens. Without a tokenizer they stay unknown.
func estimateUsage(rec *archive.Request, c token.Counter) {
	if c == nil || rec.Status != archive.StatusOK || rec.Usage.Completion.Known() {
		return
	}
	rec.Usage.Completion = archive.Some(c.Count(rec.Reasoning) + c.Count(rec.Text))
	rec.Usage.Source = archive.UsageEstimated
}
