package live

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/token"
	"github.com/inferencebench/inferencebench/tasks/workload"
)

// Traffic is the load of every trial: made once from a seed, frozen, and replayed. It has
// either a Concurrency or a Rate.
type Traffic struct {
	Workload    campaign.Workload
	Checkpoints campaign.Checkpoints
	// Concurrency is the users of a closed loop, Rate the sessions that arrive each second in
	// an open one, by the process Arrival.
	Concurrency int
	Rate        float64
	Arrival     string
	// Window is how long a trial of rung 1 measures; rung 0 takes a third, and each further
	// rung twice the one before. Warmup comes first.
	Window, Warmup time.Duration
	// Sessions is how many sessions the workload has; 0 estimates what the longest trial needs.
	Sessions int
}

// maxSessions bounds a frozen workload.
const maxSessions = 50_000

// window is how long a rung measures.
func (t *Traffic) window(rung int) time.Duration {
	if rung <= 0 {
		return t.Window / 3
	}
	return t.Window << (rung - 1)
}

// size is how many sessions a trial of a rung may use.
func (t *Traffic) size(rung int) int {
	seconds := (t.window(rung) + t.Warmup).Seconds()
	switch {
	case t.Sessions > 0:
		return min(t.Sessions, maxSessions)
	case t.Rate > 0:
		return min(maxSessions, int(math.Ceil(t.Rate*seconds))+1)
	}
	return min(maxSessions, max(4*t.Concurrency, int(math.Ceil(float64(t.Concurrency)*seconds))))
}

// items are the checkpoint items of a seed; nil where the traffic has none.
func (t *Traffic) items(seed uint64) (evals.Mix, error) {
	c := t.Checkpoints
	if !c.Enabled {
		return nil, nil
	}
	sets, err := evals.Open(evals.Selection{
		Kinds: c.Kinds, Seed: seed, GSM8K: c.GSM8K, HumanEval: c.HumanEval, LongTokens: c.LongTokens,
		Off: errors.New("scored in the run"),
	})
	if err != nil {
		return nil, err
	}
	for i := range sets {
		sets[i] = sets[i].Take(seed, c.Items)
	}
	return sets, nil
}

// source is the sessions of a seed with the items between them. salt goes into the nonces
// only: traffic of one seed and two salts differs in nothing that costs time, and no prompt of
// the one is in a cache that the other filled.
func (t *Traffic) source(seed uint64, salt string) (tasks.Source, error) {
	w := t.Workload
	o := tasks.Options{
		Seed: seed, Salt: salt, SharedPrefixTokens: w.SharedPrefix, IgnoreEOS: w.IgnoreEOS,
	}
	if w.Temperature != nil {
		o.Temperature = archive.Some(*w.Temperature)
	}
	var errs []error
	length := func(name, s string) tasks.Length {
		l, err := tasks.ParseLength(s)
		if err != nil {
			errs = append(errs, fmt.Errorf("load.%s: %w", name, err))
		}
		return l
	}
	o.ISL, o.OSL, o.Turns = length("isl", w.ISL), length("osl", w.OSL), length("turns", w.Turns)
	var err error
	if o.Think, err = tasks.ParsePause(w.Think); err != nil {
		errs = append(errs, fmt.Errorf("load.think: %w", err))
	}
	if w.Tasks != "" {
		if o.Mix, err = tasks.ParseMix(w.Tasks); err != nil {
			errs = append(errs, fmt.Errorf("load.tasks: %w", err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	load, err := tasks.NewGenerator(o)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	items, err := t.items(seed)
	if err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	if items == nil || t.Checkpoints.Every == 0 {
		return load, nil
	}
	return tasks.Interleave(load, items.Source(seed), t.Checkpoints.Every), nil
}

// timed is one session on its way into a workload.
type timed struct {
	id      uint64
	session tasks.Session
	turns   int
	before  []tasks.Message
}

// perToken is how long a token of a reply is taken to last in the schedule of a
// conversation's later turns.
const perToken = 20 * time.Millisecond

// entries makes the workload of a seed for a rung. order permutes which session arrives when;
// 0 leaves them as they come.
func (t *Traffic) entries(seed, order uint64, salt string, rung int) ([]workload.Entry, error) {
	source, err := t.source(seed, salt)
	if err != nil {
		return nil, err
	}
	n := t.size(rung)
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i)
	}
	if order > 0 {
		rand.New(rand.NewPCG(seed, order)).Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	}
	if t.Rate > 0 {
		return t.open(source, ids, seed, rung)
	}
	return t.closed(source, ids, seed), nil
}

// closed orders requests as a closed loop's users would send them: each user has one
// conversation after another, and all take turns.
func (t *Traffic) closed(source tasks.Source, ids []uint64, seed uint64) []workload.Entry {
	var out []workload.Entry
	users := make([]*timed, max(1, t.Concurrency))
	for {
		idle := true
		for u := range users {
			for users[u] == nil && len(ids) > 0 {
				users[u], ids = &timed{id: ids[0], session: source.Session(ids[0])}, ids[1:]
			}
			if users[u] == nil {
				continue
			}
			e, ok := users[u].next(seed)
			if !ok {
				users[u] = nil
				idle = false
				continue
			}
			e.At, e.Think, idle = archive.Instant(len(out)+1)*archive.Instant(time.Millisecond), 0, false
			out = append(out, e)
		}
		if idle {
			return out
		}
	}
}

// open gives each session its arrival, and its later turns what a reply and a pause take.
func (t *Traffic) open(source tasks.Source, ids []uint64, seed uint64, rung int) ([]workload.Entry, error) {
	name := t.Arrival
	if name == "" {
		name = campaign.DefaultArrival
	}
	process, err := arrival.Parse(name, t.Rate, seed)
	if err != nil {
		return nil, fmt.Errorf("load.arrival: %w", err)
	}
	var out []workload.Entry
	end := t.window(rung) + t.Warmup
	at := time.Duration(0)
	for n, id := range ids {
		var more bool
		if at, more = process.Next(at, uint64(n)); !more || at > end {
			break
		}
		s := &timed{id: id, session: source.Session(id)}
		due := at
		for {
			e, ok := s.next(seed)
			if !ok {
				break
			}
			due += e.Think
			e.At, e.Think = archive.Instant(1+due), 0
			due += time.Duration(e.MaxTokens) * perToken
			if time.Duration(e.At) <= end {
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b workload.Entry) int { return int(max(-1, min(1, a.At-b.At))) })
	return out, nil
}

// next is the session's next request, its history filled with replies of our own: what is
// sent must not depend on what a server answers.
func (s *timed) next(seed uint64) (workload.Entry, bool) {
	reply := ""
	if s.turns > 0 {
		reply = s.before[len(s.before)-1].Content
	}
	turn, ok := s.session.Next(reply)
	if !ok {
		return workload.Entry{}, false
	}
	if turn.System != "" && s.turns == 0 {
		s.before = append(s.before, tasks.Message{Role: "system", Content: turn.System})
	}
	s.before = append(s.before, tasks.Message{Role: "user", Content: turn.User})
	kind := turn.Kind
	if kind == "" {
		kind = archive.KindLoad
	}
	e := workload.Entry{
		Session: fmt.Sprintf("s%d", s.id), Turn: s.turns, Phase: "load", Kind: kind, Task: turn.Task, Item: turn.Item,
		Think: turn.Think, Messages: slices.Clone(s.before), MaxTokens: turn.MaxTokens, IgnoreEOS: turn.IgnoreEOS,
		Temperature: turn.Temperature, Stop: turn.Stop, PromptTokens: turn.PromptTokens, SharedPrefix: turn.SharedPrefix,
	}
	s.turns++
	s.before = append(s.before, tasks.Message{Role: "assistant", Content: tasks.Filler(seed, s.id<<8|uint64(s.turns), max(8, turn.MaxTokens), token.Estimator)})
	return e, true
}

// Freeze writes the workload of a seed to a new file and returns its content hash.
func (t *Traffic) Freeze(path string, seed, order uint64, salt, model string, rung int) (sha256 string, err error) {
	all, err := t.entries(seed, order, salt, rung)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", errors.New("the workload has no request: raise the rate or the window")
	}
	w, err := workload.Create(path, workload.Header{Run: salt, Seed: seed, Model: model})
	if err != nil {
		return "", fmt.Errorf("freeze the workload: %w", err)
	}
	for _, e := range all {
		w.Add(e)
	}
	if sha256, err = w.Close(); err != nil {
		return "", fmt.Errorf("freeze the workload: %w", err)
	}
	return sha256, nil
}
