package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
)

// poll is the time between looks at a file.
const poll = 500 * time.Millisecond

// Log is where a server's log is, and what is known of its lines.
type Log struct {
	path string   // of a file
	argv []string // of a command that prints the log as it grows
	m    *Matcher
}

// Open says how to follow a log: "/path" or "file:/path", "journald:UNIT", "docker:NAME".
// Nothing is opened yet.
func Open(where string, a *engines.Adapter) (*Log, error) {
	l := &Log{m: NewMatcher(a)}
	kind, name, ok := strings.Cut(where, ":")
	if !ok || strings.HasPrefix(where, "/") {
		kind, name = "file", where
	}
	if name == "" || strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("log %q names nothing; give a path, journald:UNIT or docker:NAME", where)
	}
	switch kind {
	case "file":
		l.path = name
	case "journald":
		l.argv = []string{"journalctl", "--follow", "--lines=0", "--output=cat", "--unit=" + name}
	case "docker":
		l.argv = []string{"docker", "logs", "--follow", "--tail=0", name}
	default:
		return nil, fmt.Errorf("log %q is of an unknown kind; give a path, journald:UNIT or docker:NAME", where)
	}
	return l, nil
}

// Watch follows the log from its end until ctx is done, and emits an event for each line
// that is known. An error means that the log could not be followed.
func (l *Log) Watch(ctx context.Context, clock archive.Clock, emit func(archive.Event)) error {
	if l.argv != nil {
		return l.command(ctx, clock, emit)
	}
	t := &tail{path: l.path}
	if err := t.start(); err != nil {
		return err
	}
	defer t.close()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			t.step(func(line string) { l.line(line, clock, emit) })
			return nil
		case <-tick.C:
			t.step(func(line string) { l.line(line, clock, emit) })
		}
	}
}

func (l *Log) line(line string, clock archive.Clock, emit func(archive.Event)) {
	now := clock.Now()
	if m, ok := l.m.Line(line, now); ok {
		emit(m.Event(now))
	}
}

func (l *Log) command(ctx context.Context, clock archive.Clock, emit func(archive.Event)) error {
	cmd := exec.CommandContext(ctx, l.argv[0], l.argv[1:]...)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	cmd.WaitDelay = 2 * time.Second // a child of the command may keep its output open
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = w.CloseWithError(io.EOF)
		ended <- err
	}()
	Lines(r, func(line string) { l.line(line, clock, emit) })
	_ = r.CloseWithError(io.ErrClosedPipe)
	if err := <-ended; err != nil && ctx.Err() == nil {
		return fmt.Errorf("follow log: %s: %w", l.argv[0], err)
	}
	return nil
}

// Lines calls f for each line of r until its end. What a line has beyond MaxLine is left
// out.
func Lines(r io.Reader, f func(line string)) {
	br := bufio.NewReaderSize(r, MaxLine)
	for {
		line, err := br.ReadSlice('\n')
		if s := strings.TrimRight(string(line), "\r\n"); s != "" {
			f(s)
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = br.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

// tail reads what is added to a file, also when the file is cut or replaced.
type tail struct {
	path string
	f    *os.File
	at   int64
	rest []byte // an unfinished line
}

func (t *tail) start() error {
	f, err := os.Open(t.path)
	if err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	t.f = f
	t.at, err = f.Seek(0, io.SeekEnd)
	return err
}

func (t *tail) close() { _ = t.f.Close() }

// step reads what was added.
func (t *tail) step(f func(string)) {
	t.read(f)
	now, err := os.Stat(t.path)
	if err != nil {
		return // being replaced: the next step will find it
	}
	if have, err := t.f.Stat(); err == nil && !os.SameFile(have, now) {
		fresh, err := os.Open(t.path)
		if err != nil {
			return
		}
		_ = t.f.Close()
		t.f, t.at, t.rest = fresh, 0, nil
		t.read(f)
	} else if now.Size() < t.at {
		t.at, t.rest = 0, nil
		t.read(f)
	}
}

// maxStep bounds what is read in one step; the rest is for the next.
const maxStep = 4 << 20

func (t *tail) read(f func(string)) {
	b, err := io.ReadAll(io.LimitReader(io.NewSectionReader(t.f, t.at, 1<<62), maxStep))
	if err != nil || len(b) == 0 {
		return
	}
	t.at += int64(len(b))
	b = append(t.rest, b...)
	for {
		line, more, ok := bytes.Cut(b, []byte("\n"))
		if !ok {
			break
		}
		f(strings.TrimRight(string(line[:min(len(line), MaxLine)]), "\r"))
		b = more
	}
	t.rest = bytes.Clone(b[:min(len(b), MaxLine)])
}
