package campaign

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/quality"
)

// EventDeterminism is the kind of the event that says how often the same prompt got the
// same reply.
const EventDeterminism = "determinism"

// determinism asks the same prompts alone and under load and records where the replies
// part.
func (r *run) determinism(ctx context.Context) error {
	conc := 1
	for _, p := range r.cfg.Phases {
		conc = max(conc, p.Concurrency)
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	record := func(rec *archive.Request) {
		mu.Lock()
		first := !seen[rec.Phase]
		seen[rec.Phase] = true
		mu.Unlock()
		if first {
			r.w.Event(archive.Event{
				T: rec.T.Intended, Kind: archive.EventPhaseStart, Severity: archive.SeverityInfo, Source: "evals",
				Message: "phase " + rec.Phase + " started", Fields: map[string]any{"phase": rec.Phase, "load": "repeated prompts"},
			})
		}
		r.w.Request(rec)
	}
	rep, err := quality.Run(ctx, quality.Options{
		Sender: r.sender, Clock: r.clock, Concurrency: conc, Seed: r.cfg.Seed,
		Repeats: r.cfg.Checkpoints.Determinism, Record: record, Checkpoint: r.w.Checkpoint,
	})
	if err != nil {
		return err
	}
	for _, l := range rep.Determinism {
		r.w.Event(archive.Event{
			T: r.clock.Now(), Kind: EventDeterminism, Severity: archive.SeverityInfo, Source: "evals",
			Message: strings.TrimSpace(fmt.Sprintf("%s: %d of %d replies equal their reference; %.2f divergences per 1,000 %s. %s", l.Name, l.Equal, l.Replies, l.Hazard, l.Unit, l.CacheText())),
			Fields:  map[string]any{"level": l},
		})
	}
	return nil
}
