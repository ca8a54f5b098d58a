package propose

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/inferencebench/inferencebench/tuner"
)

// Log keeps what a model answered at each length of the history. The zero Log keeps it in
// memory. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	file *os.File
	have map[int][]tuner.Proposal
	err  error
}

// entry is one line of the file.
type entry struct {
	Trials    int              `json:"trials"`
	Proposals []tuner.Proposal `json:"proposals"`
}

const maxLine = 256 << 10

// OpenLog opens a log file, made if there is none. A last line that was cut by a kill is
// dropped. Close it at the end.
func OpenLog(path string) (*Log, error) {
	l := &Log{have: map[int][]tuner.Proposal{}}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("log of proposals: %w", err)
	}
	whole := b[:bytes.LastIndexByte(b, '\n')+1]
	sc := bufio.NewScanner(bytes.NewReader(whole))
	sc.Buffer(nil, maxLine)
	for line := 1; sc.Scan(); line++ {
		var e entry
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("log of proposals: %s line %d: %w; delete the file to ask the model again", path, line, err)
		}
		l.have[e.Trials] = e.Proposals
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("log of proposals: %s: %w", path, err)
	}
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, fmt.Errorf("log of proposals: %w", err)
	}
	if err = l.file.Truncate(int64(len(whole))); err == nil {
		_, err = l.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("log of proposals: %w", err), l.file.Close())
	}
	return l, nil
}

func (l *Log) at(trials int) ([]tuner.Proposal, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.have[trials]
	return p, ok
}

func (l *Log) keep(trials int, ps []tuner.Proposal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.have == nil {
		l.have = map[int][]tuner.Proposal{}
	}
	l.have[trials] = ps
	if l.file == nil {
		return
	}
	b, err := json.Marshal(entry{trials, ps})
	if err == nil {
		_, err = l.file.Write(append(b, '\n'))
	}
	l.err = errors.Join(l.err, err)
}

// Close closes the file and returns what went wrong in writing it.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return l.err
	}
	err := errors.Join(l.err, l.file.Close())
	l.file = nil
	return err
}
