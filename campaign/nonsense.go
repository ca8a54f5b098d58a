package campaign

import (
	"fmt"
	"sync"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/nonsense"
)

// EventReplies is the kind of the event that says how many replies were broken by form.
const EventReplies = "reply_check"

// replyCheck looks at the form of every reply of the load: loops, garbage, cut text. It is
// safe for concurrent use.
type replyCheck struct {
	mu    sync.Mutex
	tally *nonsense.Tally
}

func newReplyCheck() *replyCheck { return &replyCheck{tally: nonsense.NewTally()} }

// add inspects the reply of a finished request and annotates its record.
func (c *replyCheck) add(rec *archive.Request) {
	if rec.Status != archive.StatusOK {
		return
	}
	c.mu.Lock()
	flags := c.tally.Add(nonsense.Reply{Text: rec.Text, Reasoning: rec.Reasoning, Finish: rec.Finish}, rec.BodySHA256)
	c.mu.Unlock()
	for _, f := range flags {
		rec.Annotations = append(rec.Annotations, archive.Annotation{Code: "reply_" + string(f.Rule), Message: f.Message})
	}
}

// event sums up.
func (c *replyCheck) event(now archive.Instant) archive.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.tally.Summary()
	e := archive.Event{
		T: now, Kind: EventReplies, Severity: archive.SeverityInfo, Source: "evals",
		Message: fmt.Sprintf("%d of %d replies are broken by their form", s.Flagged, s.Replies),
		Fields:  map[string]any{"summary": s},
	}
	if s.Stuck > 0 {
		e.Message += fmt.Sprintf("; %d repeat the reply to another prompt word for word", s.Stuck)
	}
	if s.Flagged*100 > s.Replies || s.Stuck*20 > s.Replies {
		e.Severity = archive.SeverityWarning
	}
	return e
}
