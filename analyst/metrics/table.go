package metrics

import (
	"math"

	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// Gaps are the pools of gaps between token-bearing events of ok load requests in one
// scope, in milliseconds.
type Gaps struct {
	ICL stats.Pool // between chunks
	ITL stats.Pool // between tokens, from the requests whose tokens per chunk are known
	// Clusters holds the gaps between chunks by session, for intervals; not for tasks.
	Clusters stats.Groups
	// Line is the gaps between chunks over time; kept for phases only.
	Line Gapline
	// Known and Unknown count the requests with more than one chunk by whether their
	// tokens per chunk are known.
	Known, Unknown int
}

// pageRows is the length of one page of rows: growth never copies what is there.
const pageRows = 4096

// Table collects the rows of a run in one pass. Its memory grows by about 170 bytes a
// request and does not depend on their lengths. It is not safe for concurrent use.
type Table struct {
	pages  [][]Row
	n      int
	Phases Names
	Tasks  Names
	Fails  Names
	gaps   map[string]*Gaps
	// windows bound the measured part of each phase while the records are read.
	windows map[string]Bounds
	tally   map[string]*Tally
}

// Bounds is the measured window of a phase as its events tell it; unknown ends are
// zero.
type Bounds struct{ From, To archive.Instant }

// Tally is the tokens of one phase that lie inside its bounds.
type Tally struct {
	// Inside counts tokens emitted from the start to the end of the bounds, After those
	// emitted later, while the phase drained.
	Inside, After float64
	// Prompt and Cached are the prompt tokens of ok requests whose first token came
	// inside the bounds, PromptAfter and CachedAfter later.
	Prompt, Cached, PromptAfter, CachedAfter float64
	// Unknown counts ok requests whose output length nobody reported.
	Unknown int
}

// NewTable returns an empty table. The bounds of each phase are what its events say.
func NewTable(bounds map[string]Bounds) *Table {
	return &Table{gaps: map[string]*Gaps{}, windows: bounds, tally: map[string]*Tally{}}
}

// Add takes one record. It keeps no reference to it.
func (t *Table) Add(r *archive.Request) {
	row := RowOf(r)
	row.Phase = t.Phases.index(r.Phase)
	row.Task = t.Tasks.index(r.Task)
	if r.Error != nil {
		row.Fail = t.Fails.index(r.Error.Kind)
	}
	if k := len(t.pages); k == 0 || len(t.pages[k-1]) == pageRows {
		t.pages = append(t.pages, make([]Row, 0, pageRows))
	}
	k := len(t.pages) - 1
	t.pages[k] = append(t.pages[k], row)
	t.n++
	if !row.OK() {
		return
	}
	t.emit(r, &row)
	if r.Kind == archive.KindLoad {
		var in [3]*Gaps
		for i, s := range [3]string{"all", "phase:" + r.Phase, "task:" + r.Task} {
			if in[i] = t.gaps[s]; in[i] == nil {
				in[i] = new(Gaps)
				t.gaps[s] = in[i]
			}
		}
		addGaps(&in, r, row.TokensKnown, row.Session)
	}
}

// addGaps adds the gaps of a request to the pools of all its scopes; the second is that
// of its phase.
func addGaps(in *[3]*Gaps, r *archive.Request, known bool, session uint64) {
	n := len(r.Chunks.T)
	if n < 2 {
		return
	}
	for _, g := range in {
		if known {
			g.Known++
		} else {
			g.Unknown++
		}
	}
	for i := 1; i < n; i++ {
		gap, ok := between(r.Chunks.T[i-1], r.Chunks.T[i])
		if !ok {
			continue
		}
		b := stats.Bucket(gap)
		for _, g := range in {
			g.ICL.AddAt(gap, b)
		}
		in[0].Clusters.AddAt(session, b)
		in[1].Clusters.AddAt(session, b)
		in[1].Line.add(r.Chunks.T[i], b)
		if !known {
			continue
		}
		tokens := int32(1)
		if len(r.Chunks.Tokens) == n {
			tokens = r.Chunks.Tokens[i]
		}
		if tokens != 1 {
			gap /= float64(tokens)
			b = stats.Bucket(gap)
		}
		for range min(tokens, 4096) {
			for _, g := range in {
				g.ITL.AddAt(gap, b)
			}
		}
	}
}

// emit credits the tokens of an ok request to the time they were emitted at.
func (t *Table) emit(r *archive.Request, row *Row) {
	if r.Kind == archive.KindWarmup && !t.windows[r.Phase].From.Known() {
		return
	}
	y := t.tally[r.Phase]
	if y == nil {
		y = new(Tally)
		t.tally[r.Phase] = y
	}
	b := t.windows[r.Phase]
	if row.Completion < 0 {
		y.Unknown++
	}
	place := func(at archive.Instant, inside, after *float64, tokens float64) {
		switch {
		case b.From.Known() && at < b.From:
		case b.To.Known() && at >= b.To:
			*after += tokens
		default:
			*inside += tokens
		}
	}
	if row.Prompt >= 0 && row.T.First.Known() {
		place(row.T.First, &y.Prompt, &y.PromptAfter, float64(row.Prompt))
		place(row.T.First, &y.Cached, &y.CachedAfter, float64(max(0, row.Cached)))
	}
	if row.Completion < 1 || len(r.Chunks.T) == 0 {
		return
	}
	if len(r.Chunks.Tokens) == len(r.Chunks.T) {
		var sum float64
		for _, k := range r.Chunks.Tokens {
			sum += float64(k)
		}
		if sum > 0 {
			scale := float64(row.Completion) / sum
			for i, at := range r.Chunks.T {
				place(at, &y.Inside, &y.After, float64(r.Chunks.Tokens[i])*scale)
			}
			return
		}
	}
	each := float64(row.Completion) / float64(len(r.Chunks.T))
	for _, at := range r.Chunks.T {
		place(at, &y.Inside, &y.After, each)
	}
}

// Len returns how many rows there are.
func (t *Table) Len() int { return t.n }

// Each calls f for every row, in the order in which the requests ended.
func (t *Table) Each(f func(*Row)) {
	for _, p := range t.pages {
		for i := range p {
			f(&p[i])
		}
	}
}

// Gaps returns the pools of a scope ("all", "phase:NAME" or "task:NAME"), nil for none.
func (t *Table) Gaps(scope string) *Gaps { return t.gaps[scope] }

// TallyOf returns the tokens of a phase.
func (t *Table) TallyOf(phase string) Tally {
	if y := t.tally[phase]; y != nil {
		return *y
	}
	return Tally{}
}

// Values returns f of every ok load row for which keep is true, in order.
func (t *Table) Values(keep func(*Row) bool, f func(*Row) (float64, bool)) []float64 {
	out := make([]float64, 0, t.n)
	t.Each(func(r *Row) {
		if r.kind != 0 || !r.OK() || (keep != nil && !keep(r)) {
			return
		}
		if v, ok := f(r); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out = append(out, v)
		}
	})
	return out
}

// Names numbers strings in the order of their first appearance.
type Names struct {
	list  []string
	byStr map[string]uint16
}

func (n *Names) index(s string) uint16 {
	if i, ok := n.byStr[s]; ok {
		return i
	}
	if n.byStr == nil {
		n.byStr = map[string]uint16{}
	}
	if len(n.list) == math.MaxUint16 {
		return math.MaxUint16 - 1
	}
	i := uint16(len(n.list))
	n.list = append(n.list, s)
	n.byStr[s] = i
	return i
}

// List returns the names by number.
func (n *Names) List() []string { return n.list }

// At returns the name with a number.
func (n *Names) At(i uint16) string {
	if int(i) < len(n.list) {
		return n.list[i]
	}
	return ""
}

// Index returns the number of a name.
func (n *Names) Index(s string) (uint16, bool) {
	i, ok := n.byStr[s]
	return i, ok
}
