package learn

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// Options say what is kept.
type Options struct {
	// NoText keeps no text at all: no example, no system message.
	NoText bool
	// Raw switches de-identification off. It is for logs that are known to hold nothing
	// personal.
	Raw bool
	// Examples is how many cleaned prompts are kept of each task kind; 0 is 20.
	Examples int
	Seed     uint64 // of the choice of examples
}

// Learner takes records one at a time. It keeps no text but the examples. It is used by
// one goroutine.
type Learner struct {
	o        Options
	d        *Deidentifier
	rules    []taskRule
	hash     maphash.Seed
	rng      *rand.Rand
	rows     []row
	failed   int
	skipped  int
	systems  map[uint64]*system
	tasks    map[string]int
	examples map[string][]string
	removed  map[string]int
	cachedIn float64
	cached   float64
}

// row is what is kept of a record for the statistics.
type row struct {
	at      time.Time
	end     time.Time
	session uint64
	turn    int // −1 when it follows from the order of time
	in, out int
	system  uint64
}

type system struct{ sessions, tokens int }

// New makes a learner.
func New(o Options) *Learner {
	if o.Examples == 0 {
		o.Examples = 20
	}
	return &Learner{
		o: o, d: NewDeidentifier(), rules: taskRules(), hash: maphash.MakeSeed(), rng: rand.New(rand.NewPCG(o.Seed, 0x6c6561726e)),
		systems: map[uint64]*system{}, tasks: map[string]int{}, examples: map[string][]string{}, removed: map[string]int{},
	}
}

// Skip counts a line that could not be read.
func (l *Learner) Skip() { l.skipped++ }

// maxExample bounds the text of one example, in bytes, after cleaning.
const maxExample = 600

// Add learns from one record.
func (l *Learner) Add(r Record) {
	if r.Failed {
		l.failed++
		return
	}
	w := row{at: r.At, session: l.session(r), turn: -1, in: r.In, out: r.Out}
	if r.History != "" || r.Session == "" {
		w.turn = strings.Count(r.History, "assistant\n")
	}
	if r.In < 0 && r.Prompt != "" {
		w.in = token.Estimate(r.System) + token.Estimate(r.History) + token.Estimate(r.Prompt)
	}
	if !r.At.IsZero() && r.Latency >= 0 {
		w.end = r.At.Add(r.Latency)
	}
	if r.Cached >= 0 && r.In > 0 {
		l.cached, l.cachedIn = l.cached+float64(r.Cached), l.cachedIn+float64(r.In)
	}
	if r.System != "" {
		w.system = maphash.String(l.hash, r.System) | 1
		s := l.systems[w.system]
		if s == nil {
			s = &system{tokens: token.Estimate(r.System)}
			l.systems[w.system] = s
		}
		if w.turn <= 0 {
			s.sessions++
		}
	}
	l.rows = append(l.rows, w)
	if r.Prompt != "" && w.turn <= 0 {
		l.example(r.Prompt)
	}
}

// session identifies the conversation of a record: by the log's own id, or by how the
// conversation starts and who has it.
func (l *Learner) session(r Record) uint64 {
	if r.Session != "" {
		return maphash.String(l.hash, "s\x00"+r.Session)
	}
	start := r.Prompt
	if r.History != "" {
		start, _, _ = strings.Cut(strings.TrimPrefix(r.History, "user\n"), "\x00")
	}
	if start == "" { // nothing to go by: a session of its own
		return l.rng.Uint64()
	}
	return maphash.String(l.hash, "c\x00"+r.User+"\x00"+r.System+"\x00"+start)
}

// example counts the task kind and keeps some cleaned prompts of each, drawn evenly.
func (l *Learner) example(prompt string) {
	task := classify(l.rules, prompt)
	l.tasks[task]++
	if l.o.NoText {
		return
	}
	n, have := l.tasks[task], l.examples[task]
	at := len(have)
	if at >= l.o.Examples {
		if at = l.rng.IntN(n); at >= l.o.Examples {
			if !l.o.Raw { // everything is looked at, so that the report is of the whole log
				l.d.Clean(bounded(prompt), l.removed)
			}
			return
		}
	}
	text := bounded(prompt)
	if !l.o.Raw {
		text = l.d.Clean(text, l.removed)
	}
	if len(text) > maxExample {
		text = cutOutside(text, maxExample)
	}
	if at == len(have) {
		l.examples[task] = append(have, text)
	} else {
		have[at] = text
	}
}

// bounded is the start of a prompt, which is cleaned whole before it is cut.
func bounded(s string) string {
	const limit = 64 << 10
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "")
	}
	return strings.ToValidUTF8(s, "�")
}

// cutOutside cuts a text to n bytes, and not inside a placeholder or a character.
func cutOutside(s string, n int) string {
	if open := strings.LastIndexByte(s[:n], '['); open >= 0 && n-open < 16 && !strings.Contains(s[open:n], "]") {
		n = open
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Model is what was learned.
func (l *Learner) Model() (*Model, error) {
	if len(l.rows) == 0 {
		return nil, errors.New("the logs hold no request that succeeded; known are OpenAI-style and LiteLLM JSON lines, vLLM's request lines, OTLP JSON and CSV with a header")
	}
	m := &Model{Format: Format, Rows: len(l.rows) + l.failed, Failed: l.failed, Skipped: l.skipped, Cached: -1, Removed: l.removed}
	if l.cachedIn > 0 {
		m.Cached = l.cached / l.cachedIn
	}
	if l.o.NoText {
		m.Notes = append(m.Notes, "No text was kept.")
	} else {
		m.Examples = l.examples
	}
	if l.o.Raw {
		m.Removed = nil
		m.Notes = append(m.Notes, "De-identification was switched off: the examples are as they were in the log.")
	}
	sessions := l.group()
	l.lengths(m, sessions)
	l.arrivals(m, sessions)
	for task, n := range l.tasks {
		m.Mix = append(m.Mix, tasks.Share{Task: task, Weight: float64(n)})
	}
	sort.Slice(m.Mix, func(i, j int) bool {
		return m.Mix[i].Weight > m.Mix[j].Weight || m.Mix[i].Weight == m.Mix[j].Weight && m.Mix[i].Task < m.Mix[j].Task
	})
	return m, nil
}

// group sorts the rows into sessions, each in its order, the sessions by their start.
func (l *Learner) group() [][]row {
	slices.SortStableFunc(l.rows, func(a, b row) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return a.turn - b.turn
	})
	at := map[uint64]int{}
	var out [][]row
	for _, r := range l.rows {
		k, ok := at[r.session]
		if ok && r.turn == 0 && out[k][len(out[k])-1].turn >= 0 { // the same start again: another session
			ok = false
		}
		if !ok {
			k = len(out)
			at[r.session] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], r)
	}
	return out
}

func (l *Learner) lengths(m *Model, sessions [][]row) {
	var in, out, follow, turns, think, pairIn, pairOut []float64
	var promptTokens, sharedTokens float64
	commonest := 0
	for _, s := range sessions {
		turns = append(turns, float64(len(s)))
		for k, r := range s {
			if r.out >= 0 {
				out = append(out, math.Max(float64(r.out), 1))
			}
			if r.in > 0 {
				promptTokens += float64(r.in)
				if sys := l.systems[r.system]; sys != nil && sys.sessions >= 10 {
					sharedTokens += math.Min(float64(sys.tokens), float64(r.in))
				}
			}
			if k == 0 {
				if r.in > 0 {
					in = append(in, float64(r.in))
					if r.out > 0 {
						pairIn, pairOut = append(pairIn, float64(r.in)), append(pairOut, float64(r.out))
					}
				}
				continue
			}
			before := s[k-1]
			if d := r.in - before.in - before.out; r.in > 0 && before.in > 0 && before.out >= 0 && d > 0 {
				follow = append(follow, float64(d))
			}
			if end := before.end; !end.IsZero() && r.at.After(end) {
				think = append(think, r.at.Sub(end).Seconds())
			}
		}
	}
	for _, s := range l.systems {
		if s.sessions >= 10 && s.sessions > commonest {
			commonest, m.SharedTokens = s.sessions, s.tokens
		}
	}
	if promptTokens > 0 {
		m.SharedPrefix = sharedTokens / promptTokens
	}
	m.In, m.Out, m.FollowUp, m.Turns = tableOf(in), tableOf(out), tableOf(follow), tableOf(turns)
	m.Sessions, m.MeanTurns = len(sessions), m.Turns.Mean
	m.Correlation = spearman(pairIn, pairOut)
	m.ThinkMedian, m.ThinkSigma = lognormalOf(think)
	for _, t := range []struct {
		name string
		Table
	}{{"prompt lengths", m.In}, {"answer lengths", m.Out}} {
		if t.N == 0 {
			m.Notes = append(m.Notes, fmt.Sprintf("The logs say nothing about %s.", t.name))
		}
	}
}

func (l *Learner) arrivals(m *Model, sessions [][]row) {
	var starts []time.Time
	for _, s := range sessions {
		if !s[0].at.IsZero() {
			starts = append(starts, s[0].at)
		}
	}
	if len(starts) < 10 {
		m.Notes = append(m.Notes, "The logs have too few times to tell how requests arrive.")
		return
	}
	slices.SortFunc(starts, time.Time.Compare)
	span := starts[len(starts)-1].Sub(starts[0])
	m.Span = span.Seconds()
	if m.Span <= 0 {
		return
	}
	m.Rate = float64(len(starts)-1) / m.Span
	m.CV = gapCV(starts)
	if span < 24*time.Hour {
		return
	}
	var counts, hours [24]float64
	for _, t := range starts {
		counts[t.UTC().Hour()]++
	}
	for t := starts[0].UTC(); t.Before(starts[len(starts)-1]); t = t.Add(time.Minute) {
		hours[t.Hour()] += 1.0 / 60
	}
	for h := range counts {
		if hours[h] > 0 {
			m.Hourly[h] = counts[h] / hours[h] / (m.Rate * 3600)
		}
	}
}
