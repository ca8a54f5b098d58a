//go:build linux

package null

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, url string, set func(*wire.Config)) *wire.Client {
	t.Helper()
	clock := NewClock()
	cfg := wire.Config{BaseURL: url, Model: "null", Clock: archive.ClockFunc(func() archive.Instant { return archive.Instant(clock.Now()) })}
	if set != nil {
		set(&cfg)
	}
	c, err := wire.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestStreams(t *testing.T) {
	s := start(t)
	for name, shape := range map[string]Shape{
		"with gaps":         {Chunks: 10, Gap: 2 * time.Millisecond},
		"without gaps":      {Chunks: 5000},
		"text":              {Chunks: 10},
		"in batches":        {Chunks: 100, Batch: 8},
		"batches with gaps": {Chunks: 20, Batch: 4, Gap: time.Millisecond, First: 5 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t, s.URL()+shape.Path(), func(c *wire.Config) {
				if name == "text" {
					c.Endpoint = "completions"
				}
			})
			for range 2 {
				rec := &archive.Request{}
				c.Do(t.Context(), &wire.Call{Prompt: strings.Repeat("x", 200_000)}, rec)
				if rec.Status != archive.StatusOK || rec.Usage.Completion.Or(0) != shape.Chunks || rec.Finish != "length" {
					t.Fatalf("%s %+v %+v", rec.Status, rec.Error, rec.Usage)
				}
				sent, err := Stamps(rec.Text)
				if err != nil || len(sent) != shape.Chunks || len(rec.Chunks.T) != shape.Chunks {
					t.Fatalf("%d stamps of %d chunks, %v; want %d", len(sent), len(rec.Chunks.T), err, shape.Chunks)
				}
				for i, at := range sent {
					if got := int64(rec.Chunks.T[i]); got < at-int64(20*time.Microsecond) {
						t.Fatalf("chunk %d is stamped %v before it was sent", i, time.Duration(at-got))
					}
				}
				first := shape.First
				if first == 0 {
					first = shape.Gap
				}
				due := first + shape.Gap*time.Duration((shape.Chunks-1)/max(1, shape.Batch))
				if took := time.Duration(sent[len(sent)-1] - int64(rec.T.Send)); took < due-time.Millisecond {
					t.Errorf("the last chunk went out after %v; want %v or more", took, due)
				}
			}
			if st := c.Stats(); st.Opened != 1 || st.Reused != 1 {
				t.Errorf("%d connections for two requests", st.Opened)
			}
		})
	}
}

func TestWholeReplyAndStats(t *testing.T) {
	s := start(t)
	rec := &archive.Request{}
	client(t, s.URL()+Shape{}.Path(), func(c *wire.Config) { c.NoStream = true }).Do(t.Context(), &wire.Call{Prompt: "x"}, rec)
	if rec.Status != archive.StatusOK || rec.Text != "nothing at all" {
		t.Errorf("%s %+v", rec.Status, rec.Error)
	}
	resp, err := http.Get(s.URL() + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	var st Stats
	if err != nil || json.Unmarshal(b, &st) != nil || st.Requests != 1 || st.CPU <= 0 {
		t.Errorf("stats %s, %v", b, err)
	}
}

func TestJournal(t *testing.T) {
	s := start(t)
	get := func(path string) []byte {
		t.Helper()
		resp, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	shape := Shape{Chunks: 3, Gap: time.Millisecond}
	c := client(t, s.URL()+shape.Path(), nil)
	send := func() *archive.Request {
		rec := &archive.Request{}
		c.Do(t.Context(), &wire.Call{Prompt: "x"}, rec)
		return rec
	}
	send()
	get("/journal/start")
	rec := send()
	var log []Entry
	if err := json.Unmarshal(get("/journal"), &log); err != nil || len(log) != 1 {
		t.Fatalf("%d entries, %v; want that of the one request since the start", len(log), err)
	}
	sent, err := Stamps(rec.Text)
	if err != nil {
		t.Fatal(err)
	}
	e := log[0]
	if !slices.Equal(e.Sent, sent) || !e.Done || e.Arrived > e.Sent[0]-int64(shape.Gap) {
		t.Errorf("entry %+v; want the stamps %v, an arrival a gap before, and done", e, sent)
	}
	send()
	if got := string(get("/journal")); got != "[]" {
		t.Errorf("an ended journal holds %s", got)
	}
	if got := string(get(shape.Path() + "/v1/models")); !strings.Contains(got, `"id":"null-model-of-no-size-at-all"`) {
		t.Errorf("the models are %s", got)
	}
}

func TestStampsRefuseOtherText(t *testing.T) {
	for _, text := range []string{"hello", strings.Repeat("x", StampSize), "0000000000000000001"} {
		if _, err := Stamps(text); err == nil {
			t.Errorf("Stamps(%q) = nil error; want one", text)
		}
	}
}

func TestShapePath(t *testing.T) {
	want := Shape{Chunks: 7, Gap: 3 * time.Millisecond, First: time.Second, Batch: 2}
	if got, ok := parsePath(want.Path() + "/v1/chat/completions"); !ok || got != want {
		t.Errorf("%s reads as %+v, %v; want %+v", want.Path(), got, ok, want)
	}
	for _, bad := range []string{"", "/", "/v1/chat/completions", "/c1-g1-f1", "/c1-g1-f1-bx", "/c-1-g1-f1-b1", "/c99999999-g0-f0-b1", "/c1-g0-f0-b999"} {
		if got, ok := parsePath(bad); ok {
			t.Errorf("%s reads as %+v", bad, got)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte("POST /c1-g0-f0-b1/v1 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		target, size := request(in)
		if size > 0 && (len(target) > len(in) || size > len(in)+maxRequest) {
			t.Fatalf("target %q, size %d of %d bytes", target, size, len(in))
		}
		parsePath(string(target))
	})
}
