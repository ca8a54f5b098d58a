package loadgen

import (
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// B87: only an answer that ended by itself, before the length that a server was asked to fill,
// is marked.
func TestB87EarlyEnd(t *testing.T) {
	for _, c := range []struct {
		why    string
		ignore bool
		n      archive.Opt[int]
		finish string
		want   bool
	}{
		{"the whole length", true, archive.Some(100), "length", false},
		{"ended early", true, archive.Some(37), "stop", true},
		{"ended early, as it may", false, archive.Some(37), "stop", false},
		{"nobody counted", true, archive.Opt[int]{}, "stop", false},
		{"cut by the context", true, archive.Some(37), "length", false},
	} {
		rec := &archive.Request{Status: archive.StatusOK, Finish: c.finish, Usage: archive.Usage{Completion: c.n}}
		earlyEnd(rec, c.ignore, 100)
		if got := len(rec.Annotations) == 1 && rec.Annotations[0].Code == EOSNotIgnored; got != c.want {
			t.Errorf("%s: %+v, want an annotation: %v", c.why, rec.Annotations, c.want)
		}
	}
}
