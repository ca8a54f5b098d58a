package sse

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// event is what a test compares.
type event struct {
	Type, Data, ID string
	Tail           bool
}

// scan feeds the reads one after the other and returns the events.
func scan(s *Scanner, reads ...[]byte) ([]event, error) {
	var out []event
	take := func() {
		for s.Next() {
			out = append(out, event{string(s.Event()), string(s.Data()), string(s.ID()), s.Unterminated()})
		}
	}
	for _, r := range reads {
		// A read buffer is used again: what the scanner keeps must be its own.
		b := bytes.Clone(r)
		s.Feed(b)
		take()
		for i := range b {
			b[i] = '#'
		}
	}
	s.Finish()
	take()
	return out, s.Err()
}

func TestScanner(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want []event
	}{
		{"LF ends lines and a blank line ends the event", "data: a\n\ndata: b\n\n", []event{{Data: "a"}, {Data: "b"}}},
		{"CRLF ends lines", "data: a\r\n\r\ndata: b\r\n\r\n", []event{{Data: "a"}, {Data: "b"}}},
		{"a bare CR ends lines", "data: a\r\rdata: b\r\r", []event{{Data: "a"}, {Data: "b"}}},
		{"line ends may be mixed", "data: a\r\n\ndata: b\n\rdata: c\r\r\n", []event{{Data: "a"}, {Data: "b"}, {Data: "c"}}},
		{"one leading byte order mark is skipped", "\xef\xbb\xbfdata: a\n\n", []event{{Data: "a"}}},
		{"a second byte order mark makes an unknown field", "\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", nil},
		{"comments are no events", ":\n\n: keep-alive\n\ndata: a\n\n", []event{{Data: "a"}}},
		{"a comment inside an event does not end it", "data: a\n: x\ndata: b\n\n", []event{{Data: "a\nb"}}},
		{"data lines are joined by LF", "data: a\ndata\ndata:b\n\n", []event{{Data: "a\n\nb"}}},
		{"an event without data is dropped", "retry: 3000\n\nid: 7\n\ndata:\n\ndata\n\n", nil},
		{"only one space after the colon is dropped", "data:  a \n\n", []event{{Data: " a "}}},
		{"white space before the field name makes another field", " data: a\n\n", nil},
		{"type and id are kept, the type for one event", "event: x\nid: 1\ndata: a\n\ndata: b\n\n", []event{{Type: "x", ID: "1", Data: "a"}, {ID: "1", Data: "b"}}},
		{"the type of a dropped event does not stay", "event: x\n\ndata: b\n\n", []event{{Data: "b"}}},
		{"a missing blank line at the end is forgiven", "data: a\n", []event{{Data: "a"}}},
		{"a missing line end at the end is forgiven and said", "data: a", []event{{Data: "a", Tail: true}}},
		{"a joined event may lack its end", "data: a\ndata: b", []event{{Data: "a\nb", Tail: true}}},
		{"an empty stream has no events", "", nil},
		{"fields that nobody knows are ignored", "foo: bar\nfoo\ndata: a\n\n", []event{{Data: "a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := scan(&Scanner{}, []byte(tt.in))
			if err != nil {
				t.Fatalf("scan(%q): %v", tt.in, err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("scan(%q) (-want +got):\n%s", tt.in, d)
			}
		})
	}
}

const mixed = "\xef\xbb\xbf: hello\r\n\r\nevent: m\r\nid: 4\r\ndata: {\"a\":\"中🦀  b\"}\r\n\r\ndata: one\ndata:\ndata: three\n\n" +
	"retry: 10\rdata: cr\r\rdata: [DONE]\n\ndata: tail"

func TestEverySplitGivesTheSameEvents(t *testing.T) {
	in := []byte(mixed)
	want, err := scan(&Scanner{}, in)
	if err != nil || len(want) != 5 {
		t.Fatalf("whole: %d events, %v; want 5 events", len(want), err)
	}
	for i := 0; i <= len(in); i++ {
		for j := i; j <= len(in); j++ {
			got, err := scan(&Scanner{}, in[:i], in[i:j], in[j:])
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Fatalf("cut at %d and %d: %v (-whole +cut):\n%s", i, j, err, d)
			}
		}
	}
	var bytewise [][]byte
	for i := range in {
		bytewise = append(bytewise, in[i:i+1])
	}
	got, err := scan(&Scanner{}, bytewise...)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Fatalf("byte by byte: %v (-whole +cut):\n%s", err, d)
	}
}

func TestLines(t *testing.T) {
	in := "{\"a\":1}\r\n\n  {\"b\":2}\n{\"c\":3}"
	want := []event{{Data: `{"a":1}`}, {Data: `{"b":2}`}, {Data: `{"c":3}`, Tail: true}}
	for i := range len(in) + 1 {
		got, err := scan(&Scanner{Lines: true}, []byte(in[:i]), []byte(in[i:]))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatalf("cut at %d: %v (-want +got):\n%s", i, err, d)
		}
	}
}

// B10: no line cap short of the stated guard, and a clear error at the guard.
func TestB10LongLines(t *testing.T) {
	long := strings.Repeat("x", 3_000_000)
	got, err := scan(&Scanner{}, []byte("data: "+long[:1_000_000]), []byte(long[1_000_000:]+"\n\n"))
	if err != nil || len(got) != 1 || got[0].Data != long {
		t.Fatalf("3 MB line: %d events, %v; want it whole", len(got), err)
	}
	for name, in := range map[string]string{
		"one line":       "data: " + strings.Repeat("x", 2000),
		"many lines":     strings.Repeat("data: 0123456789\n", 200),
		"never any line": strings.Repeat(" ", 2000),
	} {
		for _, n := range []int{1, 7, len(in)} {
			s := &Scanner{Max: 1000}
			var reads [][]byte
			for i := 0; i < len(in); i += n {
				reads = append(reads, []byte(in[i:min(i+n, len(in))]))
			}
			_, err := scan(s, reads...)
			var long *TooLongError
			if !errors.As(err, &long) {
				t.Errorf("%s in reads of %d: error %v; want a TooLongError", name, n, err)
			}
			if s.Held() > 3*1000 {
				t.Errorf("%s in reads of %d: holds %d bytes above the guard", name, n, s.Held())
			}
		}
	}
}

func TestScannerDoesNotAllocate(t *testing.T) {
	whole := []byte(strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", 8))
	s := &Scanner{}
	n := 0
	run := func() {
		// One cut in the middle of an event, so that carrying is measured too.
		for _, r := range [][]byte{whole[:70], whole[70:]} {
			s.Feed(r)
			for s.Next() {
				n += len(s.Data())
			}
		}
	}
	run()
	if got := testing.AllocsPerRun(100, run); got != 0 {
		t.Errorf("allocations per 8 events = %v; want 0", got)
	}
}

func TestReset(t *testing.T) {
	s := &Scanner{}
	if _, err := scan(s, []byte("data: unfin"), []byte("ished")); err != nil {
		t.Fatal(err)
	}
	s.Reset(4)
	if s.Held() != 0 || cap(s.carry) > 4 || cap(s.own) > 4 {
		t.Errorf("after Reset(4) buffers of %d and %d bytes stay", cap(s.carry), cap(s.own))
	}
	got, err := scan(s, []byte("data: a\n\n"))
	if d := cmp.Diff([]event{{Data: "a"}}, got); err != nil || d != "" {
		t.Errorf("after Reset: %v %s", err, d)
	}
}

// reference is a plain reading of the standard over the whole stream.
func reference(in []byte) []event {
	in = bytes.TrimPrefix(in, bom)
	in = bytes.ReplaceAll(in, []byte("\r\n"), []byte("\n"))
	in = bytes.ReplaceAll(in, []byte("\r"), []byte("\n"))
	tail := len(in) > 0 && in[len(in)-1] != '\n'
	lines := bytes.Split(in, []byte("\n"))
	if !tail {
		lines = lines[:len(lines)-1]
	}
	var out []event
	var data []string
	var typ, id string
	flush := func(tail bool) {
		if d := strings.Join(data, "\n"); len(d) > 0 {
			out = append(out, event{typ, d, id, tail})
		}
		data, typ = nil, ""
	}
	for _, l := range lines {
		if len(l) == 0 {
			flush(false)
			continue
		}
		name, value, _ := strings.Cut(string(l), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			typ = value
		case "id":
			if !strings.Contains(value, "\x00") {
				id = value
			}
		}
	}
	flush(tail)
	return out
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{mixed, "", "data: a\r", "\r\n\r\n", "data\n\n", "\xef\xbb", "id: \x00\n\ndata: x\n\n", "\xef\xbb\xbf\n\ndata:\ndata:\n\n"} {
		f.Add([]byte(s), uint16(3), uint16(9))
	}
	f.Fuzz(func(t *testing.T, in []byte, a, b uint16) {
		if len(in) > 1<<16 {
			t.Skip("larger than a read")
		}
		i := int(a) % (len(in) + 1)
		j := i + int(b)%(len(in)+1-i)
		want := reference(in)
		for _, reads := range [][][]byte{{in}, {in[:i], in[i:j], in[j:]}} {
			got, err := scan(&Scanner{}, reads...)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Fatalf("%d reads: %v (-reference +scanner):\n%s", len(reads), err, d)
			}
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	one := "data: {\"id\":\"chatcmpl-0123456789abcdef0123456789abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1764500000,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"
	p := []byte(strings.Repeat(one, 8))
	s := &Scanner{}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		s.Feed(p)
		for s.Next() {
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
}
