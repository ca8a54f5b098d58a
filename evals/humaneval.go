package evals

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxFile bounds an item file after decompression.
const maxFile = 256 << 20

// LoadHumanEval reads a HumanEval file, plain or gzip: one JSON object a line with
// task_id, prompt, entry_point, canonical_solution and test. run judges the programs;
// with a nil run nothing is executed, the score is unknown and off is its reason. The
// real file is at github.com/openai/human-eval; its known defects are left as they are,
// so that scores stay comparable.
func LoadHumanEval(path string, run CodeRunner, off error) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("humaneval file: %w", err)
	}
	defer f.Close()
	in, err := plain(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &Set{Kind: KindCode, Deferred: true}
	sum := sha256.New()
	err = eachLine(io.TeeReader(io.LimitReader(in, maxFile), sum), func(n int, line []byte) error {
		var row struct {
			TaskID   string `json:"task_id"`
			Prompt   string `json:"prompt"`
			Entry    string `json:"entry_point"`
			Solution string `json:"canonical_solution"`
			Test     string `json:"test"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("not a JSON object: %w", err)
		}
		if row.TaskID == "" || row.Prompt == "" || row.Entry == "" || row.Test == "" {
			return errors.New("needs task_id, prompt, entry_point and test; is this a HumanEval file?")
		}
		s.Items = append(s.Items, codeItem(codeProblem{row.TaskID, row.Prompt, row.Entry, row.Solution, row.Test, nil}, run, reasonOff(off)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	if len(s.Items) == 0 {
		return nil, fmt.Errorf("%s: holds no items", path)
	}
	s.Name = fmt.Sprintf("humaneval:%s@%.8x", strings.TrimSuffix(filepath.Base(path), ".gz"), sum.Sum(nil))
	return s, nil
}

// plain undoes gzip where the data is gzip.
func plain(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		return gzip.NewReader(b)
	}
	return b, nil
}
