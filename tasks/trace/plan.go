package trace

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// ErrQuantised is in the chain of the error for time stamps on a coarse grid.
var ErrQuantised = errors.New("time stamps are quantised")

// PlanOptions say how a trace becomes load.
type PlanOptions struct {
	Speed  float64 // time runs this many times as fast; 0 is 1
	Dither bool    // spread stamps that share a grid point evenly at random over the grid
	Seed   uint64  // of the dithering and of the texts
	// Salt makes prompts differ between runs of the same seed; prompts that share blocks
	// in the trace share text within the run.
	Salt string

	From, To time.Duration // the part of the trace to use; To 0 is its end
	Limit    int           // requests at most; 0 is all
	MaxIn    int           // longer prompts are cut to this and counted; 0 is no limit
	MaxOut   int           // likewise answers

	KeepFailed bool // send also requests that the trace marks as failed, for one token
	IgnoreEOS  bool // ask the server for exactly the trace's answer length

	Counter        token.Counter // nil is token.Estimator
	TemplateTokens int           // see tasks.Options
}

// Plan is a trace made ready to send: session i is request i, due at Schedule[i].
type Plan struct {
	Schedule Schedule
	Rows     []Row
	Dropped  int // requests left out: failed ones, and those without an answer
	CutIn    int // prompts that were longer than MaxIn
	CutOut   int // answers that were longer than MaxOut
	o        PlanOptions
	seed     uint64
}

// Schedule is the due times of a plan, from its start. It is an arrival process.
type Schedule []time.Duration

// Next returns the due time of arrival n.
func (s Schedule) Next(_ time.Duration, n uint64) (time.Duration, bool) {
	if n >= uint64(len(s)) {
		return 0, false
	}
	return s[n], true
}

// NewPlan makes a plan. It refuses a trace without times, and one with quantised time
// stamps unless they are to be dithered.
func NewPlan(t *Trace, o PlanOptions) (*Plan, error) {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if !(o.Speed > 0) || math.IsInf(o.Speed, 0) {
		return nil, fmt.Errorf("speed %g is not a positive number", o.Speed)
	}
	if o.Counter == nil {
		o.Counter = token.Estimator
	}
	switch {
	case o.TemplateTokens == 0:
		o.TemplateTokens = tasks.DefaultTemplateTokens
	case o.TemplateTokens < 0:
		o.TemplateTokens = 0
	}
	r := Inspect(t)
	if !r.Timed {
		return nil, fmt.Errorf("%s has lengths but no times; use its lengths with an arrival process instead", t.Name)
	}
	if r.Quantum > 0 && !o.Dither {
		return nil, fmt.Errorf("%s: %w to %s, %.0f %% of its gaps are zero; replayed as they are they make bursts that never were. Ask for dithering to spread them over the grid", t.Name, ErrQuantised, r.Quantum, 100*r.Zero)
	}
	p := &Plan{o: o, seed: o.Seed ^ hashText(o.Salt)}
	rows := slices.Clone(t.Rows)
	if r.Quantum > 0 {
		dither(rows, r.Quantum, o.Seed)
	}
	p.take(rows)
	if len(p.Rows) == 0 {
		return nil, fmt.Errorf("%s: no request of it is left to send", t.Name)
	}
	return p, nil
}

func dither(rows []Row, q time.Duration, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0x64697468))
	for i := range rows {
		rows[i].At += time.Duration(r.Float64() * float64(q))
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
}

func (p *Plan) take(rows []Row) {
	var origin time.Duration
	for _, row := range rows {
		if row.At < p.o.From || p.o.To > 0 && row.At >= p.o.To {
			continue
		}
		if p.o.Limit > 0 && len(p.Rows) == p.o.Limit {
			break
		}
		if row.Out == 0 && !p.o.KeepFailed {
			p.Dropped++
			continue
		}
		if p.o.MaxIn > 0 && row.In > p.o.MaxIn {
			row.In = p.o.MaxIn
			p.CutIn++
		}
		if p.o.MaxOut > 0 && row.Out > p.o.MaxOut {
			row.Out = p.o.MaxOut
			p.CutOut++
		}
		if len(p.Rows) == 0 {
			origin = row.At
		}
		p.Rows = append(p.Rows, row)
		p.Schedule = append(p.Schedule, time.Duration(float64(row.At-origin)/p.o.Speed))
	}
}

// planMask keeps the bits of a session number that count within one phase.
const planMask = 1<<32 - 1

// Session is request i, as a conversation of one turn with its whole prompt in it. The
// upper half of i is not looked at; past the end there are no turns.
func (p *Plan) Session(i uint64) tasks.Session { return &request{p: p, i: i & planMask} }

// request is one planned request.
type request struct {
	p    *Plan
	i    uint64
	done bool
}

// Next writes the request.
func (s *request) Next(string) (tasks.Turn, bool) {
	if s.done || s.i >= uint64(len(s.p.Rows)) {
		return tasks.Turn{}, false
	}
	s.done = true
	row := &s.p.Rows[s.i]
	user, shared := s.p.text(s.i, row)
	task := row.Type
	if task == "" {
		task = "trace"
	}
	return tasks.Turn{
		Kind: archive.KindLoad, Task: task, User: user, MaxTokens: max(row.Out, 1), IgnoreEOS: s.p.o.IgnoreEOS,
		PromptTokens: archive.Some(max(row.In, 1)), SharedPrefix: shared,
	}, true
}

// sessionBlock is the size of the pieces that a session's text is made of, in tokens.
const sessionBlock = 256

// text synthesises a prompt: blocks with the same identity have the same text, and later
// requests of a session start with the text of the earlier ones.
func (p *Plan) text(i uint64, row *Row) (string, archive.Opt[int]) {
	n := max(row.In-p.o.TemplateTokens, 1)
	var b strings.Builder
	size, shared := sessionBlock, archive.Some(0)
	id := func(k int) uint64 { return hashWords(1, i, uint64(k)) }
	switch {
	case len(row.Blocks) > 0:
		size, shared = row.Block, archive.Opt[int]{}
		id = func(k int) uint64 {
			if k < len(row.Blocks) {
				return hashWords(2, row.Blocks[k])
			}
			return hashWords(3, i, uint64(k))
		}
	case row.Session != "":
		s := hashText(row.Session)
		shared = archive.Opt[int]{}
		if row.Cached >= 0 {
			shared = archive.Some(row.Cached)
		}
		id = func(k int) uint64 { return hashWords(4, s, uint64(k)) }
	}
	left := n
	for k := 0; left > 0; k++ {
		text := tasks.Filler(p.seed, id(k), size, p.o.Counter)
		if left < size {
			text = token.Cut(p.o.Counter, text, left)
		}
		if k > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text)
		left -= size
	}
	if b.Len() == 0 {
		return "?", shared
	}
	return b.String(), shared
}

func hashText(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // a hash's Write returns no error
	return h.Sum64()
}

func hashWords(ws ...uint64) uint64 {
	x := uint64(0x9e3779b97f4a7c15)
	for _, w := range ws {
		x ^= w
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}
