package evals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func TestFewShot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.jsonl")
	row := `{"question":"Q1?","answer":"It is 48/2=<<48/2=24>>24.\n#### 24"}` + "\n"
	if err := os.WriteFile(path, []byte(row+row), 0o600); err != nil {
		t.Fatal(err)
	}
	ex, err := LoadExamples(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	s := Own(1).FewShot(ex)
	it := s.Items[3]
	if !strings.HasPrefix(it.Prompt, "Question: Q1?\nAnswer: It is 48/2=24.\n#### 24\n\nQuestion: Q1?") || !strings.HasSuffix(s.Name, "+2shot") {
		t.Errorf("%s: prompt %q", s.Name, it.Prompt)
	}
	if key, ok := s.Answer(it.Prompt); !ok || key != it.Key {
		t.Errorf("Answer = %q, %v; want %q", key, ok, it.Key)
	}
	if _, err := LoadExamples(path, 3); err == nil || !strings.Contains(err.Error(), "holds 2 examples") {
		t.Errorf("too few examples: %v", err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadExamples(path, 1); err == nil || !strings.Contains(err.Error(), ":1: ") {
		t.Errorf("a row without fields: %v; want its line", err)
	}
}

func TestSamples(t *testing.T) {
	s := Facts(1)
	s.Samples, s.Temperature = 3, 0.8
	turns := firstTurns(s.Source(2), 9)
	for i, turn := range turns {
		if turn.Item != turns[i/3*3].Item || turn.Temperature != archive.Some(0.8) {
			t.Errorf("turn %d asks %s at %v; want each item three times at 0.8", i, turn.Item, turn.Temperature)
		}
	}
	if turns[0].Item == turns[3].Item {
		t.Error("the second item is the first again")
	}
}

func TestAbout(t *testing.T) {
	for _, k := range Kinds() {
		if a := About(k); !strings.Contains(a, "not") && !strings.Contains(a, "no ") {
			t.Errorf("About(%q) = %q; want what it shows and what it does not", k, a)
		}
	}
	if About("poetry") != "" {
		t.Error("an unknown kind has a description")
	}
}
