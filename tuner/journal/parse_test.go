package journal

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/tuner"
)

// Any bytes are read or refused; what is whole is read the same again, and is all that is kept.
func FuzzParse(f *testing.F) {
	h, err := NewHeader(tuner.Study{Name: "x", Seed: 1, Budget: tuner.Budget{Time: time.Hour}}, "list")
	if err != nil {
		f.Fatal(err)
	}
	b, err := json.Marshal(h)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(b, '\n'))
	f.Add([]byte(string(b) + "\n{\"n\":1,\"role\":\"default\",\"outcome\":\"ok\",\"value\":1}\n{\"n\":2"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, trials, whole, err := parse(b)
		if err != nil {
			return
		}
		if whole > len(b) || (whole > 0 && b[whole-1] != '\n') || bytes.IndexByte(b[whole:], '\n') >= 0 {
			t.Fatalf("%d whole bytes of %q", whole, b)
		}
		_, again, n, err := parse(b[:whole])
		if err != nil || n != whole || len(again) != len(trials) {
			t.Fatalf("read again: %d trials in %d bytes, %v; want %d in %d", len(again), n, err, len(trials), whole)
		}
	})
}
