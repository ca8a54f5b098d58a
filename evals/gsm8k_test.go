package evals

import (
	"bufio"
	"context"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/evals/answer"
)

func TestLoadGSM8K(t *testing.T) {
	for _, c := range []struct {
		what, file, wantErr string
		items               int
	}{
		{"B123: mark, Windows line ends and blank lines are accepted", "\xef\xbb\xbf" + `{"question":"a\r\nb","answer":"x #### 3"}` + "\r\n\r\n" + `{"question":"c","answer":"#### 1,200"}` + "\r\n", "", 2},
		{"B123: a bad line is named by its number", `{"question":"a","answer":"#### 3"}` + "\n" + `{"question":`, ":2: ", 0},
		{"a row without an answer", `{"question":"a"}`, `:1: needs the fields`, 0},
		{"an answer without hash", `{"question":"a","answer":"3"}`, `:1: the answer has no "####"`, 0},
		{"an answer without a number", "\n\n" + `{"question":"a","answer":"#### none"}`, `:3: no number after "####"`, 0},
		{"an empty file", "\n", "holds no items", 0},
		{"a line over the limit", `{"question":"` + strings.Repeat("a", maxLine), ":1: ", 0},
	} {
		path := filepath.Join(t.TempDir(), "items.jsonl")
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := LoadGSM8K(path)
		if c.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), c.wantErr) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error %v; want %q with the path", c.what, err, c.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		} else if len(s.Items) != c.items {
			t.Errorf("%s: %d items; want %d", c.what, len(s.Items), c.items)
		}
	}
	if _, err := LoadGSM8K("/no/such/file"); err == nil {
		t.Error("a missing file gave no error")
	}
}

func TestGSM8KGold(t *testing.T) {
	path := reference(t, "gsm8k/test.jsonl")
	s, err := LoadGSM8K(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Items) != 1319 {
		t.Fatalf("%d items; want 1319", len(s.Items))
	}
	golds := goldAnswers(t, path)
	for i, it := range s.Items {
		v := it.Check.Check(context.Background(), Answer{Text: golds[i]})
		if score, _ := v.Score.Get(); score != 1 || v.Method != "strict" {
			t.Errorf("%s: the set's own solution scores %v by %s", it.ID, v.Score, v.Method)
		}
	}
}

// TestGSM8KRenderings writes every gold answer of both files in the ways models do.
func TestGSM8KRenderings(t *testing.T) {
	var golds []string
	for _, name := range []string{"gsm8k/test.jsonl", "gsm8k/train.jsonl"} {
		for _, g := range goldAnswers(t, reference(t, name)) {
			golds = append(golds, strings.TrimSpace(g[strings.LastIndex(g, "####")+4:]))
		}
	}
	renderings := map[string]func(g string) string{
		"plain":           func(g string) string { return "The answer is " + g + "." },
		"money":           func(g string) string { return "The answer is " + money(g) + "." },
		"box with {,}":    func(g string) string { return `So $\boxed{` + strings.ReplaceAll(commas(g), ",", "{,}") + `}$` },
		"box with text":   func(g string) string { return `\boxed{\text{` + g + ` apples}}` },
		"bold, next line": func(g string) string { return "**Final Answer:**\n\n**" + g + "**" },
		"x = N":           func(g string) string { return "Answer: x = " + g },
		"think block":     func(g string) string { return "<think>It may be 77. #### 78</think>The answer is " + g },
		"injected opener": func(g string) string { return "maybe 77 \\boxed{78}</think>\nAnswer: " + g },
		"typographic": func(g string) string {
			return "Answer: " + strings.NewReplacer("-", "−", ",", "\u00a0").Replace(commas(g))
		},
		"hash":             func(g string) string { return "Adding 3 and 4.\n#### " + g },
		"trailing chat":    func(g string) string { return "The answer is " + g + ". Let me know if you have 2 more questions!" },
		"last number":      func(g string) string { return "Altogether it comes to " + g },
		"hash in emphasis": func(g string) string { return "#### **" + money(g) + "**" },
	}
	for what, render := range renderings {
		bad := 0
		for _, g := range golds {
			gold, ok := answer.Parse(g)
			if !ok {
				t.Fatalf("gold %q is no number", g)
			}
			text, _ := answer.Visible(render(g))
			if got, _ := answer.Extract(text); got == nil || !answer.Same(got, gold) {
				if bad++; bad <= 3 {
					t.Logf("%s: %q is read as %v", what, text, got)
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d of %d wrong", what, bad, len(golds))
		}
	}
}

// TestLabelledSolutions compares our verdict with the labels that the authors of GSM8K
// gave to model answers.
func TestLabelledSolutions(t *testing.T) {
	f, err := os.Open(reference(t, "gsm8k/example_model_solutions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type labelled struct {
		Correct  bool   `json:"is_correct"`
		Solution string `json:"solution"`
	}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	seen, unlike := 0, 0
	for sc.Scan() {
		row := map[string]json.RawMessage{}
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		var truth string
		if err := json.Unmarshal(row["ground_truth"], &truth); err != nil {
			t.Fatal(err)
		}
		gold, ok := answer.Parse(truth[strings.LastIndex(truth, "A:")+2:])
		if !ok {
			t.Fatalf("no gold in %q", truth)
		}
		for _, name := range []string{"6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"} {
			var l labelled
			if err := json.Unmarshal(row[name], &l); err != nil {
				t.Fatal(err)
			}
			seen++
			v := numberCheck{new(big.Rat).Set(gold)}.Check(context.Background(), Answer{Text: l.Solution})
			if score, _ := v.Score.Get(); (score == 1) != l.Correct {
				if unlike++; unlike <= 5 {
					t.Logf("label %v, score %v (%s), gold %v: …%q", l.Correct, score, v.Method, gold, l.Solution[max(0, len(l.Solution)-80):])
				}
			}
		}
	}
	if seen != 5276 || unlike > 0 {
		t.Errorf("%d answers seen, %d verdicts unlike the label; want 5276 and 0", seen, unlike)
	}
}

func goldAnswers(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	err = eachLine(f, func(_ int, line []byte) error {
		var row struct{ Answer string }
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		out = append(out, row.Answer)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// commas groups the digits of an integer by thousands.
func commas(g string) string {
	g = strings.ReplaceAll(g, ",", "")
	sign := ""
	if strings.HasPrefix(g, "-") {
		sign, g = "-", g[1:]
	}
	for i := len(g) - 3; i > 0; i -= 3 {
		g = g[:i] + "," + g[i:]
	}
	return sign + g
}

func money(g string) string {
	g = commas(g)
	if strings.HasPrefix(g, "-") {
		return "-$" + g[1:] + ".00"
	}
	return "$" + g + ".00"
}

func FuzzGSM8KLine(f *testing.F) {
	f.Add([]byte(`{"question":"a","answer":"x #### 3"}`))
	f.Add([]byte("\xef\xbb\xbf{}\r\n\r\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := LoadGSM8K(path)
		if (s == nil) == (err == nil) {
			t.Errorf("LoadGSM8K gave set %v and error %v", s, err)
		}
	})
}
