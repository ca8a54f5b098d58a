package archive

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// maxLine bounds one record: the wire client's guard on one event is 16 MiB, and a reply
// holds many events.
const maxLine = 256 << 20

// Run is a run directory opened for reading. It holds the manifest in memory and streams
// the records, so its memory does not grow with the run. Safe for concurrent use.
type Run struct {
	Dir      string
	Manifest Manifest
	// Problems says what was odd about the directory, such as a missing manifest.
	Problems []Annotation
}

// LineError is a line of a .jsonl file that could not be read. Iteration goes on behind
// it.
type LineError struct {
	File string
	Line int
	// Partial is set for a last line without its end: the run was stopped in the middle
	// of writing it.
	Partial bool
	Err     error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// ErrNotARun is returned by Open for a directory that holds no run.
var ErrNotARun = errors.New("not a run directory (no manifest.json and no requests.jsonl)")

// Open opens a run directory, also one whose run was killed at any moment: such a run has
// State Interrupted, and one that is still being written has State Running.
func Open(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	path := filepath.Join(dir, ManifestFile)
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, serr := os.Stat(filepath.Join(dir, RequestsFile)); serr != nil {
			return nil, fmt.Errorf("%s: %w", dir, ErrNotARun)
		}
		r.Manifest.State = StateInterrupted
		r.Manifest.ID = filepath.Base(dir)
		r.Problems = append(r.Problems, Annotation{Code: "no_manifest", Message: "manifest.json is missing: configuration, server and clock anchor are unknown"})
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("open run: %w", err)
	}
	if err := json.Unmarshal(b, &r.Manifest); err != nil {
		return nil, fmt.Errorf("%s: %w (restore the file, or remove it to read the records alone)", path, err)
	}
	if r.Manifest.Schema > SchemaVersion {
		return nil, fmt.Errorf("%s: written by a newer version (schema %d; this program reads up to %d)", path, r.Manifest.Schema, SchemaVersion)
	}
	if r.Manifest.State == StateRunning && !locked(filepath.Join(dir, RequestsFile)) {
		r.Manifest.State = StateInterrupted
		if r.Manifest.Reason == "" {
			r.Manifest.Reason = "the program was stopped before it could write the end of the run"
		}
	}
	return r, nil
}

// Requests streams requests.jsonl in the order in which requests ended. A bad line yields
// a nil record and a *LineError, and iteration goes on; any other error ends it.
func (r *Run) Requests() iter.Seq2[*Request, error] { return requests(r.Dir) }

// Samples streams series.jsonl, with errors as in Requests.
func (r *Run) Samples() iter.Seq2[*Sample, error] { return lines[Sample](r.Dir, SeriesFile) }

// Events streams events.jsonl, with errors as in Requests.
func (r *Run) Events() iter.Seq2[*Event, error] { return lines[Event](r.Dir, EventsFile) }

// Checkpoints streams checkpoints.jsonl, with errors as in Requests.
func (r *Run) Checkpoints() iter.Seq2[*Checkpoint, error] {
	return lines[Checkpoint](r.Dir, CheckpointsFile)
}

// Analysis reads analysis.json. The error is fs.ErrNotExist when there is none yet.
func (r *Run) Analysis() (*Analysis, error) {
	path := filepath.Join(r.Dir, AnalysisFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	a := new(Analysis)
	if err := json.Unmarshal(b, a); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// lines decodes one record a line. A file that is not there has no records.
func lines[T any](dir, file string) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		f, err := os.Open(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		br := bufio.NewReaderSize(f, 256<<10)
		var buf []byte
		for n := 1; ; n++ {
			line, whole, err := readLine(br, &buf)
			if err != nil && err != io.EOF {
				yield(nil, &LineError{File: file, Line: n, Err: err})
				return
			}
			if len(line) == 0 && err == io.EOF {
				return
			}
			rec := new(T)
			if jerr := json.Unmarshal(line, rec); jerr != nil {
				if !yield(nil, &LineError{File: file, Line: n, Partial: !whole, Err: jerr}) {
					return
				}
			} else if !yield(rec, nil) {
				return
			}
			if err == io.EOF {
				return
			}
		}
	}
}

// readLine returns the next line without its end, and whether the end was there. The
// line is valid until the next call.
func readLine(br *bufio.Reader, buf *[]byte) (line []byte, whole bool, err error) {
	*buf = (*buf)[:0]
	for {
		part, err := br.ReadSlice('\n')
		if err == nil && len(*buf) == 0 {
			return part[:len(part)-1], true, nil
		}
		*buf = append(*buf, part...)
		switch {
		case err == nil:
			return (*buf)[:len(*buf)-1], true, nil
		case len(*buf) > maxLine:
			return nil, false, fmt.Errorf("line is longer than %d MiB", maxLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		default:
			return *buf, false, err
		}
	}
}
