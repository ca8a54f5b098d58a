package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/inferencebench/inferencebench/archive"
)

// The live view reads at most this much of the end of each file when it starts, and a
// line at most this long; longer lines are skipped.
const (
	tailStart = 16 << 20
	tailLine  = 8 << 20
)

// tail reads the lines that are appended to a file, whole lines only.
type tail struct {
	path string
	at   int64
	skip bool // the first line may be cut: start behind its end
	late bool // reading began in the middle of the file
}

// lines calls f for each new whole line. A file that is not there yet has none.
func (t *tail) lines(f func([]byte)) error {
	file, err := os.Open(t.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if t.at == 0 {
		if info, err := file.Stat(); err == nil && info.Size() > tailStart {
			t.at, t.skip, t.late = info.Size()-tailStart, true, true
		}
	}
	if _, err := file.Seek(t.at, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(file, 64<<10)
	for {
		line, n, err := readLine(r)
		if err != nil { // the end, or a line that is not whole yet: wait for the rest
			return nil
		}
		t.at += n
		if t.skip {
			t.skip = false
			continue
		}
		if line != nil {
			f(line)
		}
	}
}

// readLine returns one whole line and how many bytes it took; nil for one that is too
// long to hold.
func readLine(r *bufio.Reader) (line []byte, n int64, err error) {
	var buf []byte
	for {
		part, err := r.ReadSlice('\n')
		n += int64(len(part))
		if len(buf)+len(part) <= tailLine {
			buf = append(buf, part...)
		} else {
			buf = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, n, err
		}
		if n > tailLine {
			return nil, n, nil
		}
		return bytes.TrimSuffix(buf, []byte("\n")), n, nil
	}
}

// update is what one event of the live stream carries: the new points since the last one.
// Times are seconds since the run began.
type update struct {
	State    archive.State `json:"state"`
	Reason   string        `json:"reason,omitempty"`
	Seconds  float64       `json:"seconds"`
	OK       int           `json:"ok"`
	Failed   int           `json:"failed"`
	Tokens   int           `json:"tokens"`
	Requests []livePoint   `json:"requests,omitempty"`
	Samples  []liveSample  `json:"samples,omitempty"`
	Events   []liveEvent   `json:"events,omitempty"`
	Partial  bool          `json:"partial,omitempty"` // counts start in the middle of the run
}

type livePoint struct {
	T      float64  `json:"t"`    // when it ended
	TTFT   *float64 `json:"ttft"` // ms
	E2E    *float64 `json:"e2e"`  // ms
	Tokens int      `json:"n"`
	OK     bool     `json:"ok"`
	Phase  string   `json:"p"`
}

type liveSample struct {
	T       float64  `json:"t"`
	Running *float64 `json:"running,omitempty"`
	Waiting *float64 `json:"waiting,omitempty"`
	Open    *float64 `json:"open,omitempty"`
	KV      *float64 `json:"kv,omitempty"`  // percent
	GPU     *float64 `json:"gpu,omitempty"` // percent
	CPU     *float64 `json:"cpu,omitempty"` // percent
}

type liveEvent struct {
	T        float64          `json:"t"`
	Kind     string           `json:"kind"`
	Severity archive.Severity `json:"severity"`
	Message  string           `json:"message"`
}

// watcher follows one run directory.
type watcher struct {
	dir                       string
	requests, samples, events tail
	base                      archive.Instant
	total                     update
}

func watch(run *archive.Run) *watcher {
	file := func(name string) tail { return tail{path: filepath.Join(run.Dir, name)} }
	w := &watcher{dir: run.Dir, requests: file(archive.RequestsFile), samples: file(archive.SeriesFile), events: file(archive.EventsFile), base: run.Manifest.Started}
	if !w.base.Known() {
		w.base = 1
	}
	return w
}

// maxBatch bounds the points of one kind in one event; more are thinned evenly.
const maxBatch = 4000

// next reads what is new. The state is read first, so that an update that says the run is
// over holds everything.
func (w *watcher) next() (update, error) {
	u := update{}
	run, err := archive.Open(w.dir)
	if err != nil {
		return u, err
	}
	u.State, u.Reason = run.Manifest.State, run.Manifest.Reason
	err = errors.Join(
		w.requests.lines(func(b []byte) {
			var r archive.Request
			if json.Unmarshal(b, &r) == nil {
				u.Requests = append(u.Requests, w.point(&r))
			}
		}),
		w.samples.lines(func(b []byte) {
			var s archive.Sample
			if json.Unmarshal(b, &s) == nil && s.Error == "" {
				if p, ok := w.sample(&s); ok {
					u.Samples = append(u.Samples, p)
				}
			}
		}),
		w.events.lines(func(b []byte) {
			var e archive.Event
			if json.Unmarshal(b, &e) == nil {
				w.seen(e.T)
				u.Events = append(u.Events, liveEvent{w.sec(e.T), e.Kind, e.Severity, e.Message})
			}
		}),
	)
	u.Requests, u.Samples, u.Events = thin(u.Requests), thin(u.Samples), thin(u.Events)
	u.Seconds, u.OK, u.Failed, u.Tokens = w.total.Seconds, w.total.OK, w.total.Failed, w.total.Tokens
	u.Partial = w.requests.late
	return u, err
}

func thin[T any](v []T) []T {
	if len(v) <= maxBatch {
		return v
	}
	out := make([]T, 0, maxBatch)
	for i := range maxBatch {
		out = append(out, v[i*len(v)/maxBatch])
	}
	return out
}

func (w *watcher) sec(i archive.Instant) float64 { return i.Sub(w.base).Seconds() }

func (w *watcher) seen(i archive.Instant) {
	if i.Known() {
		w.total.Seconds = max(w.total.Seconds, w.sec(i))
	}
}

func (w *watcher) point(r *archive.Request) livePoint {
	w.seen(r.T.Done)
	p := livePoint{T: w.sec(r.T.Done), OK: r.Status == archive.StatusOK, Tokens: r.Usage.Completion.Or(0), Phase: r.Phase}
	if !r.T.Done.Known() {
		p.T = w.total.Seconds
	}
	switch r.Status {
	case archive.StatusOK:
		w.total.OK++
		w.total.Tokens += p.Tokens
		p.TTFT, p.E2E = millis(r.T.Intended, r.T.First), millis(r.T.Intended, r.T.Last)
	case archive.StatusFailed:
		w.total.Failed++
		p.E2E = millis(r.T.Intended, r.T.Done)
	case archive.StatusCancelled:
	}
	return p
}

func millis(from, to archive.Instant) *float64 {
	if !from.Known() || !to.Known() {
		return nil
	}
	v := float64(to-from) / 1e6
	return &v
}

func (w *watcher) sample(s *archive.Sample) (liveSample, bool) {
	w.seen(s.T)
	p, some := liveSample{T: w.sec(s.T)}, false
	take := func(name string, f float64) *float64 {
		v, ok := s.Values[name]
		if !ok {
			return nil
		}
		some = true
		v *= f
		return &v
	}
	switch s.Source {
	case archive.SourceEngine:
		p.Running, p.Waiting, p.KV = take("requests_running", 1), take("requests_waiting", 1), take("kv_cache_usage", 100)
	case archive.SourceClient:
		p.Open = take("in_flight", 1)
	case archive.SourceGPU:
		p.GPU = take("util_percent", 1)
	case archive.SourceHost:
		p.CPU = take("cpu_percent", 1)
	}
	return p, some
}
