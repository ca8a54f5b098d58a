package offline

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Lead is the instant of the run's clock at simulated time zero.
const Lead = time.Second

// Instant is a simulated time on the run's clock.
func Instant(at time.Duration) archive.Instant { return archive.Instant(Lead + at) }

// Phase is the name of the one phase of an offline run.
const Phase = "main"

// record opens the request's record when it is sent. dial is what connecting took, 0 on a
// connection that was open.
func (w *world) record(f *flight, dial time.Duration) {
	if !w.cfg.Records {
		return
	}
	p := f.sess.plan
	shared := 0
	if f.turn > 0 {
		shared = f.req.Prompt - p.Turns[f.turn].Prompt
	} else {
		shared = p.Shared.Tokens
	}
	kind := archive.KindLoad
	if f.intended < w.cfg.Warmup {
		kind = archive.KindWarmup
	}
	f.rec = &archive.Request{
		ID: fmt.Sprintf("r%06d", f.serial), Session: fmt.Sprintf("s%05d", f.sess.id), Turn: f.turn, Phase: Phase, Task: p.Task, Kind: kind,
		T:        archive.Times{Intended: Instant(f.intended), Send: Instant(f.sent)},
		Asked:    archive.Asked{PromptTokens: archive.Some(f.req.Prompt), MaxTokens: archive.Some(f.req.Output), SharedPrefix: archive.Some(max(shared, 0))},
		Usage:    archive.Usage{Source: archive.UsageNone},
		InFlight: archive.Some(w.open),
	}
	f.rec.Chunks.T = make([]archive.Instant, 0, f.req.Output)
	f.rec.Conn = archive.Conn{Reused: archive.Some(dial == 0), Protocol: "HTTP/1.1", Stamp: "user", Wait: archive.Some(int64(w.now - f.intended))}
	if dial > 0 {
		f.rec.Conn.Dial = archive.Some(int64(dial))
	}
	w.flights[f] = struct{}{}
}

func (w *world) chunk(f *flight, at time.Duration, n int) {
	w.seen.tokens += int64(n)
	if f.rec == nil {
		return
	}
	if f.rec.T.First == 0 {
		f.rec.T.Headers = Instant(at)
		f.rec.T.First = Instant(at)
		f.rec.T.Answer = Instant(at)
	}
	// Several tokens of one step leave as one event each, in one write.
	if w.cfg.Proxy.Every > 0 {
		n = 1
	}
	for range n {
		f.rec.Chunks.T = append(f.rec.Chunks.T, Instant(at))
	}
	f.rec.T.Last = Instant(at)
}

// finish closes the record of a request that ended well.
func (w *world) finish(f *flight) {
	w.seen.ok++
	if w.cfg.Ended != nil {
		w.cfg.Ended(Ended{Intended: f.intended, First: f.first, Done: f.end, Prompt: f.req.Prompt, Output: f.req.Generated})
	}
	if f.rec == nil {
		return
	}
	delete(w.flights, f)
	f.rec.Status = archive.StatusOK
	f.rec.T.Done = Instant(w.now)
	f.rec.Finish = f.req.Finish.String()
	f.rec.Usage = archive.Usage{
		Prompt: archive.Some(f.req.Prompt), Completion: archive.Some(f.req.Generated), Cached: archive.Some(f.req.Cached), Source: archive.UsageServer,
	}
	w.res.Requests = append(w.res.Requests, f.rec)
}

// cancelOpen ends everything that is still open when the run is over, and what the client
// never sent.
func (w *world) cancelOpen() {
	open := slices.SortedFunc(maps.Keys(w.flights), func(a, b *flight) int { return a.serial - b.serial })
	for _, f := range open {
		f.rec.Status = archive.StatusCancelled
		f.rec.Error = &archive.Failure{Kind: archive.FailEnded, Message: "open when the run ended"}
		f.rec.T.Done = Instant(w.now)
		w.res.Requests = append(w.res.Requests, f.rec)
	}
	clear(w.flights)
	for _, f := range w.held {
		w.record(f, 0)
		if f.rec == nil {
			continue
		}
		delete(w.flights, f)
		f.rec.T.Send = 0
		f.rec.Status = archive.StatusCancelled
		f.rec.Error = &archive.Failure{Kind: archive.FailUnsent, Message: "the run ended before it was sent"}
		w.res.Requests = append(w.res.Requests, f.rec)
	}
	w.held = nil
}
