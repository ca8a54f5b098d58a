package archive_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
)

func newRun(t *testing.T) *archive.Writer {
	t.Helper()
	w, err := archive.Create(filepath.Join(t.TempDir(), "run"), archive.Manifest{ID: "r1", Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func request(id string) *archive.Request {
	return &archive.Request{
		ID: id, Session: "s1", Kind: archive.KindLoad, Status: archive.StatusOK,
		T:      archive.Times{Intended: 1, Send: 2, Headers: 3, First: 4, Answer: 4, Last: 9, Done: 10},
		Chunks: archive.Chunks{T: []archive.Instant{4, 9}},
		Usage:  archive.Usage{Prompt: archive.Some(3), Completion: archive.Some(0), Source: archive.UsageServer},
		Text:   "a\u2028b \"quoted\"",
	}
}

func TestRoundTrip(t *testing.T) {
	w := newRun(t)
	want := request("q1")
	w.Request(want)
	w.Sample(archive.Sample{T: 5, Source: archive.SourceHost, Values: map[string]float64{"a": 1, "b": math.NaN(), "c": math.Inf(1)}})
	w.Event(archive.Event{T: 6, Kind: archive.EventPhaseStart, Severity: archive.SeverityInfo})
	w.Checkpoint(archive.Checkpoint{Request: "q1", Score: archive.Some(0.0)})
	if err := w.Close(archive.Manifest{ID: "r1", State: archive.StateComplete}); err != nil {
		t.Fatal(err)
	}

	r, err := archive.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if r.Manifest.State != archive.StateComplete || r.Manifest.Files[archive.RequestsFile] != 1 {
		t.Errorf("manifest = %+v", r.Manifest)
	}
	for got, err := range r.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("request changed on disk (-want +got):\n%s", d)
		}
	}
	for s, err := range r.Samples() {
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(map[string]float64{"a": 1}, s.Values); d != "" {
			t.Errorf("values that are no numbers must be left out:\n%s", d)
		}
	}
	for c := range r.Checkpoints() {
		if v, ok := c.Score.Get(); !ok || v != 0 {
			t.Errorf("a score of 0 must stay a known 0, got %v %v", v, ok)
		}
	}
}

// TestCutAnywhere cuts the records at every byte, as a kill or a full disk would, and
// opens what is left.
func TestCutAnywhere(t *testing.T) {
	w := newRun(t)
	w.Request(request("q1"))
	w.Request(request("q2"))
	if err := w.Close(archive.Manifest{ID: "r1", State: archive.StateRunning}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.Dir(), archive.RequestsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := archive.Open(w.Dir())
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if r.Manifest.State != archive.StateInterrupted {
			t.Fatalf("cut at %d: state = %s; want interrupted", n, r.Manifest.State)
		}
		var ok int
		for rec, err := range r.Requests() {
			if le, isLine := errors.AsType[*archive.LineError](err); isLine && le.Partial {
				continue
			}
			if err != nil {
				t.Fatalf("cut at %d: %v", n, err)
			}
			if rec.ID != "" {
				ok++
			}
		}
		if want := n * 2 / len(whole); ok < want || ok > want+1 {
			t.Fatalf("cut at %d of %d: %d records", n, len(whole), ok)
		}
	}
}

func TestRunningIsSeenWhileTheWriterLives(t *testing.T) {
	w := newRun(t)
	r, err := archive.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if r.Manifest.State != archive.StateRunning {
		t.Errorf("state = %s; want running", r.Manifest.State)
	}
	if _, err := archive.Create(w.Dir(), archive.Manifest{}); !errors.Is(err, archive.ErrExists) {
		t.Errorf("Create over a run = %v; want ErrExists", err)
	}
	if err := w.Close(archive.Manifest{State: archive.StateComplete}); err != nil {
		t.Fatal(err)
	}
}

func TestOpenOddDirectories(t *testing.T) {
	dir := t.TempDir()
	if _, err := archive.Open(dir); !errors.Is(err, archive.ErrNotARun) {
		t.Errorf("Open(empty) = %v; want ErrNotARun", err)
	}
	if err := os.WriteFile(filepath.Join(dir, archive.RequestsFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := archive.Open(dir)
	if err != nil || len(r.Problems) != 1 {
		t.Fatalf("Open(without manifest) = %v, %v; want the records and one problem", r, err)
	}
	if err := os.WriteFile(filepath.Join(dir, archive.ManifestFile), []byte(`{"schema":99}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Open(dir); err == nil {
		t.Error("Open(newer schema) = nil; want an error")
	}
}

func TestABadLineIsNamedAndSkipped(t *testing.T) {
	w := newRun(t)
	w.Request(request("q1"))
	if err := w.Close(archive.Manifest{State: archive.StateComplete}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.Dir(), archive.RequestsFile)
	b, _ := os.ReadFile(path)
	b = append([]byte("{\"id\": oops\n"), b...)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := archive.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var bad, good int
	for rec, err := range r.Requests() {
		if le, ok := errors.AsType[*archive.LineError](err); ok {
			if le.Line != 1 || le.Partial {
				t.Errorf("line error = %+v; want line 1, whole", le)
			}
			bad++
			continue
		}
		good++
		if rec.ID != "q1" {
			t.Errorf("id = %q", rec.ID)
		}
	}
	if bad != 1 || good != 1 {
		t.Errorf("bad, good = %d, %d; want 1, 1", bad, good)
	}
}

func TestInstantAndOptJSON(t *testing.T) {
	type rec struct {
		I archive.Instant     `json:"i"`
		O archive.Opt[int]    `json:"o"`
		S archive.Opt[string] `json:"s"`
	}
	for _, tt := range []struct {
		why, in string
		want    rec
		wantErr bool
	}{
		{"absent facts are null", `{"i":null,"o":null,"s":null}`, rec{}, false},
		{"a known zero is not unknown", `{"i":5,"o":0,"s":""}`, rec{5, archive.Some(0), archive.Some("")}, false},
		{"instant zero is never written", `{"i":0}`, rec{}, true},
		{"an instant is a whole number", `{"i":1.5}`, rec{}, true},
	} {
		var got rec
		err := json.Unmarshal([]byte(tt.in), &got)
		if (err != nil) != tt.wantErr {
			t.Errorf("%s: Unmarshal(%s) error = %v", tt.why, tt.in, err)
			continue
		}
		if err != nil {
			continue
		}
		if got != tt.want {
			t.Errorf("%s: Unmarshal(%s) = %+v; want %+v", tt.why, tt.in, got, tt.want)
		}
		if b, _ := json.Marshal(got); string(b) != tt.in {
			t.Errorf("%s: Marshal = %s; want %s", tt.why, b, tt.in)
		}
	}
}
