package evals

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Example is a worked example for few-shot prompts.
type Example struct{ Question, Answer string }

var calculator = regexp.MustCompile(`<<[^<>]*>>`)

// LoadExamples reads the first k rows of a GSM8K file, such as its training set, as worked
// examples, without their calculator marks. Do not take them from the file that is scored.
func LoadExamples(path string, k int) ([]Example, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("examples: %w", err)
	}
	defer f.Close()
	var out []Example
	enough := errors.New("enough")
	err = eachLine(f, func(_ int, line []byte) error {
		if len(out) >= k {
			return enough
		}
		var row struct{ Question, Answer string }
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("not a JSON object: %w", err)
		}
		if row.Question == "" || !strings.Contains(row.Answer, "####") {
			return errors.New(`needs a question, and an answer with "####"`)
		}
		out = append(out, Example{row.Question, calculator.ReplaceAllString(row.Answer, "")})
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	if len(out) < k {
		return nil, fmt.Errorf("%s: holds %d examples, %d are asked for", path, len(out), k)
	}
	return out, nil
}

// FewShot returns the set with worked examples before each question. The examples are a
// prefix that all items share, so that the run exercises a prefix cache as well; scores
// with and without examples are not comparable, and the name says which it is.
func (s *Set) FewShot(examples []Example) *Set {
	var head strings.Builder
	for _, e := range examples {
		head.WriteString("Question: " + e.Question + "\nAnswer: " + e.Answer + "\n\n")
	}
	out := &Set{Kind: s.Kind, Name: fmt.Sprintf("%s+%dshot", s.Name, len(examples)), Deferred: s.Deferred, Samples: s.Samples, Temperature: s.Temperature}
	for _, it := range s.Items {
		it.Prompt = head.String() + "Question: " + it.Prompt
		out.Items = append(out.Items, it)
	}
	return out
}
