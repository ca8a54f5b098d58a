package logs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
)

func TestMatcher(t *testing.T) {
	a, _ := engines.Lookup("vllm")
	m := NewMatcher(a)
	now := archive.Instant(1e9)
	got, ok := m.Line("INFO GPU KV cache size: 64,000 tokens for sk-secret", now)
	if !ok || got.Pattern.ID != "kv_size" || got.Fields["tokens"] != "64000" {
		t.Errorf("Line = %+v, %v; want kv_size with 64000 tokens", got, ok)
	}
	if e := got.Event(now); strings.Contains(fmt.Sprint(e), "sk-secret") || e.Severity != archive.SeverityInfo {
		t.Errorf("event %+v holds the line, or is not of severity info", e)
	}
	if _, ok := m.Line("hello", now); ok {
		t.Error("an unknown line matches")
	}
	for i := range 5 {
		if _, ok := m.Line("torch.cuda.OutOfMemoryError", now.Add(time.Duration(i)*time.Second)); ok != (i == 0) {
			t.Errorf("line %d of a burst reported: %v; want only the first", i, ok)
		}
	}
	got, ok = m.Line("CUDA out of memory", now.Add(11*time.Second))
	if e := got.Event(now); !ok || got.Count != 5 || e.Severity != archive.SeverityError || !strings.Contains(e.Message, "5 lines") {
		t.Errorf("after a quiet time: %+v, %v; want the four that were kept still counted", got, ok)
	}
}

func TestOpen(t *testing.T) {
	for _, where := range []string{"", "file:", "telnet:x", "docker:--privileged", "journald:"} {
		if _, err := Open(where, nil); err == nil {
			t.Errorf("Open(%q) is no error", where)
		}
	}
	for _, where := range []string{"/var/log/x", "x.log", "file:/x", "docker:vllm", "journald:vllm.service", "/with:colon"} {
		if _, err := Open(where, nil); err != nil {
			t.Errorf("Open(%q): %v", where, err)
		}
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	appendTo(t, path, "before\n")
	tl := &tail{path: path}
	if err := tl.start(); err != nil {
		t.Fatal(err)
	}
	defer func() { tl.close() }()
	step := func() (out []string) {
		tl.step(func(s string) { out = append(out, s) })
		return out
	}
	expect := func(why string, want ...string) {
		t.Helper()
		if got := step(); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q; want %q", why, got, want)
		}
	}
	expect("nothing of what was there before")
	appendTo(t, path, "one\r\ntw")
	expect("whole lines only", "one")
	appendTo(t, path, "o\n")
	expect("the rest of a line", "two")
	if err := os.WriteFile(path, []byte("cut\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect("a file that was cut is read from its start", "cut")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	expect("while the file is away")
	appendTo(t, path+".1", "late\n")
	appendTo(t, path, "new\n")
	expect("a replaced file, after the end of the old one", "late", "new")
	appendTo(t, path, strings.Repeat("x", 3*MaxLine)+"\nafter\n")
	got := step()
	if len(got) != 2 || len(got[0]) != MaxLine || got[1] != "after" {
		t.Errorf("a line over the limit: %d lines; want it cut, and the next one whole", len(got))
	}
}

func TestWatchFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	appendTo(t, path, "CUDA out of memory\n")
	l, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		var events []archive.Event
		done := make(chan error)
		go func() {
			done <- l.Watch(ctx, archive.NewRunClock(), func(e archive.Event) { events = append(events, e) })
		}()
		time.Sleep(2 * time.Second)
		appendTo(t, path, "No space left on device\n")
		time.Sleep(2 * time.Second)
		cancel()
		if err := <-done; err != nil || len(events) != 1 || events[0].Fields["id"] != "disk_full" {
			t.Errorf("Watch: %v, events %v; want the one line that came meanwhile", err, events)
		}
	})
	gone, err := Open(path+".none", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Watch(t.Context(), archive.NewRunClock(), nil); err == nil {
		t.Error("a file that is not there is no error")
	}
}

func TestWatchCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake command is a shell")
	}
	l := &Log{argv: []string{"/bin/sh", "-c", "echo fine; echo 'address already in use' >&2"}, m: NewMatcher(nil)}
	var got []string
	if err := l.Watch(t.Context(), archive.NewRunClock(), func(e archive.Event) { got = append(got, e.Fields["id"].(string)) }); err != nil || strings.Join(got, " ") != "port_in_use" {
		t.Errorf("Watch: %v, %v", err, got)
	}
	bad := &Log{argv: []string{"/bin/sh", "-c", "exit 3"}, m: NewMatcher(nil)}
	if err := bad.Watch(t.Context(), archive.NewRunClock(), nil); err == nil {
		t.Error("a command that fails is no error")
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := NewMatcher(nil)
		Lines(strings.NewReader(string(b)), func(line string) {
			if len(line) > MaxLine || strings.Contains(line, "\n") {
				t.Fatalf("line of %d bytes", len(line))
			}
			m.Line(line, 1)
		})
	})
}
