package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
)

// Bounds on what a page keeps of a run, whatever its size.
const (
	maxPoints   = 200_000 // requests kept for charts, a uniform sample beyond
	maxGaps     = 200_000 // chunk gaps kept for their distribution
	maxItems    = 300     // checkpoint items shown
	maxExamples = 5       // failures shown of each kind
	maxEvents   = 200     // events listed
	maxText     = 4000    // runes of one text
	maxSkipped  = 20      // unreadable lines listed
	fineBin     = 0.25    // seconds
	maxFine     = 2 << 20 // fine bins: about six days
)

// point is one request, as charts need it. Times are seconds since the run began,
// latencies milliseconds; NaN where unknown.
type point struct {
	at, ttft, e2e, tpot, lag float64
	phase                    int
	status                   archive.Status
	kind                     archive.Kind
}

// failures is one kind of failure.
type failures struct {
	Kind     string
	N        int
	Examples []example
}

// example is one failed request.
type example struct {
	Request, Phase, Message, Status string
	At                              float64
	Text                            string
}

// item is one checkpoint.
type item struct {
	archive.Checkpoint
	At float64
}

// scan is one pass over the records of a run.
type scan struct {
	base     archive.Instant // instant of second 0 on the page's time axis
	end      float64
	phases   []string
	points   []point
	seen     int
	gaps     []float64 // ms
	gapsSeen int

	tokens, sent, done, failed []float64 // per fine bin

	failures []*failures
	items    []item
	itemsN   int
	series   map[string]*signal // by source, target and name
	order    []string
	lost     map[string]int // samples that could not be read, by source
	events   []archive.Event
	eventsN  int
	skipped  []string // lines that could not be read
	skippedN int
	rng      *rand.Rand
}

// signal is one series of one target.
type signal struct {
	source, target, name string
	t, v                 []float64
}

// read makes the pass. It fails only when a file as a whole cannot be read; a line that
// cannot be read is counted and named.
func read(run *archive.Run, a *archive.Analysis) (*scan, error) {
	s := &scan{
		base: run.Manifest.Started, series: map[string]*signal{}, lost: map[string]int{},
		rng: rand.New(rand.NewPCG(1, 2)), //nolint:gosec // a reproducible sample for charts
	}
	if !s.base.Known() {
		s.base = 1
	}
	for _, w := range a.Windows {
		s.phaseIndex(w.Phase)
	}
	if run.Manifest.Ended.Known() {
		s.end = s.sec(run.Manifest.Ended)
	}
	for r, err := range run.Requests() {
		if err := s.line(err); err != nil {
			return nil, err
		}
		if r != nil {
			s.request(r)
		}
	}
	for p, err := range run.Samples() {
		if err := s.line(err); err != nil {
			return nil, err
		}
		if p != nil {
			s.sample(p)
		}
	}
	for e, err := range run.Events() {
		if err := s.line(err); err != nil {
			return nil, err
		}
		if e != nil {
			s.event(e)
		}
	}
	for c, err := range run.Checkpoints() {
		if err := s.line(err); err != nil {
			return nil, err
		}
		if c != nil {
			s.checkpoint(c)
		}
	}
	slices.SortStableFunc(s.items, func(x, y item) int { return rankItem(x) - rankItem(y) })
	slices.SortStableFunc(s.failures, func(x, y *failures) int { return y.N - x.N })
	return s, nil
}

// line notes an unreadable line and passes any other error on.
func (s *scan) line(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*archive.LineError); !ok { //nolint:errorlint // the iterator yields it bare
		return fmt.Errorf("report: %w", err)
	}
	s.skippedN++
	if len(s.skipped) < maxSkipped {
		s.skipped = append(s.skipped, err.Error())
	}
	return nil
}

func (s *scan) sec(i archive.Instant) float64 { return i.Sub(s.base).Seconds() }

// secOr is sec, or NaN when i is unknown.
func (s *scan) secOr(i archive.Instant) float64 {
	if !i.Known() {
		return math.NaN()
	}
	return s.sec(i)
}

func (s *scan) phaseIndex(name string) int {
	if i := slices.Index(s.phases, name); i >= 0 {
		return i
	}
	if len(s.phases) == 64 { // more phases than that share the last colour
		return 63
	}
	s.phases = append(s.phases, name)
	return len(s.phases) - 1
}

func ms(from, to archive.Instant) float64 {
	if !from.Known() || !to.Known() {
		return math.NaN()
	}
	return float64(to-from) / 1e6
}

func (s *scan) request(r *archive.Request) {
	p := point{
		at: s.secOr(r.T.Intended), phase: s.phaseIndex(r.Phase), status: r.Status, kind: r.Kind,
		ttft: ms(r.T.Intended, r.T.First), e2e: ms(r.T.Intended, r.T.Last), lag: ms(r.T.Intended, r.T.Send), tpot: math.NaN(),
	}
	if n, ok := r.Usage.Completion.Get(); ok && n > 1 {
		p.tpot = ms(r.T.First, r.T.Last) / float64(n-1)
	}
	if r.Status == archive.StatusFailed {
		p.e2e = ms(r.T.Intended, r.T.Done)
		s.failure(r)
	}
	for _, i := range []archive.Instant{r.T.Done, r.T.Last, r.T.Intended} {
		if i.Known() {
			s.end = max(s.end, s.sec(i))
			break
		}
	}
	s.keep(p)
	s.bins(r)
	if r.Kind == archive.KindLoad && r.Status == archive.StatusOK {
		for i := 1; i < len(r.Chunks.T); i++ {
			s.gap(ms(r.Chunks.T[i-1], r.Chunks.T[i]))
		}
	}
}

// keep holds a uniform sample of the points.
func (s *scan) keep(p point) {
	s.seen++
	if len(s.points) < maxPoints {
		s.points = append(s.points, p)
	} else if i := s.rng.IntN(s.seen); i < maxPoints {
		s.points[i] = p
	}
}

func (s *scan) gap(v float64) {
	if math.IsNaN(v) {
		return
	}
	s.gapsSeen++
	if len(s.gaps) < maxGaps {
		s.gaps = append(s.gaps, v)
	} else if i := s.rng.IntN(s.gapsSeen); i < maxGaps {
		s.gaps[i] = v
	}
}

func (s *scan) bins(r *archive.Request) {
	add(&s.sent, s.secOr(r.T.Send), 1)
	switch r.Status {
	case archive.StatusOK:
		add(&s.done, s.secOr(r.T.Done), 1)
	case archive.StatusFailed:
		add(&s.failed, s.secOr(r.T.Done), 1)
	case archive.StatusCancelled:
	}
	n := 0.0 // the count of a request that was cut off says nothing about the chunks that came
	if r.Status == archive.StatusOK {
		n = float64(r.Usage.Completion.Or(0))
	}
	switch {
	case len(r.Chunks.Tokens) == len(r.Chunks.T) && len(r.Chunks.T) > 0:
		for i, t := range r.Chunks.T {
			add(&s.tokens, s.sec(t), float64(r.Chunks.Tokens[i]))
		}
	case len(r.Chunks.T) > 0:
		if n == 0 {
			n = float64(len(r.Chunks.T))
		}
		for _, t := range r.Chunks.T {
			add(&s.tokens, s.sec(t), n/float64(len(r.Chunks.T)))
		}
	case n > 0:
		add(&s.tokens, s.secOr(r.T.Done), n)
	}
}

// add adds v to the fine bin of second t.
func add(bins *[]float64, t, v float64) {
	if math.IsNaN(t) || t < 0 || t/fineBin >= maxFine {
		return
	}
	i := int(t / fineBin)
	for len(*bins) <= i {
		*bins = append(*bins, 0)
	}
	(*bins)[i] += v
}

func (s *scan) failure(r *archive.Request) {
	kind, msg, status := "unknown", "", ""
	if r.Error != nil {
		kind, msg = r.Error.Kind, r.Error.Message
		if code, ok := r.Error.HTTPStatus.Get(); ok {
			status = itoa(code)
		}
	}
	i := slices.IndexFunc(s.failures, func(f *failures) bool { return f.Kind == kind })
	if i < 0 {
		if len(s.failures) == 100 {
			kind = "other"
		}
		s.failures = append(s.failures, &failures{Kind: kind})
		i = len(s.failures) - 1
	}
	f := s.failures[i]
	f.N++
	if len(f.Examples) < maxExamples {
		f.Examples = append(f.Examples, example{Request: r.ID, Phase: r.Phase, Message: shorten(msg), Status: status, At: s.secOr(r.T.Intended), Text: shorten(r.Text)})
	}
}

func (s *scan) sample(p *archive.Sample) {
	if p.Error != "" {
		s.lost[p.Source]++
		return
	}
	t := s.sec(p.T)
	for _, name := range plotted[p.Source] {
		v, ok := p.Values[name]
		if !ok {
			continue
		}
		key := p.Source + "\x00" + p.Target + "\x00" + name
		g := s.series[key]
		if g == nil {
			g = &signal{source: p.Source, target: p.Target, name: name}
			s.series[key] = g
			s.order = append(s.order, key)
		}
		g.t, g.v = append(g.t, t), append(g.v, v)
	}
	s.end = max(s.end, t)
}

func (s *scan) event(e *archive.Event) {
	s.eventsN++
	if len(s.events) < maxEvents {
		s.events = append(s.events, *e)
	}
}

func (s *scan) checkpoint(c *archive.Checkpoint) {
	s.itemsN++
	if len(s.items) < maxItems || rankItem(item{Checkpoint: *c}) < 2 && len(s.items) < 2*maxItems {
		c.Prompt, c.Reply = shorten(c.Prompt), shorten(c.Reply)
		s.items = append(s.items, item{*c, s.secOr(c.T)})
	}
}

// rankItem puts wrong items first, then those without a score.
func rankItem(i item) int {
	switch v, ok := i.Score.Get(); {
	case !ok:
		return 1
	case v < 1:
		return 0
	}
	return 2
}

// shorten cuts a long text and says how much is missing.
func shorten(s string) string {
	r := []rune(s)
	if len(r) <= maxText {
		return s
	}
	return string(r[:maxText]) + fmt.Sprintf(" … (%d more characters)", len(r)-maxText)
}
