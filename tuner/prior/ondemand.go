package prior

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/inferencebench/inferencebench/tuner/play"
	"github.com/inferencebench/inferencebench/tuner/search"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// OnDemand expects something of a configuration when it is asked, and remembers it: what a space
// that is too large to be played as a whole needs. It implements search.Prior and is safe for
// concurrent use.
type OnDemand struct {
	q    Question
	ctx  context.Context
	def  play.Figures
	base float64
	most float64

	mu      sync.Mutex
	guesses map[string]*search.Guess // by server; nil: it would not start
	playing map[string]chan struct{} // closed when the guess is there
}

// Open plays the default. Everything else is played when it is asked about, as long as ctx
// lasts; after that nothing is expected of what was not asked before. Question.Most, Seed and
// Workers have no meaning here.
func Open(ctx context.Context, q Question) (*OnDemand, error) {
	srv, err := q.Server(space.Assignment{})
	if err != nil {
		return nil, fmt.Errorf("prior: the default: %w", err)
	}
	def, err := play.Run(ctx, srv, q.Load)
	if err != nil {
		return nil, fmt.Errorf("prior: the default: %w", err)
	}
	t := &OnDemand{q: q, ctx: ctx, def: def, guesses: map[string]*search.Guess{}, playing: map[string]chan struct{}{}}
	if q.Maximise { // what comes to nothing counts as this much less than the default
		t.most = q.Value(def)
	}
	t.base = t.score(def)
	return t, nil
}

// Default is what the default is expected to do.
func (t *OnDemand) Default() play.Figures { return t.def }

func (t *OnDemand) score(f play.Figures) float64 {
	return math.Log(max(t.q.Value(f), t.most/floor, math.SmallestNonzeroFloat64))
}

// Guess implements search.Prior.
func (t *OnDemand) Guess(a space.Assignment) (search.Guess, bool) {
	srv, err := t.q.Server(a)
	if err != nil {
		return search.Guess{}, false
	}
	key := identity(srv)
	for {
		t.mu.Lock()
		if g, ok := t.guesses[key]; ok {
			t.mu.Unlock()
			if g == nil {
				return search.Guess{}, false
			}
			return *g, true
		}
		wait, busy := t.playing[key]
		if !busy {
			t.playing[key] = make(chan struct{})
			t.mu.Unlock()
			break
		}
		t.mu.Unlock()
		<-wait
	}
	g := t.play(srv)
	t.mu.Lock()
	t.guesses[key] = g
	close(t.playing[key])
	delete(t.playing, key)
	t.mu.Unlock()
	if g == nil {
		return search.Guess{}, false
	}
	return *g, true
}

// play is the guess of a server; nil where it would not start.
func (t *OnDemand) play(srv play.Server) *search.Guess {
	f, err := play.Run(t.ctx, srv, t.q.Load)
	if err != nil {
		return nil
	}
	g := search.Guess{Gain: t.score(f) - t.base}
	if !t.q.Maximise {
		g.Gain = -g.Gain
	}
	if t.q.Slack != nil {
		g.Slack = t.q.Slack(f, t.def)
	}
	return &g
}

// Played is the number of different servers that were played beside the default.
func (t *OnDemand) Played() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.guesses)
}
