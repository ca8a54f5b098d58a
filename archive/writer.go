package archive

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// The files of a run directory.
const (
	ManifestFile    = "manifest.json"
	RequestsFile    = "requests.jsonl"
	SeriesFile      = "series.jsonl"
	EventsFile      = "events.jsonl"
	CheckpointsFile = "checkpoints.jsonl"
	AgentsFile      = "agents.jsonl"
	AnalysisFile    = "analysis.json"
	ReportFile      = "report.html"
)

const (
	// queueLen bounds the records waiting for the writer. At 1,000 requests a second it
	// is eight seconds of a disk that does not answer.
	queueLen = 8192
	// syncEvery is how much of a run a power failure can cost. A killed process costs
	// nothing that the writer had taken from its queue.
	syncEvery = time.Second
)

// ErrExists is returned by Create when the directory already holds a run.
var ErrExists = errors.New("directory already holds a run")

// Writer appends records to a run directory as they happen. Its record methods are safe
// for concurrent use; they hand over the record, which the caller must not change
// afterwards, and wait only when the disk has fallen queueLen records behind.
//
// A write error (a full disk) stops the writing and is kept: what was written before it
// stays readable. Watch Failed to stop the load that nobody can record any more.
type Writer struct {
	dir   string
	queue chan entry
	done  chan struct{}

	failOnce sync.Once
	failed   chan struct{}
	err      error // set before failed is closed

	stalls atomic.Int64
	closed sync.Once
	files  map[string]*appendFile
}

type entry struct {
	file   string
	record any
}

// appendFile is one .jsonl file and the length of its valid part.
type appendFile struct {
	f    *os.File
	w    *bufio.Writer
	good int64 // bytes known to be whole lines
	n    int64 // records
	bad  bool  // a write failed: nothing more goes into this file
}

// Create makes the run directory and its files and writes the manifest with State
// Running. The directory may exist when it is empty. The caller must Close the writer.
func Create(dir string, m Manifest) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err == nil {
		return nil, fmt.Errorf("%s: %w", dir, ErrExists)
	}
	m.Schema = SchemaVersion
	m.State = StateRunning
	if err := writeJSON(filepath.Join(dir, ManifestFile), m); err != nil {
		return nil, err
	}
	w := &Writer{
		dir:    dir,
		queue:  make(chan entry, queueLen),
		done:   make(chan struct{}),
		failed: make(chan struct{}),
		files:  map[string]*appendFile{},
	}
	for _, name := range []string{RequestsFile, SeriesFile, EventsFile, CheckpointsFile, AgentsFile} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
		if err != nil {
			w.closeFiles()
			return nil, fmt.Errorf("run directory: %w", err)
		}
		w.files[name] = &appendFile{f: f, w: bufio.NewWriterSize(f, 64<<10)}
	}
	lockFile(w.files[RequestsFile].f) // best effort: tells readers that the run is alive
	go w.loop()
	return w, nil
}

// Dir returns the run directory.
func (w *Writer) Dir() string { return w.dir }

// Request appends to requests.jsonl.
func (w *Writer) Request(r *Request) { w.put(RequestsFile, r) }

// Event appends to events.jsonl.
func (w *Writer) Event(e Event) { w.put(EventsFile, e) }

// Checkpoint appends to checkpoints.jsonl.
func (w *Writer) Checkpoint(c Checkpoint) { w.put(CheckpointsFile, c) }

// Agent appends one model call of an agent to agents.jsonl. Its type belongs to the agents.
func (w *Writer) Agent(call any) { w.put(AgentsFile, call) }

// Sample appends to series.jsonl. A value that is not a finite number is unknown, so it
// is left out.
func (w *Writer) Sample(s Sample) {
	s.Values = finite(s.Values)
	w.put(SeriesFile, s)
}

// finite returns in without its NaN and infinite values. It copies only when it must.
func finite(in map[string]float64) map[string]float64 {
	bad := func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	for k, v := range in {
		if bad(k, v) {
			out := maps.Clone(in)
			maps.DeleteFunc(out, bad)
			return out
		}
	}
	return in
}

func (w *Writer) put(file string, record any) {
	e := entry{file: file, record: record}
	select {
	case w.queue <- e:
		return
	default:
	}
	w.stalls.Add(1)
	select {
	case w.queue <- e:
	case <-w.failed:
	}
}

// Stalls returns how many records had to wait because the disk had fallen behind.
func (w *Writer) Stalls() int64 { return w.stalls.Load() }

// Failed is closed at the first write error.
func (w *Writer) Failed() <-chan struct{} { return w.failed }

// Err returns the first write error, or nil.
func (w *Writer) Err() error {
	select {
	case <-w.failed:
		return w.err
	default:
		return nil
	}
}

func (w *Writer) fail(err error) {
	w.failOnce.Do(func() {
		w.err = err
		close(w.failed)
	})
}

func (w *Writer) loop() {
	defer close(w.done)
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case e, ok := <-w.queue:
			if !ok {
				w.flush(true)
				return
			}
			w.append(e)
			if len(w.queue) == 0 {
				w.flush(false)
			}
		case <-tick.C:
			w.flush(true)
		}
	}
}

// append writes one line. Records of a file that failed are dropped: it keeps its whole
// lines.
func (w *Writer) append(e entry) {
	a := w.files[e.file]
	if a.bad {
		return
	}
	b, err := json.Marshal(e.record)
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", e.file, err))
		return
	}
	b = append(b, '\n')
	if _, err := a.w.Write(b); err != nil {
		w.broken(e.file, err)
		return
	}
	a.n++
}

// flush hands buffered lines to the operating system and, when hard, to the disk.
func (w *Writer) flush(hard bool) {
	for name, a := range w.files {
		if a.bad {
			continue
		}
		if err := a.w.Flush(); err != nil {
			w.broken(name, err)
			continue
		}
		if off, err := a.f.Seek(0, io.SeekCurrent); err == nil {
			a.good = off
		}
		if hard {
			if err := a.f.Sync(); err != nil {
				w.broken(name, err)
			}
		}
	}
}

// broken records a write error and cuts the file back to its last whole flush, so that
// it does not end in half a line.
func (w *Writer) broken(name string, err error) {
	a := w.files[name]
	a.bad = true
	_ = a.f.Truncate(a.good)
	if pe, ok := errors.AsType[*fs.PathError](err); ok { // it names the file too
		err = pe.Err
	}
	w.fail(fmt.Errorf("write %s: %w", filepath.Join(w.dir, name), err))
}

// Close writes what is queued, then the final manifest with the record counts, and
// closes the files. It returns the first write error of the run. Only the first call
// has an effect.
func (w *Writer) Close(final Manifest) error {
	var err error
	w.closed.Do(func() {
		close(w.queue)
		<-w.done
		final.Schema = SchemaVersion
		final.Files = map[string]int64{}
		for name, a := range w.files {
			final.Files[name] = a.n
		}
		err = errors.Join(w.Err(), w.closeFiles(), writeJSON(filepath.Join(w.dir, ManifestFile), final))
	})
	return err
}

func (w *Writer) closeFiles() error {
	var errs []error
	for _, a := range w.files {
		errs = append(errs, a.f.Close())
	}
	return errors.Join(errs...)
}

// writeJSON writes v, indented, through WriteFileAtomic.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return WriteFileAtomic(path, append(b, '\n'))
}

// WriteFileAtomic writes data to a temporary file beside path, syncs it and renames it,
// so that path holds either its old content or all of the new.
func WriteFileAtomic(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, werr := f.Write(data)
	if err := errors.Join(werr, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// WriteAnalysis writes analysis.json into a run directory.
func WriteAnalysis(dir string, a *Analysis) error {
	return writeJSON(filepath.Join(dir, AnalysisFile), a)
}
