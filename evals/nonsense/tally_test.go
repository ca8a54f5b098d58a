package nonsense

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTally(t *testing.T) {
	tally := NewTally()
	same := "This is exactly the same long reply to everything that anybody ever asks."
	tally.Add(Reply{Text: same, Finish: "stop"}, "a")
	tally.Add(Reply{Text: same, Finish: "stop"}, "a")
	tally.Add(Reply{Text: same, Finish: "stop"}, "b")
	tally.Add(Reply{Text: "yes", Finish: "length"}, "c")
	tally.Add(Reply{Text: "yes", Finish: "stop"}, "d")
	tally.Add(Reply{Text: "", Finish: "stop"}, "e")
	want := Summary{Replies: 6, Flagged: 1, Rules: map[Rule]int{Empty: 1}, Length: 1, MeanChars: float64(3*len(same)+6) / 6, Stuck: 1}
	if d := cmp.Diff(want, tally.Summary()); d != "" {
		t.Errorf("Summary (-want +got):\n%s", d)
	}
}
