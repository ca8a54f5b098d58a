package workload

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/inferencebench/inferencebench/tasks"
)

// ErrHash is in the chain of the error for a file that is not what its seal says.
var ErrHash = errors.New("the workload is not what its hash says")

// ErrUnsealed is in the chain of the error for a file that was cut off.
var ErrUnsealed = errors.New("the workload was not sealed")

// Limits of what a file may make the reader hold.
const (
	maxLine    = 64 << 20
	maxEntries = 20_000_000
	maxPlain   = 16 << 30 // uncompressed, in bytes
)

// File is a frozen workload in memory, its entries in order of sending.
type File struct {
	Header  Header
	Entries []Entry
	// Content is the hash of what was sent, without times.
	Content string
	// Sealed is false for a file that was cut off, which [ReadPartial] alone accepts.
	Sealed bool
}

// Open reads a frozen workload and checks its hashes. It refuses one that was changed,
// with ErrHash, and one that was cut off, with ErrUnsealed.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	defer f.Close()
	w, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("workload %s: %w", path, err)
	}
	return w, nil
}

// Read is Open from a stream.
func Read(r io.Reader) (*File, error) {
	w, err := ReadPartial(r)
	if err != nil {
		return nil, err
	}
	if !w.Sealed {
		return nil, fmt.Errorf("%w: its run was interrupted; it holds %d requests", ErrUnsealed, len(w.Entries))
	}
	return w, nil
}

// ReadPartial reads also a file that was cut off, and returns what it holds.
func ReadPartial(r io.Reader) (*File, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	p := parser{last: newRecent(maxOpenSessions), sum: sha256.New()}
	br := bufio.NewReaderSize(io.LimitReader(z, maxPlain), 64<<10)
	for n := 1; ; n++ {
		text, err := line(br)
		if len(text) > 0 && err == nil {
			if err := p.line(text); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			continue
		}
		if errors.Is(err, errLong) {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		break // the end, or a cut file
	}
	if p.f.Header.Format == "" {
		return nil, errors.New("not a frozen workload: it has no header")
	}
	if !p.f.Sealed {
		p.f.Content = content(p.digests)
	}
	return &p.f, nil
}

var errLong = fmt.Errorf("longer than %d bytes", maxLine)

// line reads one line with its end.
func line(r *bufio.Reader) ([]byte, error) {
	var buf []byte
	for {
		part, err := r.ReadSlice('\n')
		buf = append(buf, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
		if len(buf) > maxLine {
			return nil, errLong
		}
	}
}

type parser struct {
	f       File
	last    *recent
	digests [][sha256.Size]byte
	sum     interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func (p *parser) line(text []byte) error {
	switch {
	case p.f.Sealed:
		return fmt.Errorf("%w: something follows the seal", ErrHash)
	case p.f.Header.Format == "":
		if err := json.Unmarshal(text, &p.f.Header); err != nil {
			return fmt.Errorf("not a frozen workload: %w", err)
		}
		if p.f.Header.Format != Format {
			return fmt.Errorf("not a frozen workload: format %.60q; want %q", p.f.Header.Format, Format)
		}
	case bytes.HasPrefix(text, []byte(`{"entries":`)):
		return p.seal(text)
	default:
		if err := p.entry(text); err != nil {
			return err
		}
	}
	_, err := p.sum.Write(text)
	return err
}

func (p *parser) entry(text []byte) error {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("entry: %w", err)
	}
	before := p.last.get(s.Session)
	switch {
	case s.Base < 0 || s.Base > len(before):
		return fmt.Errorf("entry: base %d, but the session's prompt before has %d messages", s.Base, len(before))
	case s.Base+len(s.Messages) == 0:
		return errors.New("entry: it has no messages")
	case len(p.f.Entries) == maxEntries:
		return fmt.Errorf("more than %d entries", maxEntries)
	}
	s.Messages = append(slices.Clip(before[:s.Base]), s.Messages...)
	p.last.put(s.Session, s.Messages)
	p.f.Entries = append(p.f.Entries, s.Entry)
	p.digests = append(p.digests, s.Entry.digest())
	return nil
}

func (p *parser) seal(text []byte) error {
	var s seal
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	p.f.Content = content(p.digests)
	switch {
	case s.Entries != len(p.f.Entries):
		return fmt.Errorf("%w: it has %d entries and its seal says %d", ErrHash, len(p.f.Entries), s.Entries)
	case s.Content != p.f.Content:
		return fmt.Errorf("%w: content %.12s…, seal %.12s…", ErrHash, p.f.Content, s.Content)
	case s.File != hex.EncodeToString(p.sum.Sum(nil)):
		return fmt.Errorf("%w: its times or its header were changed", ErrHash)
	}
	p.f.Sealed = true
	return nil
}

// lastUser is the user message that an entry's prompt ends with, and the system message
// that it starts with, each "" when there is none.
func (e *Entry) lastUser() (system, user string) {
	m := e.Messages
	if len(m) > 0 && m[0].Role == "system" {
		system = m[0].Content
	}
	if n := len(m); n > 0 && m[n-1].Role == "user" {
		user = m[n-1].Content
	}
	return system, user
}

var _ tasks.Source = (*Replay)(nil)
