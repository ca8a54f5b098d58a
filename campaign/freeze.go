package campaign

import (
	"context"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks/workload"
)

// WorkloadFile is the name of the frozen workload in a run directory.
const WorkloadFile = "workload.jsonl.zst"

// freezer keeps what a run sends, on its way to the server, so that it can be sent again.
type freezer struct {
	next loadgen.Sender
	w    *workload.Writer

	mu    sync.Mutex
	ended map[string]archive.Instant // when the latest reply of a session ended
	order []string                   // of ended, oldest first
}

// maxEnded bounds the sessions whose latest end is remembered. A session that pauses
// while so many others end loses its think time in the frozen file.
const maxEnded = 1 << 17

func newFreezer(next loadgen.Sender, w *workload.Writer) *freezer {
	return &freezer{next: next, w: w, ended: map[string]archive.Instant{}}
}

// Do sends the call and keeps it.
func (f *freezer) Do(ctx context.Context, call *wire.Call, rec *archive.Request) {
	e := workload.Entry{
		Session: rec.Session, Turn: rec.Turn, Phase: rec.Phase, Kind: rec.Kind, Task: rec.Task, Item: rec.Item,
		At: rec.T.Intended, Think: f.think(rec), Messages: call.Messages,
		MaxTokens: call.MaxTokens, IgnoreEOS: call.IgnoreEOS, Temperature: call.Temperature, Stop: call.Stop,
		PromptTokens: rec.Asked.PromptTokens, SharedPrefix: rec.Asked.SharedPrefix,
	}
	f.w.Add(e)
	f.next.Do(ctx, call, rec)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, seen := f.ended[rec.Session]; !seen {
		f.order = append(f.order, rec.Session)
	}
	f.ended[rec.Session] = rec.T.Done
	if len(f.order) > maxEnded {
		delete(f.ended, f.order[0])
		f.order = f.order[1:]
	}
}

// think is the pause between the session's latest reply and this turn.
func (f *freezer) think(rec *archive.Request) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, ok := f.ended[rec.Session]
	if !ok || !before.Known() {
		return 0
	}
	return max(0, rec.T.Intended.Sub(before))
}
