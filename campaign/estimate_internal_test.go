package campaign

import (
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// wordPieces is a tokenizer that is kinder to whole texts than to their parts, as real
// ones are: the joined text has fewer tokens than its chunks counted one by one. It adds no
// special token.
type wordPieces map[string]int

func (w wordPieces) Count(text string) int { return w[text] }

// TestB32B33Estimates: without usage the joined text is counted once, without special
// tokens, and the count says that it is an estimate.
func TestB32B33Estimates(t *testing.T) {
	tok := wordPieces{"hello world": 2, "The cat sat": 3, "The": 2, " cat": 2, " sat": 2, "": 0}
	for _, tt := range []struct {
		why, text string
		rec       archive.Request
		want      archive.Usage
	}{
		{"B32: no BOS is counted", "hello world", archive.Request{Status: archive.StatusOK},
			archive.Usage{Completion: archive.Some(2), Source: archive.UsageEstimated}},
		{"B33: the joined text once, not chunk by chunk", "The cat sat", archive.Request{Status: archive.StatusOK},
			archive.Usage{Completion: archive.Some(3), Source: archive.UsageEstimated}},
		{"the server's count wins", "hello world",
			archive.Request{Status: archive.StatusOK, Usage: archive.Usage{Completion: archive.Some(7), Source: archive.UsageServer}},
			archive.Usage{Completion: archive.Some(7), Source: archive.UsageServer}},
		{"a failed request has no count", "hello world", archive.Request{Status: archive.StatusFailed}, archive.Usage{}},
	} {
		rec := tt.rec
		rec.Text = tt.text
		estimateUsage(&rec, tok)
		if rec.Usage != tt.want {
			t.Errorf("%s: usage = %+v; want %+v", tt.why, rec.Usage, tt.want)
		}
	}
	rec := archive.Request{Status: archive.StatusOK, Text: "hello world"}
	estimateUsage(&rec, nil)
	if rec.Usage.Completion.Known() {
		t.Errorf("without a tokenizer usage = %+v; want unknown", rec.Usage)
	}
}
