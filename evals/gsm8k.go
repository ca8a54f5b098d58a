package evals

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/inferencebench/inferencebench/evals/answer"
)

// maxLine bounds one line of an item file.
const maxLine = 1 << 20

// maxItems bounds the items of one file.
const maxItems = 200_000

// LoadGSM8K reads a GSM8K file: one JSON object a line with "question" and "answer",
// where the gold answer follows "####" in the answer. A byte order mark, Windows line
// ends and blank lines are accepted. An error names the file and the line. The set's name
// holds the start of the file's SHA-256. The real set is at github.com/openai/grade-school-math.
func LoadGSM8K(path string) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gsm8k file: %w", err)
	}
	defer f.Close()
	s := &Set{Kind: KindMaths}
	sum := sha256.New()
	err = eachLine(io.TeeReader(f, sum), func(n int, line []byte) error {
		var row struct {
			Question *string `json:"question"`
			Answer   *string `json:"answer"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("not a JSON object with question and answer: %w", err)
		}
		if row.Question == nil || row.Answer == nil || strings.TrimSpace(*row.Question) == "" {
			return errors.New(`needs the fields "question" and "answer"; is this a GSM8K file?`)
		}
		i := strings.LastIndex(*row.Answer, "####")
		if i < 0 {
			return errors.New(`the answer has no "####" before its final number`)
		}
		gold, ok := answer.Parse((*row.Answer)[i+4:])
		if !ok {
			return fmt.Errorf(`no number after "####": %.40q`, (*row.Answer)[i+4:])
		}
		s.Items = append(s.Items, mathsItem(fmt.Sprintf("gsm8k/%d", n), strings.TrimSpace(*row.Question), gold))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	if len(s.Items) == 0 {
		return nil, fmt.Errorf("%s: holds no items", path)
	}
	s.Name = fmt.Sprintf("gsm8k:%s@%.8x", filepath.Base(path), sum.Sum(nil))
	return s, nil
}

// lineError is an error at a line; it prints as the part after "file:".
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// eachLine calls f with every line that is not blank, counted from 1.
func eachLine(r io.Reader, f func(n int, line []byte) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	n, items := 0, 0
	for sc.Scan() {
		n++
		line := sc.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if items++; items > maxItems {
			return &lineError{n, fmt.Errorf("more than %d items", maxItems)}
		}
		if err := f(n, line); err != nil {
			return &lineError{n, err}
		}
	}
	if err := sc.Err(); err != nil {
		return &lineError{n + 1, err}
	}
	return nil
}
