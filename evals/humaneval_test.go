package evals

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/answer"
	"github.com/inferencebench/inferencebench/evals/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.MaybeInit()
	os.Exit(m.Run())
}

var codeRunner = sync.OnceValues(func() (*sandbox.Runner, error) {
	return sandbox.New(context.Background(), sandbox.Options{})
})

func needRunner(t *testing.T) *sandbox.Runner {
	t.Helper()
	r, err := codeRunner()
	if err != nil {
		t.Skip(err)
	}
	return r
}

// scoreAll runs one reply for each item, as many at once as the runner allows.
func scoreAll(s *Set, reply func(Item) string) []archive.Checkpoint {
	out := make([]archive.Checkpoint, len(s.Items))
	var wg sync.WaitGroup
	for i := range s.Items {
		wg.Go(func() {
			it := s.Items[i]
			out[i] = s.Score(&archive.Request{Item: it.ID, Status: archive.StatusOK, Finish: "stop", Text: reply(it)})
		})
	}
	wg.Wait()
	return out
}

// TestHumanEvalReference puts every reference solution through extraction and sandbox.
func TestHumanEvalReference(t *testing.T) {
	r := needRunner(t)
	s, err := LoadHumanEval(reference(t, "humaneval/HumanEval.jsonl.gz"), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Items) != 164 {
		t.Fatalf("%d problems; want 164", len(s.Items))
	}
	start := time.Now()
	passed := 0
	for _, c := range scoreAll(s, func(it Item) string { return it.Reply }) {
		if score, _ := c.Score.Get(); score == 1 {
			passed++
		} else {
			t.Errorf("%s: score %v: %s", c.Item, c.Score, c.Reason)
		}
	}
	t.Logf("%d of 164 reference solutions pass in %v (%v)", passed, time.Since(start).Round(time.Millisecond), r.Support())
}

// TestHumanEvalForms checks that the forms in which models answer are extracted to a
// program that ends in the reference body.
func TestHumanEvalForms(t *testing.T) {
	path := reference(t, "humaneval/HumanEval.jsonl.gz")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := plain(f)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]struct {
		method answer.Method
		reply  func(prompt, body, entry string) string
	}{
		"whole program in a fence": {answer.CodeFence, func(p, b, _ string) string { return "Here it is:\n```python\n" + p + b + "\n```\nDone." }},
		"function only in a fence": {answer.CodeFence, func(p, b, e string) string {
			return "```py\n" + strings.TrimPrefix(p, answer.Prelude(p, e)) + b + "```"
		}},
		"body in a fence": {answer.CodeBody, func(_, b, _ string) string { return "```\n" + b + "\n```" }},
		"raw completion":  {answer.CodeBody, func(_, b, _ string) string { return b }},
		"unclosed fence":  {answer.CodeFence, func(p, b, _ string) string { return "~~~~python\n" + p + b }},
		"no fence": {answer.CodePlain, func(p, b, _ string) string {
			return "Sure, here's the code:\n\n" + p + b + "\nIt doesn't (normally) fail."
		}},
	}
	seen := 0
	err = eachLine(in, func(_ int, line []byte) error {
		var row struct {
			TaskID   string `json:"task_id"`
			Prompt   string `json:"prompt"`
			Entry    string `json:"entry_point"`
			Solution string `json:"canonical_solution"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		seen++
		for what, form := range forms {
			got, method := answer.Code(form.reply(row.Prompt, row.Solution, row.Entry), row.Prompt, row.Entry)
			if method != form.method {
				t.Errorf("%s as %s: found by %s; want %s", row.TaskID, what, method, form.method)
			}
			if want := strings.Trim(row.Solution, "\n "); !strings.Contains(got, want) {
				t.Errorf("%s as %s: the body is not kept:\n%s", row.TaskID, what, got)
			}
			if prelude := answer.Prelude(row.Prompt, row.Entry); !strings.Contains(got, strings.TrimSpace(prelude)) {
				t.Errorf("%s as %s: the prompt's imports are not kept", row.TaskID, what)
			}
			if strings.Contains(got, "Sure") || strings.Contains(got, "Done.") {
				t.Errorf("%s as %s: prose is kept:\n%s", row.TaskID, what, got)
			}
		}
		return nil
	})
	if err != nil || seen != 164 {
		t.Fatalf("%d rows, %v", seen, err)
	}
}

func TestCodeWithoutRunner(t *testing.T) {
	s := &Set{Kind: KindCode, Items: []Item{codeItem(codeProblem{"a", "def f(x):\n    \"\"\"Double.\"\"\"\n", "f", "    return 2 * x\n", "assert f(1) == 2", nil}, nil, reasonOff(errors.New("no namespaces here")))}}
	got := scoreAll(s, func(it Item) string { return it.Reply })[0]
	if got.Score.Known() || !strings.Contains(got.Reason, "no namespaces here") {
		t.Errorf("without a sandbox the score is %v, reason %q; want none, with the reason", got.Score, got.Reason)
	}
	got = scoreAll(s, func(Item) string { return "I cannot." })[0]
	if score, known := got.Score.Get(); !known || score != 0 {
		t.Errorf("an answer without code scores %v; want 0 without running anything", got.Score)
	}
}
