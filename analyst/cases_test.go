package analyst

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/inferencebench/inferencebench/archive"
)

// at is a number of milliseconds after an arbitrary origin of 10 s.
func at(ms float64) archive.Instant { return archive.Instant(10e9 + ms*1e6) }

// rec is a request in milliseconds.
type rec struct {
	id                int
	session           string
	turn              int
	phase, task       string
	kind              archive.Kind
	intended, send    float64
	chunks            []float64 // arrival of token-bearing events
	tokens            []int32   // of each chunk; nil when unknown
	n, prompt         int       // tokens by usage; negative when unknown
	cached, reasoning int
	done              float64 // 0: with the last chunk
	fail              string
	cancelled         bool
	wait              float64
	askedMax, askedIn int
	noted             string // code of an annotation
}

func (r rec) request() *archive.Request {
	q := &archive.Request{
		ID: fmt.Sprint("r", r.id), Session: r.session, Turn: r.turn, Phase: r.phase, Task: r.task, Kind: r.kind, Status: archive.StatusOK,
		Usage: archive.Usage{Source: archive.UsageServer},
	}
	if q.Session == "" {
		q.Session = fmt.Sprint("s", r.id)
	}
	if q.Phase == "" {
		q.Phase = "main"
	}
	if q.Task == "" {
		q.Task = "chat"
	}
	if q.Kind == "" {
		q.Kind = archive.KindLoad
	}
	q.T.Intended, q.T.Send = at(r.intended), at(r.send)
	for _, c := range r.chunks {
		q.Chunks.T = append(q.Chunks.T, at(c))
	}
	q.Chunks.Tokens = r.tokens
	if n := len(r.chunks); n > 0 {
		q.T.First, q.T.Answer, q.T.Last, q.T.Done = at(r.chunks[0]), at(r.chunks[0]), at(r.chunks[n-1]), at(r.chunks[n-1])
	}
	if r.done > 0 {
		q.T.Done = at(r.done)
	}
	if r.n >= 0 {
		q.Usage.Completion = archive.Some(r.n)
	}
	if r.prompt > 0 {
		q.Usage.Prompt = archive.Some(r.prompt)
	}
	if r.cached > 0 {
		q.Usage.Cached = archive.Some(r.cached)
	}
	if r.reasoning > 0 {
		q.Usage.Reasoning = archive.Some(r.reasoning)
	}
	if r.n < 0 {
		q.Usage.Source = archive.UsageNone
	}
	if r.askedMax > 0 {
		q.Asked.MaxTokens = archive.Some(r.askedMax)
	}
	if r.askedIn > 0 {
		q.Asked.PromptTokens = archive.Some(r.askedIn)
	}
	if r.noted != "" {
		q.Annotations = []archive.Annotation{{Code: r.noted, Message: "said by the load generator"}}
	}
	q.Conn.Wait = archive.Some(int64(r.wait * 1e6))
	if r.fail != "" {
		q.Status, q.Error = archive.StatusFailed, &archive.Failure{Kind: r.fail}
	}
	if r.cancelled {
		q.Status, q.Error = archive.StatusCancelled, &archive.Failure{Kind: archive.FailUnsent}
		q.T = archive.Times{Intended: q.T.Intended}
	}
	return q
}

// single is an ok request at 0 with these chunks.
func single(n int, chunks ...float64) rec { return rec{n: n, chunks: chunks} }

func seq[T any](xs []*T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for _, x := range xs {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// bench is a run made by hand.
type bench struct {
	manifest archive.Manifest
	recs     []rec
	events   []*archive.Event
	samples  []*archive.Sample
	checks   []*archive.Checkpoint
	opts     Options
}

// phase adds the events of a phase, in milliseconds.
func (b *bench) phase(name string, from, measure, to float64, fields map[string]any) {
	ev := func(t float64, kind string, extra map[string]any) {
		f := map[string]any{"phase": name}
		for k, v := range extra {
			f[k] = v
		}
		b.events = append(b.events, &archive.Event{T: at(t), Kind: kind, Severity: archive.SeverityInfo, Fields: f})
	}
	ev(from, archive.EventPhaseStart, fields)
	if measure > from {
		ev(measure, archive.EventMeasureStart, nil)
	}
	ev(to, archive.EventPhaseEnd, nil)
}

// engine adds a reading of the engine's metrics at a number of milliseconds.
func (b *bench) engine(t float64, v map[string]float64) {
	b.samples = append(b.samples, &archive.Sample{T: at(t), Source: archive.SourceEngine, Target: "m", Values: v})
}

func (b *bench) analyze(t *testing.T) *archive.Analysis {
	t.Helper()
	if b.manifest.State == "" {
		b.manifest.State = archive.StateComplete
	}
	var reqs []*archive.Request
	for i, r := range b.recs {
		if r.id == 0 {
			r.id = i + 1
		}
		reqs = append(reqs, r.request())
	}
	a, err := FromRecords(Input{Manifest: b.manifest, Requests: seq(reqs), Samples: seq(b.samples), Events: seq(b.events), Checkpoints: seq(b.checks)}, b.opts)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(a)
	if err != nil {
		t.Fatalf("the analysis is not JSON: %v", err)
	}
	for _, bad := range []string{"NaN", "Inf", "9223372036854776"} {
		if strings.Contains(string(out), bad) {
			t.Fatalf("the analysis holds %s", bad)
		}
	}
	return a
}

func analyzed(t *testing.T, recs ...rec) *archive.Analysis {
	t.Helper()
	return (&bench{recs: recs}).analyze(t)
}

func metric(t *testing.T, a *archive.Analysis, id, scope string) archive.Metric {
	t.Helper()
	for _, m := range a.Metrics {
		if m.ID == id && m.Scope == scope {
			return m
		}
	}
	t.Fatalf("no metric %s of %s", id, scope)
	return archive.Metric{}
}

// want checks one statistic of scope all; NaN stands for unknown.
func want(t *testing.T, a *archive.Analysis, id, stat string, v float64) {
	t.Helper()
	got := metric(t, a, id, "all").Stats[stat].Value
	g, ok := got.Get()
	if math.IsNaN(v) {
		if ok {
			t.Errorf("%s %s = %v; want unknown", id, stat, g)
		}
		return
	}
	if !ok || math.Abs(g-v) > 1e-6*math.Max(1, math.Abs(v)) {
		t.Errorf("%s %s = %v (known %v); want %v", id, stat, g, ok, v)
	}
}

func wantN(t *testing.T, a *archive.Analysis, id string, n int) {
	t.Helper()
	if got := metric(t, a, id, "all").N; got != n {
		t.Errorf("%s has n = %d; want %d", id, got, n)
	}
}

func hasNote(list []archive.Annotation, code string) (string, bool) {
	for _, n := range list {
		if n.Code == code {
			return n.Message, true
		}
	}
	return "", false
}

var unknown = math.NaN()

// B39: k token-bearing events give k − 1 gaps; TTFT is none of them.
func TestB39TTFTIsNoGap(t *testing.T) {
	a := analyzed(t, single(3, 1000, 1020, 1040))
	wantN(t, a, "icl", 2)
	want(t, a, "icl", "mean", 20)
	want(t, a, "icl", "max", 20)
	want(t, a, "ttft", "mean", 1000)
}

// B40: with speculative decoding a gap between chunks is not a gap between tokens.
func TestB40SpeculativeDecoding(t *testing.T) {
	r := single(9, 100, 112, 124)
	r.tokens = []int32{1, 4, 4}
	a := analyzed(t, r)
	want(t, a, "icl", "mean", 12)
	want(t, a, "tpot", "mean", 3)
	want(t, a, "itl", "mean", 3)
	wantN(t, a, "itl", 8)
	want(t, a, "tokens_per_chunk", "mean", 4)

	r.tokens = nil
	a = analyzed(t, r)
	want(t, a, "icl", "mean", 12)
	want(t, a, "itl", "mean", unknown)
	want(t, a, "tpot", "mean", 3)
}

// B43: only token-bearing events are in the timeline; closing the stream is kept apart.
func TestB43OnlyTokensInTheTimeline(t *testing.T) {
	r := single(2, 100, 110)
	r.done = 900
	a := analyzed(t, r)
	want(t, a, "ttft", "mean", 100)
	want(t, a, "icl", "mean", 10)
	want(t, a, "e2e", "mean", 110)
	want(t, a, "tpot", "mean", 10)
}

// B45: one definition of TPOT everywhere.
func TestB45OneDefinitionOfTPOT(t *testing.T) {
	a := analyzed(t, single(5, 200, 230, 260, 290, 320), single(5, 200, 230, 260, 290, 320))
	for _, stat := range []string{"mean", "min", "max", "p50"} {
		want(t, a, "tpot", stat, 30)
	}
	if got := metric(t, a, "tpot", "phase:main").Stats["mean"].Value.Or(0); got != 30 {
		t.Errorf("tpot of the phase = %v; want 30", got)
	}
}

// B46: a request of one token has no TPOT and is left out of it.
func TestB46OneTokenHasNoTPOT(t *testing.T) {
	a := analyzed(t, single(1, 90), single(1, 95), single(3, 100, 120, 140))
	wantN(t, a, "tpot", 1)
	want(t, a, "tpot", "mean", 20)
	wantN(t, a, "ttft", 3)
}

// B21: reasoning that is not streamed must not make the visible part look fast.
func TestB21HiddenReasoning(t *testing.T) {
	r := single(205, 2000, 2010)
	r.reasoning = 200
	a := analyzed(t, r)
	want(t, a, "tpot", "mean", 2.5) // 10 ms over the four steps between five visible tokens
	for _, id := range []string{"ttft", "tpot", "output_speed"} {
		if _, ok := hasNote(metric(t, a, id, "all").Annotations, "hidden_reasoning"); !ok {
			t.Errorf("%s is not marked hidden_reasoning", id)
		}
	}
}

// A whole answer in one chunk tells nothing of the time between tokens.
func TestOneChunkHasNoTPOT(t *testing.T) {
	want(t, analyzed(t, single(50, 400)), "tpot", "mean", unknown)
}

// B87: a server that ends answers although it was asked not to is told, with the share.
func TestB87EOSNotIgnored(t *testing.T) {
	whole, early := single(100, 50, 400), single(37, 50, 400)
	whole.askedMax, early.askedMax, early.noted = 100, 100, "eos_not_ignored"
	a := analyzed(t, whole, early, whole)
	if msg, ok := hasNote(a.Annotations, "eos_not_ignored"); !ok || !strings.HasPrefix(msg, "1 of 3 answers") {
		t.Errorf("eos_not_ignored = %q, %v; want 1 of 3", msg, ok)
	}
	if _, ok := hasNote(analyzed(t, whole, whole).Annotations, "eos_not_ignored"); ok {
		t.Error("answers of whole length are noted")
	}
}

// B64: failed requests pull neither the averages nor the token totals.
func TestB64FailedRequestsAreLeftOut(t *testing.T) {
	ok := rec{n: 10, prompt: 50, chunks: []float64{100, 190}}
	bad := rec{n: -1, prompt: 50, fail: archive.FailTimeoutTotal, done: 60000}
	a := analyzed(t, ok, ok, bad, bad)
	want(t, a, "ttft", "mean", 100)
	want(t, a, "output_tokens", "value", 20)
	want(t, a, "input_tokens", "value", 100)
	want(t, a, "error_rate", "value", 0.5)
	if d := cmp.Diff(map[string]int{archive.FailTimeoutTotal: 2}, a.Counts.Failures); d != "" {
		t.Errorf("failures (-want +got):\n%s", d)
	}
	if a.Verdict.State != archive.VerdictInvalid {
		t.Errorf("verdict = %q; want invalid", a.Verdict.State)
	}
}

func cold() *bench {
	b := &bench{}
	for i := range 100 {
		start, ttft := float64(i/10)*50000, 700.0
		if i < 10 {
			ttft = 40000
		}
		b.recs = append(b.recs, rec{n: 2, intended: start, send: start, chunks: []float64{start + ttft, start + ttft + 10}})
	}
	return b
}

// B66: the opening wave of a cold server is marked, with P95 both ways.
func TestB66StartWave(t *testing.T) {
	b := cold()
	b.phase("main", 0, 0, 460000, map[string]any{"concurrency": 10.0})
	msg, ok := hasNote(metric(t, b.analyze(t), "ttft", "all").Annotations, "start_wave")
	if !ok || !strings.Contains(msg, "40000") || !strings.Contains(msg, "700") {
		t.Errorf("start_wave = %q, %v; want P95 40000 and 700", msg, ok)
	}

	b = cold()
	for i := range 10 {
		b.recs[i].kind = archive.KindWarmup
	}
	b.phase("main", 0, 45000, 460000, map[string]any{"concurrency": 10.0})
	a := b.analyze(t)
	want(t, a, "ttft", "p95", 700)
	if _, ok := hasNote(metric(t, a, "ttft", "all").Annotations, "start_wave"); ok {
		t.Error("start_wave is marked although there was a warm-up")
	}
}

// B67: undefined numbers are null, and the result is valid JSON in all cases.
func TestB67UndefinedIsNull(t *testing.T) {
	a := analyzed(t, single(3, 100, 110, 120))
	want(t, a, "ttft", "std", unknown)
	want(t, a, "ttft", "mean", 100)

	a = analyzed(t, rec{n: -1, fail: archive.FailConnect})
	want(t, a, "ttft", "p99", unknown)
	want(t, a, "ttft", "mean", unknown)
	if a.Verdict.State != archive.VerdictInvalid {
		t.Errorf("a run without an ok request is %q; want invalid", a.Verdict.State)
	}

	a = analyzed(t)
	if a.Verdict.State != archive.VerdictInvalid {
		t.Errorf("a run without a request is %q; want invalid", a.Verdict.State)
	}
}

// B71: durations come from the run's monotonic clock; an instant out of order is no
// negative duration.
func TestB71NoNegativeDurations(t *testing.T) {
	r := single(2, 100, 300)
	a := analyzed(t, r)
	want(t, a, "tpot", "mean", 200)
	r.chunks = []float64{100, 50}
	a = analyzed(t, r)
	want(t, a, "tpot", "mean", unknown)
	wantN(t, a, "icl", 0)
}

// B124: type-7 quantiles; what the sample cannot support is withheld, with the plain
// sample quantile beside it.
func TestB124FewSamples(t *testing.T) {
	var recs []rec
	for i := 1; i <= 10; i++ {
		recs = append(recs, single(1, float64(100*i)))
	}
	m := metric(t, analyzed(t, recs...), "ttft", "all")
	for stat, v := range map[string]float64{"p50": 550, "p90": 910, "p99": 991} {
		if got := m.Stats[stat].Sample.Or(0); math.Abs(got-v) > 1e-9 {
			t.Errorf("%s of the sample = %v; want %v", stat, got, v)
		}
	}
	if m.Stats["max"].Value.Or(0) != 1000 || m.Stats["p50"].Value.Or(0) != 550 || m.Stats["p90"].Value.Or(0) != 910 {
		t.Error("p50, p90 or max is wrong")
	}
	if m.Stats["p99"].Value.Known() || m.Stats["p99"].Reason == "" {
		t.Error("P99 of ten requests is not withheld with a reason")
	}
	if _, ok := hasNote(m.Annotations, "few_samples"); !ok {
		t.Error("few_samples is not noted")
	}
	one := metric(t, analyzed(t, single(1, 580)), "ttft", "all")
	for _, stat := range []string{"p50", "p90", "p99"} {
		if got := one.Stats[stat].Sample.Or(0); got != 580 {
			t.Errorf("%s of one request = %v; want 580", stat, got)
		}
	}
}

// B50: the wait for a slot is in the latency from the schedule, and in a number of its
// own.
func TestB50WaitForASlot(t *testing.T) {
	var recs []rec
	for i := range 8 {
		due, start := 100*float64(i), 500*float64(i)
		recs = append(recs, rec{n: 1, intended: due, send: start, wait: start - due, chunks: []float64{start + 500}})
	}
	a := analyzed(t, recs...)
	want(t, a, "e2e_service", "mean", 500)
	want(t, a, "queue", "mean", 1400)
	want(t, a, "e2e", "mean", 1900)
	want(t, a, "e2e", "max", 3300)
}

// B53: fewer requests than the concurrency is said, with the concurrency that was reached.
func TestB53FewerRequestsThanConcurrency(t *testing.T) {
	b := &bench{}
	for range 10 {
		b.recs = append(b.recs, single(5, 100, 110, 120, 130, 140))
	}
	b.phase("main", 0, 0, 1, map[string]any{"concurrency": 64.0})
	a := b.analyze(t)
	if msg, ok := hasNote(a.Annotations, "reached_concurrency"); !ok || !strings.Contains(msg, "reached_concurrency: 10") {
		t.Errorf("reached_concurrency = %q", msg)
	}
	want(t, a, "peak_concurrency", "value", 10)
	if a.Verdict.State != archive.VerdictInvalid {
		t.Errorf("verdict = %q; want invalid", a.Verdict.State)
	}
}

// B55: in an open loop the latency from the schedule is the headline, and overload is
// said.
func TestB55Overload(t *testing.T) {
	b := &bench{}
	for k := range 100 {
		due := 50 * float64(k)
		b.recs = append(b.recs, rec{n: 1, intended: due, send: due, chunks: []float64{100 * float64(k+1)}})
	}
	b.phase("main", 0, 0, 5000, map[string]any{"rate": 20.0})
	a := b.analyze(t)
	want(t, a, "e2e", "p50", 2575)
	want(t, a, "e2e", "max", 5050)
	msg, ok := hasNote(a.Annotations, "overloaded")
	if !ok || !strings.Contains(msg, "offered 20 requests/s, served 9.8 requests/s") && !strings.Contains(msg, "offered 20 requests/s, served 10 requests/s") {
		t.Errorf("overloaded = %q", msg)
	}
	if a.Verdict.State != archive.VerdictInconclusive || !strings.Contains(a.Verdict.Headline, "overloaded") {
		t.Errorf("verdict = %+v; want one that says overloaded and leaves the cause inside open", a.Verdict)
	}
}

// B77 and B79: lengths that differ from what was asked for are said.
func TestB77B79Lengths(t *testing.T) {
	a := analyzed(t, rec{n: 1, prompt: 1131, askedIn: 1024, askedMax: 1024, chunks: []float64{10}})
	if msg, ok := hasNote(a.Annotations, "prompt_length"); !ok || !strings.Contains(msg, "+10.4 %") {
		t.Errorf("prompt_length = %q", msg)
	}
	if _, ok := hasNote(a.Annotations, "output_length_mismatch"); !ok {
		t.Error("output_length_mismatch is not noted")
	}
}

// B75 and B121: hits of the prefix cache on unique prompts are a warm cache; a counter
// that fell gives no rate.
func TestB75WarmCache(t *testing.T) {
	run := func(queries, hits [2]float64) *archive.Analysis {
		b := &bench{}
		for i := range 20 {
			s := 100 * float64(i)
			b.recs = append(b.recs, rec{n: 2, prompt: 100, intended: s, send: s, chunks: []float64{s + 50, s + 90}})
		}
		b.phase("main", 0, 0, 2000, map[string]any{"concurrency": 1.0})
		for i, ms := range []float64{-1, 1999} {
			b.engine(ms, map[string]float64{"prefix_cache_queries_total": queries[i], "prefix_cache_hits_total": hits[i]})
		}
		return b.analyze(t)
	}
	hit := func(a *archive.Analysis) float64 {
		for _, e := range a.Evidence {
			if e.Metric == "prefix_hit" {
				return e.Value.Or(-1)
			}
		}
		return -1
	}
	if got := hit(run([2]float64{1500, 4500}, [2]float64{0, 2400})); math.Abs(got-0.8) > 1e-9 {
		t.Errorf("hit rate = %v; want 0.8", got)
	}
	if got := hit(run([2]float64{4500, 100}, [2]float64{2400, 10})); got != -1 {
		t.Errorf("hit rate across a restart = %v; want unknown", got)
	}
}
