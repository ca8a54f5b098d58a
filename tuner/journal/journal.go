// Package journal keeps a study on disk, so that a study that was killed at any byte goes on
// as if nothing had happened.
//
//	{"journal":"inferencebench-study/1","hash":"…","seed":1,"strategy":"loop","study":{…}}   the header
//	{"n":1,"role":"default","load":{…},"config":{},"source":"default","outcome":"ok",…}      one trial a line
//
// A line is written whole and synced before the study goes on. A last line without its end
// was being written when the program died: it is cut off, and measured again.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/inferencebench/inferencebench/tuner"
)

// Format is what the header's journal field says.
const Format = "inferencebench-study/1"

// maxFile bounds a journal that is read. A trial is a few kilobytes.
const maxFile = 256 << 20

// ErrOther is in the chain of the error for a journal that belongs to another study.
var ErrOther = errors.New("the journal belongs to another study")

// ErrInUse is in the chain of the error for a journal that another process writes.
var ErrInUse = errors.New("the journal is in use by another process")

// Header is the first line.
type Header struct {
	Journal string `json:"journal"`
	// Hash is that of the study, Seed its seed and Strategy the name of its search: all
	// three must be the same for the journal to go on.
	Hash     string      `json:"hash"`
	Seed     uint64      `json:"seed"`
	Strategy string      `json:"strategy"`
	Study    tuner.Study `json:"study"`
}

// NewHeader is the header of a study that is searched by a strategy.
func NewHeader(s tuner.Study, strategy string) (Header, error) {
	hash, err := s.Hash()
	return Header{Journal: Format, Hash: hash, Seed: s.Seed, Strategy: strategy, Study: s}, err
}

// File is an open journal. It is for one goroutine, and locked against other processes.
type File struct {
	f      *os.File
	header Header
	trials []tuner.Trial
	cut    int64
}

// Open opens the journal at path for a study, or starts it. What follows the last whole
// line is cut off. The error is ErrOther where the journal is another study's, ErrInUse
// where another process has it open, and names the line of a trial that cannot be read.
func Open(path string, h Header) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &File{f: f, header: h}
	if err := j.open(path, h); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

func (j *File) open(path string, h Header) error {
	if err := syscall.Flock(int(j.f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("journal %s: %w", path, ErrInUse)
	}
	b, err := io.ReadAll(io.LimitReader(j.f, maxFile+1))
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	got, trials, whole, err := parse(b)
	if err != nil {
		return fmt.Errorf("journal %s: %w", path, err)
	}
	j.cut = int64(len(b) - whole)
	if err := j.f.Truncate(int64(whole)); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if _, err := j.f.Seek(int64(whole), io.SeekStart); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if whole == 0 {
		if err := j.write(h); err != nil {
			return err
		}
		return syncFolder(filepath.Dir(path))
	}
	if got.Hash != h.Hash || got.Strategy != h.Strategy {
		return fmt.Errorf("journal %s: %w (%s); give another folder with --out, or ask the same question again", path, ErrOther, difference(got, h))
	}
	j.header, j.trials = got, trials
	return nil
}

// Read reads a journal without changing it.
func Read(path string) (Header, []tuner.Trial, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, nil, fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Header{}, nil, fmt.Errorf("journal: %w", err)
	}
	h, trials, whole, err := parse(b)
	switch {
	case err != nil:
		return Header{}, nil, fmt.Errorf("journal %s: %w", path, err)
	case whole == 0:
		return Header{}, nil, fmt.Errorf("journal %s: it is empty", path)
	}
	return h, trials, nil
}

// parse reads the whole lines of a journal and returns how many bytes they are.
func parse(b []byte) (h Header, trials []tuner.Trial, whole int, err error) {
	if len(b) > maxFile {
		return h, nil, 0, fmt.Errorf("larger than %d MiB; is it a journal?", maxFile>>20)
	}
	for line := 1; ; line++ {
		n := bytes.IndexByte(b[whole:], '\n')
		if n < 0 {
			return h, trials, whole, nil
		}
		text := b[whole : whole+n]
		if line == 1 {
			if err := json.Unmarshal(text, &h); err != nil || h.Journal != Format {
				return h, nil, 0, fmt.Errorf("line 1: not the header of a journal (%s)", Format)
			}
		} else {
			var t tuner.Trial
			if err := json.Unmarshal(text, &t); err != nil {
				return h, nil, 0, fmt.Errorf("line %d: not a trial: %w", line, err)
			}
			if t.N != len(trials)+1 {
				return h, nil, 0, fmt.Errorf("line %d: trial %d where trial %d is expected", line, t.N, len(trials)+1)
			}
			trials = append(trials, t)
		}
		whole += n + 1
	}
}

// difference says what sets two studies apart, by the names of the fields.
func difference(a, b Header) string {
	if a.Strategy != b.Strategy {
		return fmt.Sprintf("its search is %s, not %s", a.Strategy, b.Strategy)
	}
	var x, y map[string]json.RawMessage
	for s, m := range map[*tuner.Study]*map[string]json.RawMessage{&a.Study: &x, &b.Study: &y} {
		if raw, err := json.Marshal(s); err == nil {
			_ = json.Unmarshal(raw, m)
		}
	}
	for _, name := range []string{"goal", "constraints", "budget", "seed", "protocol", "default", "about", "quality_knobs", "usd_hour", "name"} {
		if !bytes.Equal(x[name], y[name]) {
			return fmt.Sprintf("its %s is %.200s, not %.200s", name, orNone(x[name]), orNone(y[name]))
		}
	}
	return "its hash differs"
}

func orNone(b []byte) string {
	if len(b) == 0 {
		return "not set"
	}
	return string(b)
}

// Trials are the trials so far. The caller must not change them.
func (j *File) Trials() []tuner.Trial { return j.trials }

// Header is the first line.
func (j *File) Header() Header { return j.header }

// Cut is how many bytes of an unfinished line were cut off when the journal was opened.
func (j *File) Cut() int64 { return j.cut }

// Append writes a trial and waits until it is on disk.
func (j *File) Append(t tuner.Trial) error {
	if err := j.write(t); err != nil {
		return err
	}
	j.trials = append(j.trials, t)
	return nil
}

func (j *File) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if _, err := j.f.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// syncFolder makes a new file's name safe.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Close releases the journal.
func (j *File) Close() error { return j.f.Close() }
