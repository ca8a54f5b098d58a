// Package peers recomputes from raw records what other load generators would have
// printed for the same requests, and says why the numbers differ.
//
// The differences are of definition, not of measurement: where the clock starts and ends,
// what counts as a token or a gap, which requests are in, and over what time a rate is
// taken.
package peers

import (
	"errors"
	"iter"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// Names lists the definition sets in order. Ours is the set of this program.
func Names() []string { return []string{"ours", "vllm", "sglang", "aiperf", "guidellm", "llmperf"} }

// Row is one quantity under every definition set.
type Row struct {
	Metric string // such as "ttft_mean"
	Unit   string
	// Values has the names of Names as keys; a set that does not have the quantity is
	// absent, and one that has no sample is unknown.
	Values map[string]archive.Opt[float64]
	// Why says in one sentence where the differences come from.
	Why string
}

// Compute reads the load requests once and returns the rows in a fixed order. Lines that
// cannot be read are skipped.
func Compute(requests iter.Seq2[*archive.Request, error]) ([]Row, error) {
	sets := map[string]*tally{}
	for _, n := range Names() {
		sets[n] = &tally{}
	}
	var span wall
	for r, err := range requests {
		var line *archive.LineError
		if errors.As(err, &line) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.Kind != archive.KindLoad || r.Status != archive.StatusOK {
			continue
		}
		span.add(r)
		for name, t := range sets {
			t.add(name, r)
		}
	}
	return rows(sets, span), nil
}

// wall is the time from the first send to the last answer, which peers divide by.
type wall struct{ from, to archive.Instant }

func (w *wall) add(r *archive.Request) {
	if r.T.Send.Known() && (!w.from.Known() || r.T.Send < w.from) {
		w.from = r.T.Send
	}
	w.to = max(w.to, r.T.Last, r.T.Done)
}

// tally is the values of one definition set.
type tally struct {
	ttft, tpot, e2e []float64
	itl             stats.Pool
	tokens          float64
}

func ms(a, b archive.Instant) (float64, bool) {
	if !a.Known() || !b.Known() || b < a {
		return 0, false
	}
	return float64(b-a) / 1e6, true
}

func (t *tally) add(name string, r *archive.Request) {
	n, counted := r.Usage.Completion.Get()
	first, last, send, done := r.T.First, r.T.Last, r.T.Send, r.T.Done
	start := send
	if name == "ours" {
		start = r.T.Intended
	}
	ttft, ok := ms(start, first)
	if !ok {
		return
	}
	t.ttft = append(t.ttft, ttft)
	end := last
	if name == "sglang" || name == "guidellm" || name == "llmperf" {
		end = done
	}
	e2e, ok := ms(start, end)
	if !ok {
		return
	}
	t.e2e = append(t.e2e, e2e)
	if !counted {
		return
	}
	t.tokens += float64(n)
	decode, _ := ms(first, last)
	switch name {
	case "ours":
		if n >= 2 && len(r.Chunks.T) >= 2 {
			t.tpot = append(t.tpot, decode/float64(n-1))
		}
		t.gaps(r)
	case "vllm":
		// One token counts as a time per token of zero.
		if n > 1 {
			t.tpot = append(t.tpot, (e2e-ttft)/float64(n-1))
		} else {
			t.tpot = append(t.tpot, 0)
		}
		t.gaps(r)
	case "sglang":
		if n > 1 {
			t.tpot = append(t.tpot, (e2e-ttft)/float64(n-1))
		}
		t.gaps(r)
	case "aiperf":
		if n > 1 {
			t.itl.Add(decode / float64(n-1))
		}
	case "guidellm":
		if n > 0 {
			whole, _ := ms(send, last)
			t.tpot = append(t.tpot, whole/float64(n))
		}
		if n > 1 {
			t.itl.Add(decode / float64(n-1))
		}
	case "llmperf":
		if n > 0 {
			t.itl.Add((ttft + decode) / float64(n))
		}
	}
}

// gaps adds the raw gaps between chunks, pooled over requests.
func (t *tally) gaps(r *archive.Request) {
	for i := 1; i < len(r.Chunks.T); i++ {
		if g, ok := ms(r.Chunks.T[i-1], r.Chunks.T[i]); ok {
			t.itl.Add(g)
		}
	}
}

func rows(sets map[string]*tally, span wall) []Row {
	mean := func(xs []float64) archive.Opt[float64] {
		if len(xs) == 0 {
			return archive.Opt[float64]{}
		}
		return archive.Some(stats.Mean(xs))
	}
	p99 := func(xs []float64) archive.Opt[float64] {
		if len(xs) == 0 {
			return archive.Opt[float64]{}
		}
		s := slices.Clone(xs)
		slices.Sort(s)
		return archive.Some(stats.Quantile(s, 0.99))
	}
	pooled := func(t *tally, f func() (float64, bool)) archive.Opt[float64] {
		v, ok := f()
		if t.itl.N() == 0 || !ok {
			return archive.Opt[float64]{}
		}
		return archive.Some(v)
	}
	seconds := float64(span.to-span.from) / 1e9
	rate := func(t *tally) archive.Opt[float64] {
		if seconds <= 0 {
			return archive.Opt[float64]{}
		}
		return archive.Some(t.tokens / seconds)
	}
	row := func(metric, unit, why string, names []string, f func(*tally) archive.Opt[float64]) Row {
		r := Row{Metric: metric, Unit: unit, Why: why, Values: map[string]archive.Opt[float64]{}}
		for _, n := range names {
			r.Values[n] = f(sets[n])
		}
		return r
	}
	all := Names()
	tpot := []string{"ours", "vllm", "sglang", "guidellm"}
	return []Row{
		row("ttft_mean", "ms", "ours counts from the instant at which the request was due, the others from the send: they differ by how late the client was", all, func(t *tally) archive.Opt[float64] { return mean(t.ttft) }),
		row("ttft_p99", "ms", "as for the mean; a late client shows most here", all, func(t *tally) archive.Opt[float64] { return p99(t.ttft) }),
		row("tpot_mean", "ms", "guidellm divides the whole latency, the first token included, by all tokens; vLLM counts an answer of one token as zero; sglang's latency runs to the end of the stream", tpot, func(t *tally) archive.Opt[float64] { return mean(t.tpot) }),
		row("itl_mean", "ms", "ours (as icl), vLLM and SGLang pool the gaps between chunks over all requests, AIPerf and guidellm average one mean per request, llmperf's is nearly the latency over the tokens", all, func(t *tally) archive.Opt[float64] {
			return pooled(t, func() (float64, bool) { return t.itl.Mean(), true })
		}),
		row("itl_p99", "ms", "pooled gaps show single stalls, means per request hide them", all, func(t *tally) archive.Opt[float64] {
			return pooled(t, func() (float64, bool) { return t.itl.Quantile(0.99) })
		}),
		row("e2e_mean", "ms", "ours counts from the due instant to the last token; sglang, guidellm and llmperf to the end of the stream", all, func(t *tally) archive.Opt[float64] { return mean(t.e2e) }),
		row("output_rate", "tok/s", "all of these divide the tokens by the time from the first send to the last answer, ramp and drain included; the report's own output rate counts tokens inside the measured window", all, rate),
	}
}
