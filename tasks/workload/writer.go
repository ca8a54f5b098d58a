package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/inferencebench/inferencebench/tasks"
)

// maxOpenSessions bounds how many sessions a writer and a reader remember the last prompt
// of. A later turn of a forgotten session is stored whole.
const maxOpenSessions = 8192

// Writer freezes a workload as it is sent. It is safe for concurrent use. The first error
// stays, and everything after it is dropped.
type Writer struct {
	mu      sync.Mutex
	f       io.WriteCloser
	z       *zstd.Encoder
	sum     hash.Hash
	digests [][sha256.Size]byte
	last    *recent
	err     error
	closed  bool
}

// Create starts a frozen workload in a new file; it refuses to replace one.
func Create(path string, h Header) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	w, err := NewWriter(f, h)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	return w, nil
}

// NewWriter starts a frozen workload in f, which Close closes.
func NewWriter(f io.WriteCloser, h Header) (*Writer, error) {
	z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, z: z, sum: sha256.New(), last: newRecent(maxOpenSessions)}
	h.Format = Format
	w.line(h)
	return w, w.err
}

// Add freezes one request. It keeps e.Messages, which must not change afterwards.
func (w *Writer) Add(e Entry) {
	digest := e.digest()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.closed {
		return
	}
	s := stored{Entry: e}
	s.Base = sharedPrefix(w.last.get(e.Session), e.Messages)
	s.Messages = e.Messages[s.Base:]
	w.last.put(e.Session, e.Messages)
	w.digests = append(w.digests, digest)
	w.line(s)
}

func (w *Writer) line(v any) {
	b, err := json.Marshal(v)
	if err == nil {
		b = append(b, '\n')
		_, _ = w.sum.Write(b) // a hash's Write returns no error
		_, err = w.z.Write(b)
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("workload: %w", err)
	}
}

// Flush makes what was added so far readable after a crash.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && !w.closed {
		if err := w.z.Flush(); err != nil {
			w.err = fmt.Errorf("workload: %w", err)
		}
	}
	return w.err
}

// Close seals the file and returns the content hash. A second call does nothing.
func (w *Writer) Close() (contentSHA256 string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return "", w.err
	}
	w.closed = true
	s := seal{Entries: len(w.digests), Content: content(w.digests)}
	s.File = hex.EncodeToString(w.sum.Sum(nil))
	if w.err == nil {
		w.line(s)
	}
	for _, close := range []func() error{w.z.Close, w.f.Close} {
		if err := close(); err != nil && w.err == nil {
			w.err = fmt.Errorf("workload: %w", err)
		}
	}
	if w.err != nil {
		return "", w.err
	}
	return s.Content, nil
}

// recent remembers the last prompt of the sessions used last.
type recent struct {
	max      int
	prompts  map[string][]tasks.Message
	order    []string // ring of sessions in order of first use
	position int
}

func newRecent(n int) *recent { return &recent{max: n, prompts: map[string][]tasks.Message{}} }

func (r *recent) get(session string) []tasks.Message { return r.prompts[session] }

func (r *recent) put(session string, m []tasks.Message) {
	if _, ok := r.prompts[session]; !ok {
		if len(r.order) < r.max {
			r.order = append(r.order, session)
		} else {
			delete(r.prompts, r.order[r.position])
			r.order[r.position] = session
			r.position = (r.position + 1) % r.max
		}
	}
	r.prompts[session] = m
}
