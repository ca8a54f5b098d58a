package quality

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/evals"
)

// TestRealEngine evaluates the server at IB_EVAL_URL: scores must exist and be honest,
// however bad the model is. IB_EVAL_ITEMS sets how many items of each kind, and
// IB_EVAL_OUT names a file for the items, to be read through.
func TestRealEngine(t *testing.T) {
	url := os.Getenv("IB_EVAL_URL")
	if url == "" {
		t.Skip("IB_EVAL_URL is not set")
	}
	n, err := strconv.Atoi(os.Getenv("IB_EVAL_ITEMS"))
	if err != nil {
		n = 6
	}
	kinds := []string{evals.KindMaths, evals.KindFacts, evals.KindChoice, evals.KindFormat, evals.KindCode}
	rep, err := Eval(context.Background(), Config{URL: url, Kinds: kinds, GSM8K: os.Getenv("IB_EVAL_GSM8K"), Items: n, MaxTokens: 256, Concurrency: 4, Repeats: 2, Seed: 1, RunCode: true, Note: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := rep.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	if out := os.Getenv("IB_EVAL_OUT"); out != "" {
		if err := WriteItems(out, rep.Checkpoints); err != nil {
			t.Error(err)
		}
	}
	if rep.Failed*4 > rep.Requests || len(rep.Checkpoints) != n*len(kinds) {
		t.Errorf("%d checkpoints, %d failed requests; want %d and at most a quarter failed", len(rep.Checkpoints), rep.Failed, n*len(kinds))
	}
	for _, c := range rep.Checkpoints {
		score, scored := c.Score.Get()
		switch {
		case !scored && !strings.Contains(c.Reason, "not scored"):
			t.Errorf("%s: no score and no reason", c.Item)
		case scored && score == 1 && c.Kind == evals.KindMaths && c.Extracted.Or("") != c.Expected:
			t.Errorf("%s: right with %q, expected %q", c.Item, c.Extracted.Or(""), c.Expected)
		case scored && score == 1 && strings.TrimSpace(c.Reply) == "":
			t.Errorf("%s: an empty reply is right", c.Item)
		}
	}
	if len(rep.Determinism) != 2 || rep.Determinism[0].Replies == 0 || rep.Determinism[1].Replies == 0 {
		t.Errorf("determinism: %+v; want both levels", rep.Determinism)
	}
}
