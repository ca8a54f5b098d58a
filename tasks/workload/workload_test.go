package workload

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

var optEqual = cmp.Options{
	cmp.Comparer(func(a, b archive.Opt[int]) bool { return a.Equal(b) }),
	cmp.Comparer(func(a, b archive.Opt[float64]) bool { return a.Equal(b) }),
}

// entries are sessions of turns, interleaved as a run would send them.
func entries(sessions, turns int) []Entry {
	var out []Entry
	for turn := range turns {
		for s := range sessions {
			e := Entry{
				Session: fmt.Sprintf("0-%d", s), Turn: turn, Phase: "main", Kind: archive.KindLoad, Task: "chat",
				At: archive.Instant(1e9 + int64(s)*1e6 + int64(turn)*1e9), Think: time.Duration(turn) * time.Second, MaxTokens: 10 + s, Temperature: archive.Some(0.5), PromptTokens: archive.Some(20),
			}
			e.Messages = append(e.Messages, tasks.Message{Role: "system", Content: "Be brief."})
			for k := range turn + 1 {
				e.Messages = append(e.Messages, tasks.Message{Role: "user", Content: fmt.Sprintf("question %d of %d <&>\u2028", k, s)})
				if k < turn {
					e.Messages = append(e.Messages, tasks.Message{Role: "assistant", Content: fmt.Sprintf("answer %d", k)})
				}
			}
			out = append(out, e)
		}
	}
	return out
}

type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

func freeze(t testing.TB, es []Entry) (*memory, string) {
	t.Helper()
	m := &memory{}
	w, err := NewWriter(m, Header{Run: "r1", Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		w.Add(e)
	}
	sum, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return m, sum
}

func TestRoundTrip(t *testing.T) {
	want := entries(5, 4)
	m, sum := freeze(t, want)
	f, err := Read(bytes.NewReader(m.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, f.Entries, optEqual); diff != "" {
		t.Errorf("entries differ (-sent +read):\n%s", diff)
	}
	if f.Content != sum || f.Header.Run != "r1" || f.Header.Seed != 3 || !f.Sealed {
		t.Errorf("header %+v, content %s, sealed %v", f.Header, f.Content, f.Sealed)
	}
}

func TestContentHashIgnoresOrderAndTimes(t *testing.T) {
	es := entries(5, 3)
	_, want := freeze(t, es)
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		moved := append([]Entry(nil), es...)
		r.Shuffle(len(moved), func(i, j int) { moved[i], moved[j] = moved[j], moved[i] })
		for i := range moved {
			moved[i].At += archive.Instant(r.Int64N(1e9))
		}
		m, got := freeze(t, moved)
		if got != want {
			rt.Fatal("the content hash depends on order or times")
		}
		if _, err := Read(bytes.NewReader(m.Bytes())); err != nil {
			rt.Fatal(err)
		}
	})
	es[3].Messages = append([]tasks.Message(nil), es[3].Messages...)
	es[3].Messages[1].Content += "!"
	if _, got := freeze(t, es); got == want {
		t.Error("the content hash does not see a changed message")
	}
}

func TestChangedFilesAreRefused(t *testing.T) {
	m, _ := freeze(t, entries(3, 2))
	dec, _ := zstd.NewReader(nil)
	enc, _ := zstd.NewWriter(nil)
	plain, err := dec.DecodeAll(m.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		about    string
		old, new string
	}{
		{"another question", "question 0 of 1", "question 9 of 1"},
		{"another time", `"at":1001000000`, `"at":1001000001`},
		{"another seed", `"seed":3`, `"seed":4`},
		{"another limit", `"max_tokens":11`, `"max_tokens":12`},
	} {
		b := bytes.Replace(plain, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(b, plain) {
			t.Fatalf("%s: %q is not in the file", c.about, c.old)
		}
		if _, err := Read(bytes.NewReader(enc.EncodeAll(b, nil))); !errors.Is(err, ErrHash) {
			t.Errorf("%s: Read = %v; want ErrHash", c.about, err)
		}
	}
	if _, err := Read(bytes.NewReader(enc.EncodeAll(append(plain, plain...), nil))); !errors.Is(err, ErrHash) {
		t.Errorf("something after the seal: %v; want ErrHash", err)
	}
	if _, err := Read(bytes.NewReader(enc.EncodeAll([]byte("{\"hello\":1}\n"), nil))); err == nil {
		t.Error("a file of another format is read")
	}
}

func TestCutFilesAreReadInPart(t *testing.T) {
	m := &memory{}
	w, err := NewWriter(m, Header{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries(4, 2) {
		w.Add(e)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	cut := bytes.NewReader(m.Bytes())
	if _, err := Read(cut); !errors.Is(err, ErrUnsealed) {
		t.Errorf("Read = %v; want ErrUnsealed", err)
	}
	f, err := ReadPartial(bytes.NewReader(m.Bytes()))
	if err != nil || len(f.Entries) != 8 || f.Sealed {
		t.Errorf("ReadPartial = %+v, %v; want the 8 entries before the cut", f, err)
	}
}

func TestSameHistorySendsWhatWasSentThen(t *testing.T) {
	es := entries(3, 3)
	m, _ := freeze(t, es)
	f, err := Read(bytes.NewReader(m.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	r := f.SameHistory(2)
	if len(r.Schedule) != len(es) || r.Requests() != len(es) {
		t.Fatalf("%d due times and %d requests; want %d", len(r.Schedule), r.Requests(), len(es))
	}
	for i, e := range es { // entries come in order of time
		s := r.Session(1<<40 | uint64(i))
		turn, ok := s.Next("")
		if !ok || !cmp.Equal(turn.Messages, e.Messages) || turn.MaxTokens != e.MaxTokens {
			t.Errorf("request %d = %+v, %v; want the messages of %+v", i, turn, ok, e)
		}
		if _, ok := s.Next("something else entirely"); ok {
			t.Errorf("request %d has a second turn", i)
		}
		if want := e.At.Sub(es[0].At) / 2; r.Schedule[i] != want {
			t.Errorf("request %d is due at %s; want %s", i, r.Schedule[i], want)
		}
	}
	if _, ok := r.Session(99).Next(""); ok {
		t.Error("the replay goes on past its end")
	}
}

func TestLiveHistoryLeavesRepliesToTheServer(t *testing.T) {
	m, _ := freeze(t, entries(3, 3))
	f, err := Read(bytes.NewReader(m.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	r := f.LiveHistory(1)
	if len(r.Schedule) != 3 || r.Requests() != 9 {
		t.Fatalf("%d sessions of %d requests; want 3 of 9", len(r.Schedule), r.Requests())
	}
	s := r.Session(1)
	for k := range 3 {
		turn, ok := s.Next("a new reply")
		want := fmt.Sprintf("question %d of 1 <&>\u2028", k)
		if !ok || turn.User != want || turn.Messages != nil || turn.Think != time.Duration(k)*time.Second || (turn.System != "") != (k == 0) {
			t.Errorf("turn %d = %+v; want user %q", k, turn, want)
		}
	}
}

func TestWriterIsSafeForConcurrentUse(t *testing.T) {
	m := &memory{}
	w, err := NewWriter(m, Header{})
	if err != nil {
		t.Fatal(err)
	}
	es := entries(8, 4)
	var wg sync.WaitGroup
	for s := range 8 {
		wg.Go(func() {
			for _, e := range es {
				if e.Session == fmt.Sprintf("0-%d", s) {
					w.Add(e)
				}
			}
		})
	}
	wg.Wait()
	sum, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, want := freeze(t, es); sum != want {
		t.Error("writers at the same time change the content hash")
	}
}

func TestCreateRefusesToReplaceAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "workload.jsonl.zst")
	w, err := Create(path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	w.Add(entries(1, 1)[0])
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, Header{}); err == nil {
		t.Error("a second Create replaces the file")
	}
	if f, err := Open(path); err != nil || len(f.Entries) != 1 {
		t.Errorf("Open = %v, %v", f, err)
	}
}

func FuzzRead(f *testing.F) {
	m, _ := freeze(f, entries(2, 2))
	f.Add(m.Bytes())
	enc, _ := zstd.NewWriter(nil)
	f.Add(enc.EncodeAll([]byte(`{"format":"inferencebench-workload/1"}`+"\n"+`{"session":"a","base":3,"messages":[]}`+"\n"), nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := Read(bytes.NewReader(b))
		if err == nil && (!w.Sealed || w.Header.Format != Format) {
			t.Fatal("an unsealed file is accepted")
		}
	})
}
