//go:build linux

package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk fills the disk under one file after some records: the rest of the run is
// readable, the writer says what happened, and nobody who records waits for ever.
func TestFullDisk(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "run"), Manifest{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	old := w.files[RequestsFile].f
	defer old.Close()
	w.files[RequestsFile].f = full
	w.files[RequestsFile].w.Reset(full)
	w.Event(Event{T: 1, Kind: "before", Severity: SeverityInfo})
	for range 3 * queueLen {
		w.Request(&Request{ID: strings.Repeat("x", 100)})
	}
	<-w.Failed()
	if err := w.Err(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), RequestsFile) {
		t.Errorf("Err() = %v; want ENOSPC and the file's name", err)
	}
	if err := w.Close(Manifest{ID: "r", State: StateInterrupted, Reason: "disk full"}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close() = %v; want ENOSPC", err)
	}
	r, err := Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if r.Manifest.State != StateInterrupted || r.Manifest.Reason != "disk full" {
		t.Errorf("manifest = %+v", r.Manifest)
	}
	n := 0
	for e, err := range r.Events() {
		if err != nil || e.Kind != "before" {
			t.Errorf("event = %+v, %v", e, err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d events; want the one written before", n)
	}
}
